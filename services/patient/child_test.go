package patient_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

func TestParseWhich(t *testing.T) {
	if which, faults := patient.ParseWhich(nil); which != patient.ActiveOnly || len(faults) > 0 {
		t.Errorf("not given: %v, %v", which, faults)
	}
	for text, want := range map[string]patient.Which{
		"true": patient.ActiveOnly, "TRUE": patient.ActiveOnly, "false": patient.InactiveOnly, "False": patient.InactiveOnly, "all": patient.All, "ALL": patient.All,
	} {
		if which, faults := patient.ParseWhich(&text); which != want || len(faults) > 0 {
			t.Errorf("%q: %v, %v", text, which, faults)
		}
	}
	for _, text := range []string{"", "1", "yes", "any", " true"} {
		if _, faults := patient.ParseWhich(&text); len(faults) != 1 || codes(faults)[0] != "active invalid_value" {
			t.Errorf("%q: %v", text, faults)
		}
	}
}

// shelf keeps what was created last.
type shelf struct {
	patient.ChildStore[patient.Identifier]
	kept   patient.Identifier
	answer []byte
}

func (s *shelf) Create(
	_ context.Context, child patient.Identifier, _ principal.Principal, _ idempotency.Key, _ int, answer []byte, _ audit.Entry,
) (bool, *idempotency.Record, error) {
	s.kept, s.answer = child, answer
	return true, nil, nil
}

// Nobody else is asked on behalf of who may not, or of what breaks a rule.
func TestANewChildIsCompletedAfterItsRules(t *testing.T) {
	service := &patient.Service{Now: func() time.Time { return now }, NewID: uuid.NewV7}
	asked := 0
	name, away := "Clinic", error(nil)
	store := &shelf{}
	c := patient.Identifiers{Service: service, Store: store, Name: "identifier", Complete: func(_ context.Context, in patient.IdentifierInput) (patient.IdentifierInput, error) {
		asked++
		in.AuthorityOrganizationName = &name
		return in, away
	}}
	by := principal.Principal{TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "k", Permissions: principal.PatientRead}
	header := "key"
	key, _ := idempotency.Parse(by, &header)
	good := patient.IdentifierInput{Value: some("42")}
	answer := func(i patient.Identifier) ([]byte, error) { return []byte(i.ID + i.OrganizationName), nil }
	if _, _, err := c.Create(principal.With(t.Context(), by), 7, good, key, 200, answer); !fault.Is(err, fault.Denied) || asked != 0 {
		t.Errorf("a reader: %v, asked %d times", err, asked)
	}
	by.Permissions = principal.PatientWrite
	ctx := principal.With(t.Context(), by)
	if _, _, err := c.Create(ctx, 7, patient.IdentifierInput{}, key, 200, answer); !fault.Is(err, fault.Invalid) || asked != 0 {
		t.Errorf("a bad input: %v, asked %d times", err, asked)
	}
	made, repeat, err := c.Create(ctx, 7, good, key, 200, answer)
	if err != nil || repeat != nil || asked != 1 || made != store.kept || made.PatientID != 7 || string(store.answer) != made.ID+name {
		t.Errorf("%+v, %+v, %q, %v", made, repeat, store.answer, err)
	}
	away = errors.New("away")
	if _, _, err := c.Create(ctx, 7, good, key, 200, answer); !errors.Is(err, away) {
		t.Errorf("nobody answers: %v", err)
	}
}
