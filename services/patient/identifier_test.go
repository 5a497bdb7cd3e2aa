package patient_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

func TestNewIdentifier(t *testing.T) {
	tests := map[string]struct {
		in     patient.IdentifierInput
		want   patient.Identifier
		faults []string
	}{
		"a value": {in: patient.IdentifierInput{Value: some("42")}, want: patient.Identifier{Type: "Unknown", Value: "42", SourceName: "Unknown"}},
		"everything": {
			in: patient.IdentifierInput{
				Type: some("MRN"), Value: some("42"), SourceName: some("intake"), AuthorityOrganizationID: some("o"), AuthorityOrganizationName: some("O"),
				AuthorityExternalSystemID: some("s"), AuthorityExternalSystemName: some("S"), ActiveFrom: some("2020-01-01"), ActiveUntil: some("2030-01-01"),
			},
			want: patient.Identifier{
				Type: "MRN", Value: "42", SourceName: "intake",
				Authority: patient.Authority{OrganizationID: "o", OrganizationName: "O", ExternalSystemID: "s", ExternalSystemName: "S"},
				Interval:  patient.Interval{From: moment("2020-01-01"), Until: moment("2030-01-01")},
			},
		},
		"not given":        {in: patient.IdentifierInput{Type: some("n/a"), Value: some("42"), SourceName: some(""), AuthorityOrganizationID: some("N/A"), ActiveUntil: some("n/a")}, want: patient.Identifier{Type: "Unknown", Value: "42", SourceName: "Unknown"}},
		"nothing":          {faults: []string{"value required"}},
		"blank":            {in: patient.IdentifierInput{Value: some("")}, faults: []string{"value blank"}},
		"n/a":              {in: patient.IdentifierInput{Value: some("n/a")}, faults: []string{"value blank"}},
		"no dates":         {in: patient.IdentifierInput{Value: some("42"), ActiveFrom: some("x"), ActiveUntil: some("2020-02-30")}, faults: []string{"activeFrom invalid_date", "activeUntil invalid_date"}},
		"end before start": {in: patient.IdentifierInput{Value: some("42"), ActiveFrom: some("2020-01-02"), ActiveUntil: some("2020-01-01")}, faults: []string{"activeUntil before_start"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := test.in.New(now)
			if diff := cmp.Diff(test.faults, codes(faults)); len(test.faults)+len(faults) > 0 && diff != "" {
				t.Error(diff)
			}
			test.want.Child = patient.Child{Version: 1, CreatedAt: now, UpdatedAt: now}
			if diff := cmp.Diff(test.want, got); len(faults) == 0 && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAWholeSocialSecurityNumberIsNoIdentifier(t *testing.T) {
	for _, kind := range []string{"SSN", "ssn", "S.S.N.", "SS", "Social Security Number", "US SSN"} {
		for _, value := range []string{"123-45-6789", "123456789", "123 45 6789"} {
			in := patient.IdentifierInput{Type: some(kind), Value: some(value)}
			_, faults := in.New(now)
			if diff := cmp.Diff([]string{"value ssn_not_kept"}, codes(faults)); diff != "" {
				t.Errorf("%s: %s", kind, diff)
			}
			if diff := cmp.Diff([]string{"value ssn_not_kept"}, codes(in.Validate(now))); diff != "" {
				t.Errorf("%s: %s", kind, diff)
			}
			// Nor does one become it in two steps.
			_, faults = patient.IdentifierInput{Type: some(kind)}.Apply(patient.Identifier{Type: "Unknown", Value: value}, now)
			if diff := cmp.Diff([]string{"value ssn_not_kept"}, codes(faults)); diff != "" {
				t.Errorf("%s: %s", kind, diff)
			}
		}
		if _, faults := (patient.IdentifierInput{Type: some(kind), Value: some("6789")}).New(now); len(faults) > 0 {
			t.Errorf("the last four digits: %v", faults)
		}
	}
	if _, faults := (patient.IdentifierInput{Type: some("MRN"), Value: some("123456789")}).New(now); len(faults) > 0 {
		t.Errorf("nine digits of something else: %v", faults)
	}
}

func TestAnIdentifierChangesByWhatIsGiven(t *testing.T) {
	before := patient.Identifier{
		Type: "MRN", Value: "42", SourceName: "intake", Authority: patient.Authority{OrganizationID: "o", ExternalSystemName: "S"},
		Interval: patient.Interval{From: moment("2020-01-01")},
	}
	none := some("n/a")
	after, faults := patient.IdentifierInput{
		Type: none, SourceName: none, AuthorityOrganizationID: none, AuthorityExternalSystemName: some("T"), ActiveFrom: none, ActiveUntil: some("2030-01-01"),
	}.Apply(before, now)
	want := patient.Identifier{
		Type: "Unknown", Value: "42", SourceName: "Unknown", Authority: patient.Authority{ExternalSystemName: "T"},
		Interval: patient.Interval{Until: moment("2030-01-01")},
	}
	if diff := cmp.Diff(want, after); len(faults) > 0 || diff != "" {
		t.Error(faults, diff)
	}
	if after, faults := (patient.IdentifierInput{}).Apply(before, now); len(faults) > 0 || after != before {
		t.Errorf("nothing given: %+v, %v", after, faults)
	}
	if diff := cmp.Diff([]string{"value blank", "activeFrom invalid_date"}, codes(patient.IdentifierInput{Value: none, ActiveFrom: some("x")}.Validate(now))); diff != "" {
		t.Error(diff)
	}
	_, faults = patient.IdentifierInput{ActiveUntil: some("2019-12-31")}.Apply(before, now)
	if diff := cmp.Diff([]string{"activeUntil before_start"}, codes(faults)); diff != "" {
		t.Error(diff)
	}
}

func TestTheCallersTenantIsTheAuthorityWhenNoneIsGiven(t *testing.T) {
	by := principal.Principal{TenantID: "tenant", Kind: principal.APIKey, Permissions: principal.PatientWrite}
	ctx := principal.With(t.Context(), by)
	asked := 0
	complete := patient.OwnAuthority(func(_ context.Context, tenant string) (string, error) {
		asked++
		return "Clinic of " + tenant, nil
	})
	own := patient.Authority{OrganizationID: "tenant", OrganizationName: "Clinic of tenant"}
	tests := map[string]struct {
		in    patient.IdentifierInput
		want  patient.Authority
		asked int
	}{
		"none":                  {patient.IdentifierInput{}, own, 1},
		"none said":             {patient.IdentifierInput{AuthorityOrganizationID: some(""), AuthorityExternalSystemName: some("n/a")}, own, 1},
		"an organization":       {patient.IdentifierInput{AuthorityOrganizationID: some("o")}, patient.Authority{OrganizationID: "o"}, 0},
		"an organization named": {patient.IdentifierInput{AuthorityOrganizationName: some("O")}, patient.Authority{OrganizationName: "O"}, 0},
		"a system":              {patient.IdentifierInput{AuthorityExternalSystemID: some("s")}, patient.Authority{ExternalSystemID: "s"}, 0},
		"a system named":        {patient.IdentifierInput{AuthorityExternalSystemName: some("S")}, patient.Authority{ExternalSystemName: "S"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			asked = 0
			test.in.Value = some("42")
			whole, err := complete(ctx, test.in)
			if err != nil {
				t.Fatal(err)
			}
			i, faults := whole.New(now)
			if len(faults) > 0 || i.Authority != test.want || asked != test.asked {
				t.Errorf("%+v, asked %d times, %v", i.Authority, asked, faults)
			}
		})
	}
	away := errors.New("away")
	complete = patient.OwnAuthority(func(context.Context, string) (string, error) { return "", away })
	if _, err := complete(ctx, patient.IdentifierInput{}); !errors.Is(err, away) {
		t.Error(err)
	}
	if _, err := complete(t.Context(), patient.IdentifierInput{}); !fault.Is(err, fault.Unauthenticated) {
		t.Error(err)
	}
}
