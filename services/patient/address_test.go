package patient_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/services/patient"
)

// home is an input that breaks no rule.
func home() patient.AddressInput {
	return patient.AddressInput{Line1: some("1 Main St"), City: some("Springfield"), State: some("IL"), PostalCode: some("62701")}
}

func TestNewAddress(t *testing.T) {
	a, faults := home().New(now)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	want := patient.Address{
		Child: patient.Child{Version: 1, CreatedAt: now, UpdatedAt: now},
		Line1: "1 Main St", City: "Springfield", State: "IL", PostalCode: "62701", Country: "US",
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Error(diff)
	}
	in := home()
	in.Line2, in.Country, in.Use = some("Apt 2"), some("mx"), some("HOME")
	want.Line2, want.Country, want.Use = "Apt 2", "MX", "home"
	if a, faults = in.New(now); len(faults) > 0 || cmp.Diff(want, a) != "" {
		t.Errorf("%+v, %v", a, faults)
	}
	in.Line2, in.Country, in.Use = some("n/a"), some("N/A"), some("unknown")
	want.Line2, want.Country, want.Use = "", "US", ""
	if a, faults = in.New(now); len(faults) > 0 || cmp.Diff(want, a) != "" {
		t.Errorf("not given: %+v, %v", a, faults)
	}
	if !a.Active(now) {
		t.Error("a new address is not active")
	}
}

func TestNewAddressTellsEveryRule(t *testing.T) {
	_, faults := patient.AddressInput{}.New(now)
	want := []string{"line1 required", "city required", "state required", "postalCode required"}
	if diff := cmp.Diff(want, codes(faults)); diff != "" {
		t.Error(diff)
	}
	_, faults = patient.AddressInput{
		Line1: some(""), City: some("n/a"), State: some("N/A"), PostalCode: some(""), Country: some("USA"), Use: some("old"),
	}.New(now)
	want = []string{"line1 blank", "city blank", "state blank", "postalCode blank", "country invalid_value", "use invalid_value"}
	if diff := cmp.Diff(want, codes(faults)); diff != "" {
		t.Error(diff)
	}
}

func TestAnAddressChangesByWhatIsGiven(t *testing.T) {
	in := home()
	in.Line2, in.Country, in.Use = some("Apt 2"), some("CA"), some("temp")
	before, _ := in.New(now)
	if after, faults := (patient.AddressInput{}).Apply(before, now); len(faults) > 0 || after != before {
		t.Errorf("nothing given: %+v, %v", after, faults)
	}
	cleared := before
	cleared.Line2, cleared.Country, cleared.Use = "", "US", ""
	for _, none := range []string{"n/a", "N/A", ""} {
		change := patient.AddressInput{Line2: &none, Country: &none, Use: &none}
		if after, faults := change.Apply(before, now); len(faults) > 0 || after != cleared {
			t.Errorf("%q: %+v, %v", none, after, faults)
		}
		change = patient.AddressInput{Line1: &none, City: &none, State: &none, PostalCode: &none}
		want := []string{"line1 blank", "city blank", "state blank", "postalCode blank"}
		if diff := cmp.Diff(want, codes(change.Validate(now))); diff != "" {
			t.Errorf("%q: %s", none, diff)
		}
	}
	if after, faults := (patient.AddressInput{Use: some("Unknown")}).Apply(before, now); len(faults) > 0 || after.Use != "" {
		t.Errorf("use is %q, %v", after.Use, faults)
	}
}

// The officially assigned codes of ISO 3166-1 alpha-2, and XK.
const countries = `
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF
CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH
GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW
KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG
NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN
SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT
ZA ZM ZW XK`

func TestCountriesAreISOs(t *testing.T) {
	assigned := strings.Fields(countries)
	taken := func(code string) bool { return len(patient.AddressInput{Country: &code}.Validate(now)) == 0 }
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			code := string([]rune{a, b})
			if got, want := taken(code), slices.Contains(assigned, code); got != want {
				t.Errorf("%s is taken: %v", code, got)
			}
		}
	}
	for _, code := range []string{"U", "USA", "840", "u$", "ÄÖ", "United States", "U S"} {
		if taken(code) {
			t.Errorf("%q is taken", code)
		}
	}
}
