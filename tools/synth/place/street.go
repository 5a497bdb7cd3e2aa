package place

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/data"
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Shares of addresses.
const (
	boxes      = 0.02 // post office boxes
	rural      = 0.04 // on numbered roads
	directions = 0.15 // with North, South, East or West before the name
	twoWords   = 0.30 // street names of two words
	apartments = 0.26 // homes in buildings of several (American Community Survey 2022: a good quarter)
)

type streets struct {
	whole, first, second, types []string
	wholes, kinds               dice.Table
}

func (s *streets) load() error {
	var weights []uint64
	err := data.Lines("streets.txt", func(line string) error {
		cells := strings.Fields(strings.TrimSpace(line))
		for _, cell := range cells[1:] {
			word := strings.ReplaceAll(cell, "_", " ")
			switch cells[0] {
			case "whole":
				s.whole = append(s.whole, word)
			case "first":
				s.first = append(s.first, word)
			case "second":
				s.second = append(s.second, word)
			case "type":
				name, weight, _ := strings.Cut(word, ":")
				n, err := strconv.ParseUint(weight, 10, 32)
				if err != nil {
					return err
				}
				s.types, weights = append(s.types, name), append(weights, n)
			default:
				return fmt.Errorf("%q is no kind of word", cells[0])
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if s.wholes, err = dice.NewTable(fewer(len(s.whole))); err != nil {
		return err
	}
	s.kinds, err = dice.NewTable(weights)
	return err
}

// Building is a house: what an address says first, and whether several homes are in it.
type Building struct {
	Line1   string
	Several bool
}

// Building draws a house in some street.
func (m *Map) Building(d *dice.Dice) Building {
	switch share := d.Below(100); {
	case share < int(100*boxes):
		return Building{Line1: "PO Box " + strconv.Itoa(d.Between(1, 4999))}
	case share < int(100*(boxes+rural)):
		road := dice.Pick(d, []string{"County Road ", "Highway ", "State Route "})
		return Building{Line1: m.houseNumber(d) + " " + road + strconv.Itoa(d.Between(1, 399))}
	}
	line := m.houseNumber(d)
	if d.Chance(directions) {
		line += " " + dice.Pick(d, []string{"North", "South", "East", "West"})
	}
	return Building{Line1: line + " " + m.streets.name(d) + " " + m.streets.types[m.streets.kinds.Draw(d)], Several: d.Chance(apartments)}
}

func (s *streets) name(d *dice.Dice) string {
	if d.Chance(twoWords) {
		return dice.Pick(d, s.first) + " " + dice.Pick(d, s.second)
	}
	return s.whole[s.wholes.Draw(d)]
}

// houseNumber is short more often than long, as the first digits of house numbers are (Benford 1938).
func (m *Map) houseNumber(d *dice.Dice) string {
	return strconv.Itoa(d.Between(1, dice.Pick(d, []int{99, 999, 999, 4999, 4999, 19999})))
}

// Unit draws which home of a building.
func (m *Map) Unit(d *dice.Dice) string {
	number := strconv.Itoa(d.Between(1, 4)) + digits(d.Between(1, 16), 2)
	switch share := d.Below(100); {
	case share < 45:
		return "Apt " + number
	case share < 65:
		return "Apt " + strconv.Itoa(d.Between(1, 24)) + string(rune('A'+d.Below(6))) //nolint:gosec // a letter
	case share < 80:
		return "Unit " + strconv.Itoa(d.Between(1, 60))
	case share < 90:
		return "# " + number
	default:
		return "Apartment " + strconv.Itoa(d.Between(1, 60))
	}
}
