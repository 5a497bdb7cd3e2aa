// Package phone knows the normal form of telephone numbers, which is the same where one is kept and where one is sought.
package phone

import "github.com/nyaruka/phonenumbers"

// region is where a number without a country code is.
const region = "US"

// E164 is a number's normal form (ITU-T E.164). It is empty where there is none, and possible false where no number can be
// like that.
func E164(value string) (normal string, possible bool) {
	if plain, ok := usNumber(value); ok {
		return plain, true
	}
	number, err := phonenumbers.Parse(value, region)
	if err != nil || !phonenumbers.IsPossibleNumber(number) {
		return "", false
	}
	// A number without its area code is one, but who shares its seven digits is somebody else.
	if phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE {
		return "", true
	}
	return phonenumbers.Format(number, phonenumbers.E164), true
}

// usNumber is the normal form of a number as most are written: ten digits of the North American plan and what stands between
// them. It is what the library makes of it, which takes fifty times as long.
func usNumber(value string) (e164 string, ok bool) {
	const prefix = "+1"
	digits := append(make([]byte, 0, len("+12125550100")), prefix...)
	for i := range len(value) {
		switch c := value[i]; {
		case '0' <= c && c <= '9':
			if len(digits) == cap(digits) {
				return "", false
			}
			digits = append(digits, c)
		case c != ' ' && c != '-' && c != '.' && c != '(' && c != ')':
			return "", false
		}
	}
	// A first digit of 0 or 1 may be a prefix.
	if len(digits) != cap(digits) || digits[len(prefix)] < '2' {
		return "", false
	}
	return string(digits), true
}
