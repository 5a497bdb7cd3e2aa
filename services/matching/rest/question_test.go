package rest

import (
	"errors"
	"slices"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
)

// everything is a question in which each demographic says its own name.
func everything() (given matching.Given) {
	for d := range matching.Demographics {
		given[d] = d.String()
	}
	return given
}

func of[T any](v T) *T { return &v }

func TestParametersAndMembersAreReadAlike(t *testing.T) {
	t.Parallel()
	a := parameters(api.FindPatientsParams{
		FirstName: of(" firstName "), MiddleName: of("middleName"), LastName: of("lastName"), Suffix: of("suffix"), Dob: of("dob"), SexAtBirth: of("sexAtBirth"),
		Line1: of("line1"), City: of("city"), State: of("state"), PostalCode: of("postalCode"), Phone: of("phone"), Email: of("email"), Last4Ssn: of("last4Ssn"),
		Identifier: of("identifier"), Exact: of("True"), Limit: of("7"), MinScore: of("0.25"), After: of("after"),
	})
	var o body.Object
	o.Read([]byte(`{"firstName":" firstName ","middleName":"middleName","lastName":"lastName","suffix":"suffix","dob":"dob","sexAtBirth":"sexAtBirth","line1":"line1",
		"city":"city","state":"state","postalCode":"postalCode","phone":"phone","email":"email","last4Ssn":"last4Ssn","identifier":"identifier","exact":true,"limit":7,
		"minScore":0.25,"after":"after"}`))
	for way, a := range map[string]asked{"parameters": a, "members": members(&o)} {
		q := a.question
		if q.Given != everything() || !*q.Exact || *q.Limit != 7 || *q.MinScore != .25 || *a.after != "after" || q.Unreadable || a.faults() != nil {
			t.Errorf("%s: %+v, %v", way, a, a.faults())
		}
	}
}

func TestWhatCannotBeReadIsToldAtOnce(t *testing.T) {
	t.Parallel()
	a := parameters(api.FindPatientsParams{FirstName: of("A\x00na"), Exact: of("yes"), Limit: of("many"), MinScore: of("NaN"), Dob: of(" N/A ")})
	var refusal *fault.Error
	if !errors.As(a.faults(a.question.Validate(now)...), &refusal) {
		t.Fatal("taken")
	}
	var got []string
	for _, f := range refusal.Fields {
		got = append(got, f.Field+" "+f.Code)
	}
	if want := []string{"firstName control_character", "exact invalid_value", "limit out_of_range", "minScore out_of_range"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	for _, blank := range []string{"", "  ", "n/a", "N/A"} {
		a := parameters(api.FindPatientsParams{Exact: &blank, Limit: &blank, MinScore: &blank})
		if a.question != (matching.Question{}) || a.faults() != nil {
			t.Errorf("%q: %+v, %v", blank, a.question, a.faults())
		}
	}
}
