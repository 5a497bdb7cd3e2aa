package linkage

import (
	"math/bits"

	"github.com/antzucaro/matchr"
)

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
	return alikeBy(a, b, similarity)
}

// alikeBy tells that texts are no less similar than that; those of less than four letters never are.
func alikeBy(a, b string, least float64) bool {
	if min(len(a), len(b)) < 4 {
		return false
	}
	a, b = beginning(a), beginning(b)
	return mostSimilar(a, b) >= least && jaroWinkler(a, b) >= least
}

// beginning is what is compared of a text: of more the library would put copies on the heap.
func beginning(s string) string { return s[:min(len(s), 31)] }

// mostSimilar is the most that jaroWinkler can be, from which letters the texts have: one that only one of them has is common to
// none. It tells most pairs of names apart for a small part of the price.
func mostSimilar(a, b string) float64 {
	x, y := letterSet(a), letterSet(b)
	if (x|y)&notLetters != 0 {
		return 1
	}
	common := float64(min(len(a)-bits.OnesCount32(x&^y), len(b)-bits.OnesCount32(y&^x)))
	jaro := (common/float64(len(a)) + common/float64(len(b)) + 1) / 3
	same := 0
	for same < min(4, len(a), len(b)) && a[same] == b[same] {
		same++
	}
	return jaro + float64(same)*0.1*(1-jaro)
}

const notLetters = 1 << 31

// letterSet is the letters of a text, a bit each, and notLetters where it has others than a to z.
func letterSet(s string) (set uint32) {
	for i := 0; i < len(s); i++ {
		if c := s[i] - 'a'; c < 26 {
			set |= 1 << c
		} else {
			set |= notLetters
		}
	}
	return set
}

// similarity from which names are similar: Winkler (1990) and the Census Bureau's matchers call agreement what lies above some 0.88.
const similarity = 0.88

// jaroWinkler is the similarity of Jaro (1989) with Winkler's bonus for a common beginning (1990).
func jaroWinkler(a, b string) float64 { return matchr.JaroWinkler(a, b, false) }
