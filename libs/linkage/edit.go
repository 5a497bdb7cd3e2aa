package linkage

// oneEdit tells that a letter more, less, replaced, or two neighbours swapped make one text the other (Damerau 1964). Texts
// of two letters and less have too many neighbours to say anything.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(a) < 3 {
		return false
	}
	start := 0
	for start < len(a) && a[start] == b[start] {
		start++
	}
	if start == len(a) {
		return true // also when they are equal
	}
	if len(a) < len(b) {
		return a[start:] == b[start+1:]
	}
	if a[start+1:] == b[start+1:] {
		return true
	}
	return start+1 < len(a) && a[start] == b[start+1] && a[start+1] == b[start] && a[start+2:] == b[start+2:]
}

// similar tells that texts are near by Jaro and Winkler, or that one is the beginning of the other.
func similar(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) >= 3 && b[:len(a)] == a {
		return true
	}
	return len(a) >= 4 && jaroWinkler(a, b) >= similarity
}

// similarity from which names are similar: Winkler (1990) and the Census Bureau's matchers call agreement what lies above some 0.88.
const similarity = 0.88

// jaroWinkler is the similarity of Jaro (1989) with Winkler's bonus for a common beginning (1990), on bytes; texts longer than
// a machine word's bits are cut there.
func jaroWinkler(a, b string) float64 {
	const most = 64
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	reach := max(max(len(a), len(b))/2-1, 0)
	var inA, inB uint64
	matches := 0
	for i := range len(a) {
		for j := max(0, i-reach); j <= min(len(b)-1, i+reach); j++ {
			if a[i] == b[j] && inB&(1<<j) == 0 {
				inA |= 1 << i
				inB |= 1 << j
				matches++
				break
			}
		}
	}
	if matches == 0 {
		return 0
	}
	moved, j := 0, 0
	for i := range len(a) {
		if inA&(1<<i) == 0 {
			continue
		}
		for inB&(1<<j) == 0 {
			j++
		}
		if a[i] != b[j] {
			moved++
		}
		j++
	}
	m := float64(matches)
	jaro := (m/float64(len(a)) + m/float64(len(b)) + (m-float64(moved/2))/m) / 3
	prefix := 0
	for prefix < min(4, len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	return jaro + float64(prefix)*0.1*(1-jaro)
}
