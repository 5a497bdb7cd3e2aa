package slip

import (
	"fmt"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Words writes the words of an address as the Postal Service abbreviates them (Publication 28), or one of them otherwise.
func Words(_ *dice.Dice, text string) (string, bool) {
	words := strings.Split(text, " ")
	for i, word := range words {
		short := abbreviation(word)
		if name := len(short) == 1 && len(words)-i < 3; short != "" && !name { // 12 North Street: a name, not a direction
			words[i] = short
		}
	}
	return changed(text, strings.Join(words, " "))
}

func abbreviation(word string) string {
	switch word {
	case "Street", "Saint":
		return "St"
	case "Avenue":
		return "Ave"
	case "Drive":
		return "Dr"
	case "Road":
		return "Rd"
	case "Lane":
		return "Ln"
	case "Court":
		return "Ct"
	case "Circle":
		return "Cir"
	case "Boulevard":
		return "Blvd"
	case "Place":
		return "Pl"
	case "Terrace":
		return "Ter"
	case "Trail":
		return "Trl"
	case "Parkway":
		return "Pkwy"
	case "Highway":
		return "Hwy"
	case "Square":
		return "Sq"
	case "Apartment":
		return "Apt"
	case "Suite":
		return "Ste"
	case "Mount":
		return "Mt"
	case "Fort":
		return "Ft"
	case "North", "South", "East", "West":
		return word[:1]
	}
	return ""
}

// PlusFour adds four digits to a ZIP code, or takes them away.
func PlusFour(d *dice.Dice, text string) (string, bool) {
	if five, _, ok := strings.Cut(text, "-"); ok {
		return five, true
	}
	if len(text) != 5 {
		return text, false
	}
	return fmt.Sprintf("%s-%04d", text, d.Between(1, 9999)), true
}

// HouseNumber mistypes the number that a line begins with.
func HouseNumber(d *dice.Dice, text string) (string, bool) {
	number, rest, _ := strings.Cut(text, " ")
	if number == "" || number[0] < '0' || number[0] > '9' {
		return text, false
	}
	out, ok := Digits(d, number)
	return out + " " + rest, ok
}

// Notation writes an American telephone number in another of the usual ways.
func Notation(d *dice.Dice, text string) (string, bool) {
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
	if len(digits) == 11 && digits[0] == '1' {
		digits = digits[1:]
	}
	if len(digits) != 10 {
		return text, false
	}
	area, exchange, line := digits[:3], digits[3:6], digits[6:]
	for {
		out := dice.Pick(d, []string{
			"(" + area + ") " + exchange + "-" + line, area + "-" + exchange + "-" + line, area + "." + exchange + "." + line,
			digits, "+1" + digits, "1-" + area + "-" + exchange + "-" + line,
		})
		if out != text {
			return out, true
		}
	}
}
