package phone

import (
	"testing"

	"github.com/nyaruka/phonenumbers"
	"pgregory.net/rapid"
)

// The short way to a number's normal form leads where the library's leads.
func TestUSNumbersAreWhatTheLibrarySays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(
			rapid.StringMatching(`[ ().-]{0,3}[0-9]{3}[ ().-]{0,3}[0-9]{3}[ ().-]{0,3}[0-9]{4}[ ().-]{0,3}`),
			rapid.StringMatching(`([0-9][ ().-]{0,4}){8,12}`),
			rapid.StringMatching(`[0-9 ().+x#-]{0,20}`),
		).Draw(t, "value")
		got, ok := usNumber(value)
		if !ok {
			return
		}
		number, err := phonenumbers.Parse(value, region)
		if err != nil || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE {
			t.Fatalf("%q is %s, and no number by the library: %v", value, got, err)
		}
		if want := phonenumbers.Format(number, phonenumbers.E164); got != want {
			t.Fatalf("%q is %s, want %s", value, got, want)
		}
	})
}

func TestMostUSNumbersGoTheShortWay(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"(602) 955-5987": true, "602.955.5987": true, "6029555987": true, "602-955-5987": true, " 602 955 5987 ": true,
		"16029555987": false, "+16029555987": false, "1029555987": false, "602955598": false, "60295559871": false, "602 955 5987 x3": false, "": false,
		"６029555987": false,
	} {
		if got, ok := usNumber(value); ok != want || ok && got != "+16029555987" {
			t.Errorf("%q is %q, %v", value, got, ok)
		}
	}
}
