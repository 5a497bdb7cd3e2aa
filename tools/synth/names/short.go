package names

import (
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// loadShort reads "name1,relationship,name2".
func (n *Names) loadShort() error {
	add := func(name, other string) {
		if name != other && !slices.Contains(n.short[name], title(other)) {
			n.short[name] = append(n.short[name], title(other))
		}
	}
	return data.Lines("nicknames.csv", func(line string) error {
		cells := strings.Split(line, ",")
		if len(cells) == 3 && cells[1] == "has_nickname" {
			add(cells[0], cells[2])
			add(cells[2], cells[0])
		}
		return nil
	})
}

// Nicknames are the names that somebody of a first name also goes by: shorter ones, and those that it is itself short for.
func (n *Names) Nicknames(name string) []string { return n.short[strings.ToLower(name)] }

// loadTwins reads "sex one/other …".
func (n *Names) loadTwins() error {
	return data.Lines("twins.txt", func(line string) error {
		cells := strings.Fields(line)
		sex, err := sexOf(cells[0])
		if err != nil {
			return err
		}
		for _, pair := range cells[1:] {
			one, other, _ := strings.Cut(pair, "/")
			n.twins[sex] = append(n.twins[sex], [2]string{one, other})
		}
		return nil
	})
}

// Twins draws first names that parents give to twins of one sex because they go together.
func (n *Names) Twins(d *dice.Dice, sex Sex) (one, other string) {
	pair := dice.Pick(d, n.twins[sex])
	return pair[0], pair[1]
}
