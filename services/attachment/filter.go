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
		after, err := civil.ParseMoment(*q.CreatedAfter)
		if err != nil {
			e.fault("createdAfter", "invalid_date", err.Error())
		}
		f.CreatedAfter = after.At
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

// Folded is what a search looks in: title and filename, apart, without a difference between upper and lower case.
func (d Document) Folded() string { return fold(d.Title) + "\n" + fold(d.Filename) }

// fold takes the difference between upper and lower case out of a text (Unicode §3.13, default caseless matching).
func fold(text string) string { return norm.NFC.String(cases.Fold().String(text)) }
