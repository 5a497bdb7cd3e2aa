package linkage

import "strings"

// ParsePhone is the last ten digits of a number without its country's: of its international form, or of what was given when
// that could not be made. Zero: it is none, or one that nobody has.
func ParsePhone(e164, value string) Phone {
	s := e164
	if s == "" {
		s = value
		if extension := strings.IndexAny(s, "xX;#"); extension > 0 {
			s = s[:extension]
		}
	}
	var digits [24]byte
	n := 0
	for i := 0; i < len(s) && n < len(digits); i++ {
		if s[i] >= '0' && s[i] <= '9' {
			digits[n] = s[i]
			n++
		}
	}
	number := digits[:n]
	if strings.HasPrefix(s, "+") {
		number = number[min(n, countryCode(number)):]
	}
	if len(number) > 10 {
		number = number[len(number)-10:]
	}
	if len(number) < 6 || nobodys(number) {
		return 0
	}
	var p Phone
	for _, d := range number {
		p = p*10 + Phone(d-'0')
	}
	return p
}

// countryCode is how many digits the country's code has, by ITU-T E.164 annex: 1 and 7 have one, those listed two, the rest three.
func countryCode(number []byte) int {
	if len(number) < 2 || number[0] == '1' || number[0] == '7' {
		return 1
	}
	switch (number[0]-'0')*10 + number[1] - '0' {
	case 20, 27, 30, 31, 32, 33, 34, 36, 39, 40, 41, 43, 44, 45, 46, 47, 48, 49, 51, 52, 53, 54, 55, 56, 57, 58,
		60, 61, 62, 63, 64, 65, 66, 81, 82, 84, 86, 90, 91, 92, 93, 94, 95, 98:
		return 2
	}
	return 3
}

// nobodys tells numbers that are typed for want of one: 000-0000, 555-5555, 123-456-7890, 123-4567, and information's 555-1212.
func nobodys(number []byte) bool {
	switch string(number) {
	case "1234567890", "123456789", "12345678", "123456", "9876543210":
		return true
	}
	local := string(number[max(0, len(number)-7):])
	switch local {
	case "1234567", "7654321", "5551212", "5551234", "5550000":
		return true
	}
	return strings.Trim(local, local[:1]) == ""
}
