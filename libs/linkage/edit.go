package linkage

import "github.com/antzucaro/matchr"

// oneEdit tells that a letter more, less, replaced, or two neighbours swapped make one text the other (Damerau 1964). Single
// letters have nothing but neighbours.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b)-len(a) > 1 || len(a) < 2 {
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

// jaroWinkler is the similarity of Jaro (1989) with Winkler's bonus for a common beginning (1990). Of longer texts the
// beginnings are compared, as more than these would be put on the heap.
func jaroWinkler(a, b string) float64 {
	const most = 31
	return matchr.JaroWinkler(a[:min(len(a), most)], b[:min(len(b), most)], false)
}
