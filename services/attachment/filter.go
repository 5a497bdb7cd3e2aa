package attachment

import (
	"strings"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Which says which documents of a patient are listed.
type Which int

// The lists of documents.
const (
	ActiveOnly Which = iota
	InactiveOnly
	All
)

// Filter says which documents a search gives. The zero Filter is all that are active.
type Filter struct {
	Type         string    // empty: any
	CreatedAfter time.Time // the instant belongs to it; zero: any
	Text         string    // folded; what title or filename contain; empty: anything
	Which        Which
}

// Question is a search as it is asked. Nil is what was not given.
type Question struct {
	Type, CreatedAfter, Filename, Active *string
}

// anyType is how a question asks for documents of all types.
const anyType = "any"

// Filter reads a question, or tells every rule that it breaks.
func (q Question) Filter() (Filter, []fault.Field) {
	var f Filter
	var e editor
	if q.Type != nil && !strings.EqualFold(*q.Type, anyType) {
		var asked Document
		e.kind(q.Type, &asked)
		f.Type = asked.Type
	}
	if q.CreatedAfter != nil {
		var ok bool
		if f.CreatedAfter, ok = moment(*q.CreatedAfter); !ok {
			e.fault("createdAfter", "invalid_date", "must be a date, YYYY-MM-DD, or an instant of RFC 3339")
		}
	}
	if q.Filename != nil {
		f.Text = fold(*q.Filename)
	}
	if q.Active != nil {
		switch strings.ToLower(*q.Active) {
		case "true":
		case "false":
			f.Which = InactiveOnly
		case "all":
			f.Which = All
		default:
			e.fault("active", "invalid_value", "must be one of true, false, all")
		}
	}
	return f, e.faults
}

// moment reads a date, which is the beginning of its day in UTC, or an instant.
func moment(text string) (time.Time, bool) {
	if day, err := civil.Parse(text); err == nil {
		return day, true
	}
	at, err := time.Parse(time.RFC3339, text)
	return at.UTC(), err == nil
}

// Folded is what a search looks in: title and filename, apart, without a difference between upper and lower case.
func (d Document) Folded() string { return fold(d.Title) + "\n" + fold(d.Filename) }

// fold takes the difference between upper and lower case out of a text (Unicode §3.13, default caseless matching).
func fold(text string) string { return norm.NFC.String(cases.Fold().String(text)) }
