package slip

import (
	"fmt"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/tools/synth/dice"
)

// Dates are the mistakes of dates written YYYY-MM-DD. What they give is a date again, of 1900 or later and not after Latest:
// systems refuse anything else.
type Dates struct{ Latest time.Time }

// DayMonth swaps day and month.
func (ds Dates) DayMonth(_ *dice.Dice, text string) (string, bool) {
	if _, ok := ds.parse(text); !ok {
		return text, false
	}
	return ds.accept(text, text[:5]+text[8:]+"-"+text[5:7])
}

// OffByOne is a day, a month or a year too early or too late.
func (ds Dates) OffByOne(d *dice.Dice, text string) (string, bool) {
	day, ok := ds.parse(text)
	if !ok {
		return text, false
	}
	step := 1 - 2*d.Below(2)
	year, month, date := day.Date()
	switch share := d.Below(100); {
	case share < 50:
		year, month, date = day.AddDate(0, 0, step).Date()
	case share < 70:
		month += time.Month(step)
	default:
		year += step
	}
	return ds.accept(text, fmt.Sprintf("%04d-%02d-%02d", year, month, date))
}

// Digit types one digit wrong, or two in the wrong order, and still writes a date.
func (ds Dates) Digit(d *dice.Dice, text string) (string, bool) {
	for range 16 {
		out, ok := Digits(d, text)
		if !ok {
			break
		}
		if out, ok = ds.accept(text, out); ok {
			return out, true
		}
	}
	return text, false
}

// AnyDigit has one digit replaced by any other: what is misread or misheard rather than mistyped.
func (ds Dates) AnyDigit(d *dice.Dice, text string) (string, bool) {
	for range 16 {
		out := []byte(text)
		at := d.Below(len(text) + 1)
		if at == len(text) || out[at] == '-' {
			continue
		}
		out[at] = byte('0' + d.Below(10)) //nolint:gosec // a digit
		if text, ok := ds.accept(text, string(out)); ok {
			return text, true
		}
	}
	return text, false
}

// Century takes a year for that of another century.
func (ds Dates) Century(_ *dice.Dice, text string) (string, bool) {
	if _, ok := ds.parse(text); !ok {
		return text, false
	}
	other := map[string]string{"19": "20", "20": "19"}[text[:2]]
	return ds.accept(text, other+text[2:])
}

// Placeholder is what forms make people write who do not know: the first of January, of the year or of one that stands for none.
func (ds Dates) Placeholder(d *dice.Dice, text string) (string, bool) {
	if _, ok := ds.parse(text); !ok {
		return text, false
	}
	year := text[:4]
	if d.Chance(0.6) {
		year = dice.Pick(d, []string{"1900", "1900", "1901", "1970", "2000"})
	}
	return ds.accept(text, year+"-01-01")
}

func (ds Dates) parse(text string) (time.Time, bool) {
	day, err := civil.Parse(text)
	return day, err == nil
}

// accept is a date that another was mistaken for, when it is one.
func (ds Dates) accept(from, to string) (string, bool) {
	day, ok := ds.parse(to)
	if !ok || day.Year() < 1900 || day.After(ds.Latest) || to == from {
		return from, false
	}
	return to, true
}
