// Package names draws the names of people in the United States as often as they are borne: surnames of the Census of 2010,
// first names by sex and decade of birth of the Social Security Administration, and first names of the Census of 1990. It
// knows which first names go with which surnames, how names are spelt outside of tables, and which are short for others; it
// knows nothing of who is related to whom.
package names

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
	"github.com/patient-mesh/patient-mesh/tools/synth/slip"
)

// Heritage is what a surname tells of a family, as far as it goes with first names, race and language.
type Heritage uint8

// The heritages that surnames tell. Other is everything that is not told apart.
const (
	Other Heritage = iota
	Hispanic
	Asian
)

// Sex is the sex that first names are given by.
type Sex uint8

// The sexes of the tables.
const (
	Female Sex = iota
	Male
)

// Names are all tables, ready to be drawn from, by any number of goroutines.
type Names struct {
	surnames surnames
	born     [2][decades]firstNames // by sex
	resident [2]firstNames          // of people of any age, wherever they were born
	short    map[string][]string    // nicknames and what they are short for, by small letters
	twins    [2][][2]string
}

// Load reads the tables.
func Load() (*Names, error) {
	n := &Names{short: map[string][]string{}}
	for _, load := range []func() error{n.loadSurnames, n.loadBorn, n.loadResident, n.loadShort, n.loadTwins} {
		if err := load(); err != nil {
			return nil, fmt.Errorf("names: %w", err)
		}
	}
	return n, nil
}

// key is what tables make of a name: capitals only, without accents, spaces, apostrophes, hyphens and points.
func key(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToUpper(r)
	}, slip.Plain(name))
}

// keyed are the words of a list by what tables make of them.
func keyed(list string) (map[string]string, error) {
	words, err := data.Words(list)
	if err != nil {
		return nil, err
	}
	out := make(map[string]string, len(words))
	for _, word := range words {
		out[key(word)] = word
	}
	return out, nil
}

// title writes a name of a table as most people write theirs.
func title(name string) string {
	if name == "" {
		return ""
	}
	return strings.ToUpper(name[:1]) + strings.ToLower(name[1:])
}
