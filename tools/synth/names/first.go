package names

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// The decades of birth that there are tables for: 1920 to 1929 and so on. Who was born before is named like the first.
const (
	firstYear = 1920
	decades   = 11
)

// BornAbroad is the share of people whose names the registers of births in the United States do not tell (American Community
// Survey 2022: 13.9 %). They are named after the Census of 1990, which counted residents.
const BornAbroad = 0.139

// firstNames are those of one sex and decade. They are parted in two, so that one part can go with surnames of the same
// heritage.
type firstNames struct {
	parts    [2]part // not Hispanic, Hispanic
	hispanic float64 // share of people with a name of the second part
}

type part struct {
	table   dice.Table
	names   []firstName
	weights []uint64
}

type firstName struct{ plain, accented string }

func (f *firstNames) add(name firstName, weight uint64, hispanic bool) {
	p := &f.parts[0]
	if hispanic {
		p = &f.parts[1]
	}
	p.names, p.weights = append(p.names, name), append(p.weights, weight)
}

func (f *firstNames) close() (err error) {
	for i := range f.parts {
		if f.parts[i].table, err = dice.NewTable(f.parts[i].weights); err != nil {
			return err
		}
	}
	other, hispanic := f.parts[0].table.Total(), f.parts[1].table.Total()
	f.hispanic = float64(hispanic) / float64(other+hispanic)
	return nil
}

// speller knows of each name of a table how it is written and whether it is Hispanic.
func speller() (func(name string) (firstName, bool), error) {
	accented, err := keyed("accented.txt")
	if err != nil {
		return nil, err
	}
	hispanic, err := keyed("hispanic-firstnames.txt")
	return func(name string) (firstName, bool) {
		name = strings.ToUpper(name)
		return firstName{plain: title(name), accented: accented[name]}, hispanic[name] != ""
	}, err
}

// loadBorn reads "sex,name,count,…" with a count for each decade.
func (n *Names) loadBorn() error {
	spell, err := speller()
	if err != nil {
		return err
	}
	err = data.Lines("births.csv.gz", func(line string) error {
		cells := strings.Split(line, ",")
		sex, err := sexOf(cells[0])
		if err != nil || len(cells) != 2+decades {
			return fmt.Errorf("%q is no name with its births by decade", line)
		}
		name, hispanic := spell(cells[1])
		for decade, cell := range cells[2:] {
			if cell == "" {
				continue
			}
			births, err := strconv.ParseUint(cell, 10, 32)
			if err != nil {
				return err
			}
			n.born[sex][decade].add(name, births, hispanic)
		}
		return nil
	})
	for sex := range n.born {
		for decade := range n.born[sex] {
			if err == nil {
				err = n.born[sex][decade].close()
			}
		}
	}
	return err
}

// loadResident reads "sex,name,count".
func (n *Names) loadResident() error {
	spell, err := speller()
	if err != nil {
		return err
	}
	err = data.Lines("first.csv.gz", func(line string) error {
		cells := strings.Split(line, ",")
		sex, err := sexOf(cells[0])
		if err != nil || len(cells) != 3 {
			return fmt.Errorf("%q is no name with a count", line)
		}
		count, err := strconv.ParseUint(cells[2], 10, 32)
		if err != nil {
			return err
		}
		name, hispanic := spell(cells[1])
		n.resident[sex].add(name, count, hispanic)
		return nil
	})
	for sex := range n.resident {
		if err == nil {
			err = n.resident[sex].close()
		}
	}
	return err
}

func sexOf(cell string) (Sex, error) {
	switch cell {
	case "F":
		return Female, nil
	case "M":
		return Male, nil
	}
	return 0, fmt.Errorf("%q is no sex", cell)
}

// First draws a first name for somebody of a sex, a year of birth and a family.
func (n *Names) First(d *dice.Dice, sex Sex, year int, family Heritage) string {
	from := &n.born[sex][min(max(year-firstYear, 0)/10, decades-1)]
	if d.Chance(BornAbroad) {
		from = &n.resident[sex]
	}
	of := &from.parts[0]
	if d.Chance(from.share(family, n.surnames.hispanic)) {
		of = &from.parts[1]
	}
	name := &of.names[of.table.Draw(d)]
	if name.accented != "" && d.Chance(withMarks) {
		return name.accented
	}
	return name.plain
}

// share is how likely somebody of a family has a name of the second part. Families with a Hispanic surname choose one more
// often and the others less, by as much as leaves both the surnames and the first names as frequent as their tables say.
func (f *firstNames) share(family Heritage, hispanic float64) float64 {
	const often = 0.5 // of the children of Hispanic families
	within := min(often, 0.9*f.hispanic/hispanic)
	if family == Hispanic {
		return within
	}
	taken := float64(hispanic * within) // rounded here, on every machine
	return (f.hispanic - taken) / (1 - hispanic)
}
