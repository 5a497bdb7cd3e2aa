package patient

import (
	"context"
	"strings"
	"time"
	"unicode"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Identifier is a patient's number somewhere else, and who gave it.
type Identifier struct {
	Child
	Type  string `db:"type"` // free text, such as MRN
	Value string `db:"value"`
	Authority
	SourceName string `db:"source_name"`
	Interval          // activeFrom and activeUntil
}

// Authority is who gave an identifier: an organization, a system, or both.
type Authority struct {
	OrganizationID     string `db:"authority_organization_id"`
	OrganizationName   string `db:"authority_organization_name"`
	ExternalSystemID   string `db:"authority_external_system_id"`
	ExternalSystemName string `db:"authority_external_system_name"`
}

// Identifiers is the verbs on identifiers.
type Identifiers = Children[Identifier, *Identifier, IdentifierInput]

// IdentifierInput is what a caller gives of an identifier. Nil is what was not given.
type IdentifierInput struct {
	Type, Value, SourceName                                *string
	AuthorityOrganizationID, AuthorityOrganizationName     *string
	AuthorityExternalSystemID, AuthorityExternalSystemName *string
	ActiveFrom, ActiveUntil                                *string
}

// Active says whether it holds now.
func (i *Identifier) Active(now time.Time) bool { return i.DeactivatedAt == nil && i.Contains(now) }

// Rivals reports that two identifiers of one patient forbid each other: they are the same, for a time from now on that
// overlaps. The store holds the same rule.
func (i *Identifier) Rivals(other Identifier, now time.Time) bool {
	if i.Type != other.Type || i.Value != other.Value || i.Authority != other.Authority {
		return false
	}
	from, until := now, time.Time{}
	for _, interval := range [2]Interval{i.Interval, other.Interval} {
		if interval.From.Given() && interval.From.At.After(from) {
			from = interval.From.At
		}
		if interval.Until.Given() && (until.IsZero() || interval.Until.At.Before(until)) {
			until = interval.Until.At
		}
	}
	return until.IsZero() || from.Before(until)
}

// IdentifierExists is the fault of an identifier with a rival.
func IdentifierExists() error {
	return fault.New(fault.Conflict, "identifier_exists", "The patient has this identifier already, for a time that overlaps.")
}

// New makes an identifier, or tells every rule that the input breaks.
func (in IdentifierInput) New(now time.Time) (Identifier, []fault.Field) {
	return in.edit(Identifier{Child: born(now), Type: Unknown, SourceName: Unknown}, editor{now: now, creating: true})
}

// Apply is the identifier with the input applied.
func (in IdentifierInput) Apply(to Identifier, now time.Time) (Identifier, []fault.Field) {
	return in.edit(to, editor{now: now})
}

// Validate tells the rules that the input breaks whatever identifier it is meant for.
func (in IdentifierInput) Validate(now time.Time) []fault.Field {
	_, faults := in.Apply(Identifier{}, now)
	return faults
}

func (in IdentifierInput) edit(i Identifier, e editor) (Identifier, []fault.Field) {
	orUnknown(in.Type, &i.Type)
	e.name("value", in.Value, &i.Value)
	in.authority(&i.Authority)
	if (in.Type != nil || in.Value != nil) && isSSN(i.Type, i.Value) {
		e.fault("value", "ssn_not_kept", "must not be a whole social security number: a patient's last4Ssn keeps the last four digits")
	}
	orUnknown(in.SourceName, &i.SourceName)
	e.interval("activeFrom", "activeUntil", in.ActiveFrom, in.ActiveUntil, &i.Interval)
	return i, e.faults
}

// isSSN reports a value of nine digits whose type says what it is. It is never stored, under no name.
func isSSN(kind, value string) bool {
	letters := strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, kind)
	switch letters {
	case "ssn", "ss", "usssn", "socialsecurity", "socialsecuritynumber", "socialsecurityno", "ussocialsecuritynumber": // SS: HL7 table 0203
	default:
		return false
	}
	digits := strings.NewReplacer(" ", "", "-", "", ".", "").Replace(value)
	return len(digits) == len("123456789") && strings.Trim(digits, "0123456789") == ""
}

func (in IdentifierInput) authority(into *Authority) {
	text(in.AuthorityOrganizationID, &into.OrganizationID)
	text(in.AuthorityOrganizationName, &into.OrganizationName)
	text(in.AuthorityExternalSystemID, &into.ExternalSystemID)
	text(in.AuthorityExternalSystemName, &into.ExternalSystemName)
}

// orUnknown applies a text that is Unknown where nobody gave it.
func orUnknown(given, into *string) {
	text(given, into)
	if *into == "" {
		*into = Unknown
	}
}

// OwnAuthority completes an identifier of which no authority was given by the caller's own tenant. Name asks for the
// tenant's name.
func OwnAuthority(name func(ctx context.Context, tenant string) (string, error)) func(ctx context.Context, in IdentifierInput) (IdentifierInput, error) {
	return func(ctx context.Context, in IdentifierInput) (IdentifierInput, error) {
		var given Authority
		if in.authority(&given); given != (Authority{}) {
			return in, nil
		}
		by, err := principal.Require(ctx, principal.PatientWrite)
		if err != nil {
			return in, err
		}
		own, err := name(ctx, by.TenantID)
		if err != nil {
			return in, err
		}
		in.AuthorityOrganizationID, in.AuthorityOrganizationName = &by.TenantID, &own
		return in, nil
	}
}
