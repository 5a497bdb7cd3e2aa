package synth

import "github.com/patient-mesh/patient-mesh/tools/synth/dice"

// day is a calendar date.
type day struct{ year, month, day int }

func (d day) text() string {
	out := append(padded(make([]byte, 0, 10), d.year, 4), '-')
	out = append(padded(out, d.month, 2), '-')
	return string(padded(out, d.day, 2))
}

// padded writes a number with zeros before it.
func padded(out []byte, n, width int) []byte {
	for range width {
		out = append(out, '0')
	}
	for i := len(out) - 1; n > 0; i, n = i-1, n/10 {
		out[i] += byte(n % 10)
	}
	return out
}

func digits(n, width int) string { return string(padded(make([]byte, 0, width), n, width)) }

func daysOf(month, year int) int {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	case month == 4 || month == 6 || month == 9 || month == 11:
		return 30
	}
	return 31
}

// birthday draws a day of a year. Slightly more people are born from July to September (National Vital Statistics Reports).
func birthday(d *dice.Dice, year int) day {
	for {
		month := d.Between(1, 12)
		if d.Below(1060) < []int{975, 980, 975, 965, 975, 995, 1045, 1060, 1060, 1010, 990, 985}[month-1] {
			if n := d.Between(1, 31); n <= daysOf(month, year) {
				return day{year, month, n}
			}
		}
	}
}
