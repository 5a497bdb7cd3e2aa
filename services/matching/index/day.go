package index

import "github.com/patient-mesh/patient-mesh/libs/linkage"

// packDay counts days with 31 in each month: below 2^21 for every year, so three bytes.
func packDay(d linkage.Date) uint64 {
	return uint64(int(d)/10000*372 + (d.Month()-1)*31 + d.Day() - 1) //nolint:gosec // not negative
}

func unpackDay(n uint64) linkage.Date {
	return linkage.Date(n/372*10000 + (n%372/31+1)*100 + n%31 + 1) //nolint:gosec // a day
}

// givenDay is a day as it was given, even one that stands for none; zero: it is no day.
func givenDay(s string) linkage.Date {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' || !onlyDigits(s[:4]) || !onlyDigits(s[5:7]) || !onlyDigits(s[8:]) {
		return 0
	}
	year, month, day := digits(s[:4]), digits(s[5:7]), digits(s[8:])
	if month < 1 || month > 12 || day < 1 || day > 31 {
		return 0
	}
	return linkage.Date(year*10000 + month*100 + day) //nolint:gosec // eight digits
}

func showDay(d linkage.Date) string {
	b := make([]byte, 0, 10)
	b = padded(b, uint64(d/10000), 4)                //nolint:gosec // not negative
	b = padded(append(b, '-'), uint64(d.Month()), 2) //nolint:gosec // not negative
	b = padded(append(b, '-'), uint64(d.Day()), 2)   //nolint:gosec // not negative
	return string(b)
}

// padded appends a number in that many digits.
func padded(b []byte, n uint64, width int) []byte {
	at := len(b)
	for range width {
		b = append(b, '0')
	}
	for i := at + width - 1; i >= at; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}

// digits is the number that a text of digits is.
func digits(s string) uint64 {
	n := uint64(0)
	for i := 0; i < len(s); i++ {
		n = n*10 + uint64(s[i]-'0')
	}
	return n
}

func onlyDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}
