package rest

import (
	"math"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
)

const longestCursor = 16 << 10

// members reads a question from a body.
func members(o *body.Object) asked {
	a := asked{faults: o.Err, after: o.Text("after", longestCursor).Pointer()}
	for d := range matching.Demographics {
		m := o.Text(d.String(), d.Limit())
		a.question.Given[d] = m.Value
		a.question.Unreadable = a.question.Unreadable || o.Faulty(d.String())
	}
	a.question.Exact = o.Bool("exact").Pointer()
	a.question.Limit = o.Number("limit").Pointer()
	a.question.MinScore = o.Number("minScore").Pointer()
	return a
}

// parameters reads a question from a URL.
func parameters(p api.FindPatientsParams) asked {
	q := query{}
	for d, text := range [matching.Demographics]*string{
		p.FirstName, p.MiddleName, p.LastName, p.Suffix, p.Dob, p.SexAtBirth, p.Line1, p.City, p.State, p.PostalCode, p.Phone, p.Email,
		p.Last4Ssn, p.Identifier,
	} {
		name, faults := matching.Demographic(d), len(q.faults)
		q.asked.Given[d] = q.text(name.String(), text, name.Limit())
		q.asked.Unreadable = q.asked.Unreadable || len(q.faults) > faults
	}
	q.exact(p.Exact)
	q.asked.Limit = q.number("limit", p.Limit, integer)
	q.asked.MinScore = q.number("minScore", p.MinScore, decimal)
	return asked{question: q.asked, after: p.After, faults: q.err}
}

// query reads a URL's query.
type query struct {
	asked  matching.Question
	faults []fault.Field
}

func (q *query) fault(field, code, message string) {
	q.faults = append(q.faults, fault.Field{Field: field, Code: code, Message: message})
}

// err is as body.Object's: of several faults of one parameter the first is kept.
func (q *query) err(further ...fault.Field) error {
	var o body.Object
	for _, f := range q.faults {
		o.Fault(f.Field, f.Code, f.Message)
	}
	return o.Err(further...)
}

func (q *query) text(name string, given *string, limit int) string {
	if given == nil {
		return ""
	}
	text, code, message := body.CleanText(*given, limit)
	if code != "" {
		q.fault(name, code, message)
	}
	return text
}

func (q *query) exact(given *string) {
	const name = "exact"
	switch text := strings.ToLower(q.said(name, given)); text {
	case "":
	case "true", "false":
		exact := text == "true"
		q.asked.Exact = &exact
	default:
		q.fault(name, "invalid_value", "must be true or false")
	}
}

// number reads one; what is none is not within any bounds.
func (q *query) number(name string, given *string, parse func(string) (float64, error)) *float64 {
	text := q.said(name, given)
	if text == "" {
		return nil
	}
	n, err := parse(text)
	if err != nil {
		n = math.NaN()
	}
	return &n
}

func integer(text string) (float64, error) {
	n, err := strconv.Atoi(text)
	return float64(n), err
}

func decimal(text string) (float64, error) { return strconv.ParseFloat(text, 64) }

// said is a text that says something.
func (q *query) said(name string, given *string) string {
	text := q.text(name, given, body.TextLength)
	if strings.EqualFold(text, "n/a") {
		return ""
	}
	return text
}
