package linkage

// ParsePhone is the last ten digits of a number.
func ParsePhone(e164, value string) Phone {
	s := e164
	if s == "" {
		s = value
	}
	var digits [10]byte
	n := 0
	for i := len(s) - 1; i >= 0 && n < len(digits); i-- {
		if s[i] >= '0' && s[i] <= '9' {
			n++
			digits[len(digits)-n] = s[i]
		}
	}
	var p Phone
	for _, d := range digits[len(digits)-n:] {
		p = p*10 + Phone(d-'0')
	}
	return p
}
