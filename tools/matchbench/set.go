// Package matchbench measures find: on sets of records whose truth is known, as a library in this process and through the
// gateway of a running mesh. It knows nothing of how matching is done.
package matchbench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// Set is records of which it is known who is whom.
type Set struct {
	Name    string
	Records []Record
}

// Record is what is stored of somebody, and asked. Text that is not known is empty.
type Record struct {
	Person linkage.Demographics
	Truth  int64 // the records with one number are of one person
}

// SetNames are the sets that Load knows.
func SetNames() []string {
	return []string{
		"febrl1", "febrl2", "febrl3", "febrl1-names", "febrl2-names", "febrl3-names", "rldata500", "synth", "synth-names", "synth-rough", "synth-families",
	}
}

// Seed is where the seeds of the people begin that are measured on. Who tunes makes others up.
const Seed = 7000

// Load reads a set, or makes it up from seeds that begin with seed.
func Load(name string, seed uint64) (Set, error) {
	if whole, found := strings.CutSuffix(name, "-names"); found {
		set, err := Load(whole, seed)
		return set.namesAndBirth(), err
	}
	switch name {
	case "febrl1", "febrl2", "febrl3":
		return febrl(name)
	case "rldata500":
		return rldata(name)
	case "synth":
		return made(name, synth.Options{Seed: seed + 1, People: 15_000, Duplicated: 0.25, Copies: 3, Intensity: 1})
	case "synth-rough":
		return made(name, synth.Options{Seed: seed + 2, People: 5_000, Duplicated: 0.5, Copies: 3, Intensity: 3, Original: 1})
	case "synth-families": // nobody has a double: everything that is found is a mistake
		return made(name, synth.Options{Seed: seed + 3, People: 10_000, Original: 1})
	}
	return Set{}, fmt.Errorf("there is no set %q; the sets are %s", name, strings.Join(SetNames(), ", "))
}

// namesAndBirth is the set with nothing but names and days of birth.
func (s Set) namesAndBirth() Set {
	out := Set{Name: s.Name + "-names", Records: make([]Record, len(s.Records))}
	for i, r := range s.Records {
		p := &r.Person
		out.Records[i] = Record{Truth: r.Truth, Person: linkage.Demographics{
			ID: p.ID, FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, Suffix: p.Suffix, DOB: p.DOB,
		}}
	}
	return out
}

// Pairs counts the pairs of records of one person.
func (s Set) Pairs() int {
	of, pairs := map[int64]int{}, 0
	for _, r := range s.Records {
		pairs += of[r.Truth]
		of[r.Truth]++
	}
	return pairs
}

// sample is every n-th record, so that there are about as many as wanted; all when most is 0. Records of one person stand
// together in some sets, so that their order is mixed first, always alike.
func (s Set) sample(most int) []int {
	all := make([]int, len(s.Records))
	for i := range all {
		all[i] = i
	}
	if most <= 0 || most >= len(all) {
		return all
	}
	mix := func(i int) uint64 {
		x := uint64(i)*0x9E3779B97F4A7C15 + 1 //nolint:gosec // a place
		x ^= x >> 29
		return x * 0xBF58476D1CE4E5B9
	}
	slices.SortFunc(all, func(a, b int) int {
		if mix(a) < mix(b) {
			return -1
		}
		return 1
	})
	return all[:most]
}
