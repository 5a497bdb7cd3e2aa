// Package patient is the canonical record of a person in a tenant's care: its fields, its rules, and the verbs by which
// it changes. It knows no HTTP and no SQL.
package patient

import (
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Patient is one record at one version. Text that was never given is empty; coded fields are never empty.
type Patient struct {
	ID                int64     `db:"id"` // assigned by the store; positive, below 2^53, never reused
	FirstName         string    `db:"first_name"`
	MiddleName        string    `db:"middle_name"`
	LastName          string    `db:"last_name"`
	Prefix            string    `db:"prefix"`
	Suffix            string    `db:"suffix"`
	DOB               time.Time `db:"dob"`
	SexAtBirth        string    `db:"sex_at_birth"`
	Gender            string    `db:"gender"`
	Race              string    `db:"race"`
	Ethnicity         string    `db:"ethnicity"`
	GenderIdentity    string    `db:"gender_identity"`
	PreferredLanguage string    `db:"preferred_language"`
	SSNLast4          string    `db:"ssn_last4"` // four digits or empty; the whole number is never kept
	Deceased
	Version   int64      `db:"version"` // 1 at creation, one more at each change
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt time.Time  `db:"updated_at"`
	DeletedAt *time.Time `db:"deleted_at"` // nil while the patient is not soft-deleted
}

// Input is what a caller gives of a patient. Nil is what was not given.
type Input struct {
	FirstName, LastName, DOB          *string
	MiddleName, Prefix, Suffix        *string
	Gender, Race, Ethnicity           *string
	SexAtBirth                        *string
	GenderIdentity, PreferredLanguage *string
	Last4SSN                          *string
	Deceased                          *bool
}

// New makes a patient of an input, or tells every rule that the input breaks.
func New(in Input, now time.Time) (Patient, []fault.Field) {
	p := Patient{SexAtBirth: SexUnknown, Gender: Unknown, Race: Unknown, Ethnicity: Unknown}
	e := editor{now: now, creating: true}
	e.name("firstName", in.FirstName, &p.FirstName)
	e.name("lastName", in.LastName, &p.LastName)
	e.birth(in.DOB, &p)
	e.rest(in, &p)
	p.Version, p.CreatedAt, p.UpdatedAt = 1, now, now
	return p, e.faults
}

// With is the patient with an input applied: what was not given stays as it is. The version stays too.
func (p Patient) With(in Input, now time.Time) (Patient, []fault.Field) {
	e := editor{now: now}
	e.name("firstName", in.FirstName, &p.FirstName)
	e.name("lastName", in.LastName, &p.LastName)
	e.birth(in.DOB, &p)
	e.rest(in, &p)
	return p, e.faults
}

// Validate tells the rules that an input breaks whatever patient it is meant for.
func (in Input) Validate(now time.Time) []fault.Field {
	var anyone Patient
	if digits, ok := strings.CutPrefix(deref(in.Last4SSN), maskPrefix); ok && fourDigits(digits) {
		anyone.SSNLast4 = digits
	}
	_, faults := anyone.With(in, now)
	return faults
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// editor applies an input's members one by one and notes each rule that one breaks.
type editor struct {
	now      time.Time
	creating bool
	faults   []fault.Field
}

func (e *editor) fault(field, code, message string) {
	e.faults = append(e.faults, fault.Field{Field: field, Code: code, Message: message})
}

// name applies a name, or another text, that cannot be missing.
func (e *editor) name(field string, given, into *string) {
	switch {
	case given == nil && e.creating:
		e.fault(field, "required", "is required")
	case given == nil:
	case *given == "" || notAvailable(*given):
		e.fault(field, "blank", "must not be blank or n/a")
	default:
		*into = *given
	}
}

func (e *editor) birth(given *string, p *Patient) {
	const field = "dob"
	if given == nil {
		if e.creating {
			e.fault(field, "required", "is required")
		}
		return
	}
	day, err := civil.Parse(*given)
	switch {
	case *given == "" || notAvailable(*given):
		e.fault(field, "blank", "must not be blank or n/a")
	case err != nil:
		e.fault(field, "invalid_date", err.Error())
	case civil.InFuture(day, e.now):
		e.fault(field, "in_future", "must not be in the future")
	case p.Date != nil && day.After(*p.Date):
		e.fault(field, "after_death", "must not be after the date of death")
	default:
		p.DOB = day
	}
}

func (e *editor) rest(in Input, p *Patient) {
	text(in.MiddleName, &p.MiddleName)
	text(in.Prefix, &p.Prefix)
	text(in.Suffix, &p.Suffix)
	text(in.GenderIdentity, &p.GenderIdentity)
	text(in.PreferredLanguage, &p.PreferredLanguage)
	e.coded("gender", in.Gender, Genders(), Unknown, &p.Gender)
	e.coded("race", in.Race, Races(), Unknown, &p.Race)
	e.coded("ethnicity", in.Ethnicity, Ethnicities(), Unknown, &p.Ethnicity)
	e.coded("sexAtBirth", in.SexAtBirth, SexesAtBirth(), SexUnknown, &p.SexAtBirth)
	e.ssn(in.Last4SSN, &p.SSNLast4)
	if in.Deceased != nil && *in.Deceased {
		e.fault("deceased", "read_only", "is set by the deceased endpoints")
	}
}

// text applies an optional text: n/a clears it.
func text(given, into *string) {
	if given == nil {
		return
	}
	*into = *given
	if notAvailable(*given) {
		*into = ""
	}
}

// coded applies a field with a value set, in any case: n/a resets it to unknown.
func (e *editor) coded(field string, given *string, set []string, unknown string, into *string) {
	switch {
	case given == nil:
	case notAvailable(*given):
		*into = unknown
	default:
		e.oneOf(field, *given, set, into)
	}
}

// choice applies a field with a value set that always has a value.
func (e *editor) choice(field string, given *string, set []string, into *string) {
	switch {
	case given == nil:
	case *given == "" || notAvailable(*given):
		e.fault(field, "blank", "must not be blank or n/a")
	default:
		e.oneOf(field, *given, set, into)
	}
}

// option applies a field with a value set that may have no value: n/a, Unknown and the empty text clear it.
func (e *editor) option(field string, given *string, set []string, into *string) {
	switch {
	case given == nil:
	case *given == "" || notAvailable(*given) || strings.EqualFold(*given, Unknown):
		*into = ""
	default:
		e.oneOf(field, *given, set, into)
	}
}

func (e *editor) oneOf(field, given string, set []string, into *string) {
	for _, value := range set {
		if strings.EqualFold(value, given) {
			*into = value
			return
		}
	}
	e.fault(field, "invalid_value", "must be one of "+strings.Join(set, ", "))
}

// ssn applies the last four digits. A whole number is refused, not cut, so that nobody makes a habit of sending it.
// An update may send back the mask that was read.
func (e *editor) ssn(given, into *string) {
	switch {
	case given == nil:
	case e.creating && notAvailable(*given):
	case fourDigits(*given):
		*into = *given
	case !e.creating && *given == Mask(*into):
	default:
		e.fault("last4Ssn", "invalid_last4", "must be exactly four digits")
	}
}

func fourDigits(s string) bool {
	return len(s) == 4 && strings.Trim(s, "0123456789") == ""
}

const maskPrefix = "***-**-"

// Mask shows the last four digits as ***-**-NNNN, and no digits as nothing.
func Mask(last4 string) string {
	if last4 == "" {
		return ""
	}
	return maskPrefix + last4
}

func notAvailable(s string) bool { return strings.EqualFold(s, "n/a") }

// Diff names the fields in which two versions of a patient differ, as the v3 interface spells them.
func Diff(before, after Patient) []string {
	fields := []string{}
	note := func(name string, changed bool) {
		if changed {
			fields = append(fields, name)
		}
	}
	note("firstName", before.FirstName != after.FirstName)
	note("middleName", before.MiddleName != after.MiddleName)
	note("lastName", before.LastName != after.LastName)
	note("prefix", before.Prefix != after.Prefix)
	note("suffix", before.Suffix != after.Suffix)
	note("dob", !before.DOB.Equal(after.DOB))
	note("sexAtBirth", before.SexAtBirth != after.SexAtBirth)
	note("gender", before.Gender != after.Gender)
	note("race", before.Race != after.Race)
	note("ethnicity", before.Ethnicity != after.Ethnicity)
	note("genderIdentity", before.GenderIdentity != after.GenderIdentity)
	note("preferredLanguage", before.PreferredLanguage != after.PreferredLanguage)
	note("last4Ssn", before.SSNLast4 != after.SSNLast4)
	return append(fields, before.diff(after.Deceased)...)
}
