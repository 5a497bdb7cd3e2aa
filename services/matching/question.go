package matching

import (
	"math"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/phone"
)

// Given is the demographics that a question gives, trimmed and without control characters; empty is what is not given.
type Given [Demographics]string

// Question is a find as it is asked. Nil is what was not given.
type Question struct {
	Given    Given
	Exact    *bool
	Limit    *float64
	MinScore *float64
	After    int64 // the id after which an exact find goes on
	// Unreadable says that some demographic was given in a form that could not be read, which is told already.
	Unreadable bool
}

// The bounds of a question.
const (
	MostShown    = 100
	defaultLimit = 20
	defaultScore = 0.5
	// longestQuestion is how many bytes the texts of a question have together: it must fit into a cursor.
	longestQuestion = 8 << 10
)

// query is a question that can be asked.
type query struct {
	given    Given
	person   linkage.Demographics
	exact    bool
	limit    int
	minScore float64
	after    int64
}

// Oversized is the fault of a question that is too long to be asked.
func (q Question) Oversized() error {
	length := 0
	for _, text := range q.Given {
		length += len(text)
	}
	if length > longestQuestion {
		return fault.New(fault.TooLarge, "question_too_large", "The question is over the limit.")
	}
	return nil
}

// Validate tells every rule that a question breaks.
func (q Question) Validate(now time.Time) []fault.Field {
	_, faults := q.query(now)
	return faults
}

// query reads a question, or tells every rule that it breaks.
func (q Question) query(now time.Time) (query, []fault.Field) {
	var r reader
	given := q.Given.said()
	if given == (Given{}) && !q.Unreadable {
		r.fault("request", "no_demographic", "must give at least one demographic, such as lastName or dob")
	}
	out := query{after: q.After, exact: q.Exact != nil && *q.Exact}
	out.limit = int(r.number("limit", q.Limit, 1, MostShown, defaultLimit, true))
	out.minScore = r.number("minScore", q.MinScore, 0, 1, defaultScore, false)
	if out.exact && q.MinScore != nil {
		r.fault("minScore", "conflicting", "cannot be given together with exact")
	}
	r.birth(given[DOB], now)
	r.sex(&given)
	if given[Last4SSN] != "" && !fourDigits(given[Last4SSN]) {
		r.fault(Last4SSN.String(), "invalid_last4", "must be exactly four digits")
	}
	out.given, out.person = given, given.person()
	return out, r.faults
}

// said leaves out what says nothing.
func (g Given) said() Given {
	for i, text := range g {
		if strings.EqualFold(text, "n/a") {
			g[i] = ""
		}
	}
	return g
}

// person is what a question gives in the form in which records come.
func (g Given) person() linkage.Demographics {
	p := linkage.Demographics{
		FirstName: g[FirstName], MiddleName: g[MiddleName], LastName: g[LastName], Suffix: g[Suffix],
		DOB: g[DOB], SexAtBirth: g[SexAtBirth], SSNLast4: g[Last4SSN],
	}
	if address := (linkage.Address{Line1: g[Line1], City: g[City], State: g[State], PostalCode: g[PostalCode]}); address != (linkage.Address{}) {
		p.Addresses = []linkage.Address{address}
	}
	if g[Phone] != "" { // one that is none is looked for as it stands, and finds nobody
		e164, _ := phone.E164(g[Phone])
		p.Contacts = append(p.Contacts, linkage.Contact{System: "phone", Value: g[Phone], E164: e164})
	}
	if g[Email] != "" {
		p.Contacts = append(p.Contacts, linkage.Contact{System: "email", Value: g[Email]})
	}
	if g[Identifier] != "" {
		p.Identifiers = []linkage.Identifier{{Value: g[Identifier]}}
	}
	return p
}

// reader notes each rule that a question breaks.
type reader struct{ faults []fault.Field }

func (r *reader) fault(field, code, message string) {
	r.faults = append(r.faults, fault.Field{Field: field, Code: code, Message: message})
}

// number reads one within bounds, both of which belong to it. What is not a number is not within them.
func (r *reader) number(field string, given *float64, low, high, otherwise float64, whole bool) float64 {
	if given == nil {
		return otherwise
	}
	n := *given
	if n >= low && n <= high && (!whole || n == math.Trunc(n)) {
		return n
	}
	if whole {
		r.fault(field, "out_of_range", "must be an integer from 1 to 100")
	} else {
		r.fault(field, "out_of_range", "must be a number from 0 to 1")
	}
	return otherwise
}

func (r *reader) birth(given string, now time.Time) {
	if given == "" {
		return
	}
	day, err := civil.Parse(given)
	switch {
	case err != nil:
		r.fault(DOB.String(), "invalid_date", err.Error())
	case civil.InFuture(day, now):
		r.fault(DOB.String(), "in_future", "must not be in the future")
	}
}

// sex brings a sex at birth to the spelling in which records have it.
func (r *reader) sex(g *Given) {
	sexes := []string{"female", "male", "intersex", "other", "unknown"}
	given := strings.ToLower(g[SexAtBirth])
	for _, sex := range append(sexes, "") {
		if sex == given {
			g[SexAtBirth] = sex
			return
		}
	}
	r.fault(SexAtBirth.String(), "invalid_value", "must be one of "+strings.Join(sexes, ", "))
}

func fourDigits(s string) bool { return len(s) == 4 && strings.Trim(s, "0123456789") == "" }
