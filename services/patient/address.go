package patient

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/text/language"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Address is a postal address.
type Address struct {
	Child
	Line1      string `db:"line1"`
	Line2      string `db:"line2"`
	City       string `db:"city"`
	State      string `db:"state"`
	PostalCode string `db:"postal_code"`
	Country    string `db:"country"` // ISO 3166-1 alpha-2
	Use        string `db:"use"`     // home, work or temp; empty when not given
}

// Addresses is the verbs on addresses.
type Addresses = Children[Address, *Address, AddressInput]

// AddressInput is what a caller gives of an address. Nil is what was not given.
type AddressInput struct {
	Line1, Line2, City, State, PostalCode, Country, Use *string
}

// DefaultCountry is where an address is whose country nobody gave.
const DefaultCountry = "US"

// AddressUses is the value set of an address's use.
func AddressUses() []string { return []string{"home", "work", "temp"} }

// Active says whether it holds now.
func (a *Address) Active(time.Time) bool { return a.DeactivatedAt == nil }

// New makes an address, or tells every rule that the input breaks.
func (in AddressInput) New(now time.Time) (Address, []fault.Field) {
	return in.edit(Address{Child: born(now), Country: DefaultCountry}, editor{now: now, creating: true})
}

// Apply is the address with the input applied.
func (in AddressInput) Apply(to Address, now time.Time) (Address, []fault.Field) {
	return in.edit(to, editor{now: now})
}

// Validate tells the rules that the input breaks whatever address it is meant for.
func (in AddressInput) Validate(now time.Time) []fault.Field {
	_, faults := in.Apply(Address{}, now)
	return faults
}

func (in AddressInput) edit(a Address, e editor) (Address, []fault.Field) {
	e.name("line1", in.Line1, &a.Line1)
	text(in.Line2, &a.Line2)
	e.name("city", in.City, &a.City)
	e.name("state", in.State, &a.State)
	e.name("postalCode", in.PostalCode, &a.PostalCode)
	e.country("country", in.Country, &a.Country)
	e.option("use", in.Use, AddressUses(), &a.Use)
	return a, e.faults
}

// country applies a country: n/a and the empty text reset it to the default.
func (e *editor) country(field string, given, into *string) {
	switch {
	case given == nil:
	case *given == "" || notAvailable(*given):
		*into = DefaultCountry
	case !isCountry(strings.ToUpper(*given)):
		e.fault(field, "invalid_value", "must be an ISO 3166-1 alpha-2 code, such as US")
	default:
		*into = strings.ToUpper(*given)
	}
}

// isCountry reports an assigned code of ISO 3166-1 alpha-2, and XK, which everybody uses for Kosovo. The library also
// knows the codes of groups and islands that have no number of their own in UN M.49, those that have another code now,
// and, listed here, those that were withdrawn without one.
func isCountry(code string) bool {
	if len(code) != 2 {
		return false
	}
	region, err := language.ParseRegion(code)
	return err == nil && region.String() == code && region.IsCountry() && region.M49() != 0 && region.Canonicalize() == region &&
		!slices.Contains([]string{"AN", "CS", "NT", "SU", "YU"}, code)
}
