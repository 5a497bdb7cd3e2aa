package linkage

import "time"

// ParseDate reads YYYY-MM-DD. What is no day of the calendar, and the days that systems put where they know none, are zero.
func ParseDate(s string) Date {
	if len(s) != len(time.DateOnly) || s[4] != '-' || s[7] != '-' {
		return 0
	}
	year, month, day := number(s[:4]), number(s[5:7]), number(s[8:])
	if year < 1 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month) {
		return 0
	}
	d := Date(year*10000 + month*100 + day) //nolint:gosec // four digits and four
	if d.placeholder() {
		return 0
	}
	return d
}

// number is of digits alone; -1: of anything else.
func number(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}

// placeholder tells the days that are nobody's: defaults of databases and spreadsheets, and nines throughout.
// The first day of 1900 is one of them: nobody born then is a patient now.
func (d Date) placeholder() bool {
	switch d {
	case 101_01, 1111_11_11, 1600_01_01, 1753_01_01, 1800_01_01, 1899_12_30, 1899_12_31, 1900_01_01:
		return true
	}
	return d.Year() >= 2999
}

// Year is the year of the day.
func (d Date) Year() int { return int(d / 10000) }

// Month is the month of the year, 1 to 12.
func (d Date) Month() int { return int(d / 100 % 100) }

// Day is the day of the month.
func (d Date) Day() int { return int(d % 100) }

// Vague tells a day that is often given for want of a better one: the first of January, which stands for "some day of that
// year" wherever only the year is known, and is the day that computers count from.
func (d Date) Vague() bool { return d != 0 && d%10000 == 1_01 }
