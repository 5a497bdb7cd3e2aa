// Package phone knows the normal form of telephone numbers, which is the same where one is kept and where one is sought.
package phone

import "github.com/nyaruka/phonenumbers"

// region is where a number without a country code is.
const region = "US"

// E164 is a number's normal form (ITU-T E.164). It is empty where there is none, and possible false where no number can be
// like that.
func E164(value string) (normal string, possible bool) {
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
