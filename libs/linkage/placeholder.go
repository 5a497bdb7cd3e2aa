package linkage

func placeholder(kind Kind, raw string, ws []word) bool { return false }
