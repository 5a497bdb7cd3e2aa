package names

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// RareSurnames is the share of people whose surname the table of 2010 leaves out, because fewer than a hundred people bear
// it: 29,312,001 of 294,979,229.
const RareSurnames = 0.0994

const (
	asBorne   = 0.8  // of those whose name has an apostrophe or a space when they write it themselves
	withMarks = 0.2  // of those whose name has accents when they write it themselves
	strange   = 0.02 // of rare surnames have letters that American systems do not expect
)

// Surname is a family's name. Told is its number in the table, or -1 for a rare one.
type Surname struct {
	Text     string
	Heritage Heritage
	Told     int
}

type surnames struct {
	table    dice.Table
	entries  []surname
	foreign  []string
	hispanic float64 // share of people
}

// surname is one name of the table: as the table has it but for capitals, and as people write it who care.
type surname struct {
	plain, borne, accented string
	heritage               Heritage
}

func (n *Names) loadSurnames() error {
	borne, err := keyed("spelt.txt")
	if err != nil {
		return err
	}
	accented, err := keyed("accented.txt")
	if err != nil {
		return err
	}
	hispanic, err := keyed("hispanic-surnames.txt")
	if err != nil {
		return err
	}
	asian, err := keyed("asian-surnames.txt")
	if err != nil {
		return err
	}
	if n.surnames.foreign, err = data.Words("foreign.txt"); err != nil {
		return err
	}
	var weights []uint64
	var told uint64
	err = data.Lines("surnames.csv.gz", func(line string) error {
		name, count, _ := strings.Cut(line, ",")
		weight, err := strconv.ParseUint(count, 10, 32)
		if err != nil || name == "" {
			return fmt.Errorf("%q is no name with a count", line)
		}
		s := surname{plain: title(name), borne: borne[name], accented: accented[name]}
		if len(name) > 4 && strings.HasPrefix(name, "MC") { // nearly all of them
			s.plain = "Mc" + title(name[2:])
		}
		switch {
		case hispanic[name] != "":
			s.heritage, told = Hispanic, told+weight
		case asian[name] != "":
			s.heritage = Asian
		}
		weights, n.surnames.entries = append(weights, weight), append(n.surnames.entries, s)
		return nil
	})
	if err != nil {
		return err
	}
	n.surnames.table, err = dice.NewTable(weights)
	n.surnames.hispanic = float64(told) / float64(n.surnames.table.Total()) * (1 - RareSurnames)
	return err
}

// Surname draws a family's name.
func (n *Names) Surname(d *dice.Dice) Surname {
	if d.Chance(RareSurnames) {
		return Surname{Text: n.surnames.rare(d), Told: -1}
	}
	at := n.surnames.table.Draw(d)
	s := &n.surnames.entries[at]
	out := Surname{Text: s.plain, Heritage: s.heritage, Told: at}
	switch {
	case s.borne != "" && d.Chance(asBorne):
		out.Text = s.borne
	case s.accented != "" && d.Chance(withMarks):
		out.Text = s.accented
	}
	return out
}

// rare makes a name that few families bear, out of the beginning of one and the end of another that not many do.
func (s *surnames) rare(d *dice.Dice) string {
	if d.Chance(strange) {
		return dice.Pick(d, s.foreign)
	}
	low := len(s.entries) / 20
	for {
		head := beginning(s.entries[d.Between(low, len(s.entries)-1)].plain)
		out := head + ending(s.entries[d.Between(low, len(s.entries)-1)].plain)
		if len(out) >= 5 && len(out) <= 13 {
			return out
		}
	}
}

// beginning is a name up to a consonant that follows a vowel, after three letters or more.
func beginning(name string) string {
	for i := 2; i+1 < len(name); i++ {
		if vowel(name[i-1]) && !vowel(name[i]) {
			return name[:i+1]
		}
	}
	return name
}

// ending is a name from its last vowels but one.
func ending(name string) string {
	at, groups := len(name), 0
	for i := len(name) - 1; i > 0 && groups < 2; i-- {
		if vowel(name[i]) {
			at = i
			if !vowel(name[i-1]) {
				groups++
			}
		}
	}
	return name[at:]
}

func vowel(letter byte) bool { return strings.IndexByte("aeiouy", letter) >= 0 }
