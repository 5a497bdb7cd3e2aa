package phone_test

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/phone"
)

func TestE164(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]struct {
		normal   string
		possible bool
	}{
		"(207) 555-0134": {"+12075550134", true}, "+44 20 7946 0018": {"+442079460018", true}, "1-207-555-0134": {"+12075550134", true},
		"555-0134": {"", true}, "12": {"", false}, "none": {"", false}, "": {"", false},
	} {
		if normal, possible := phone.E164(value); normal != want.normal || possible != want.possible {
			t.Errorf("%q: %q, %t", value, normal, possible)
		}
	}
}
