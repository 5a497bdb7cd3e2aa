package linkage

// census is the share of the people of the Census whose name has the part.
func census(kind Kind, part string) float64 {
	if t, ok := any(standard()).(interface{ Share(Kind, string) float64 }); ok {
		return t.Share(kind, part)
	}
	return 0
}
