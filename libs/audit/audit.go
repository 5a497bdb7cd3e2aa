// Package audit leaves the record of who did what to whose data. The batch of a change also writes an entry into a queue
// of the service's own database, so that neither happens without the other; a read is answered once its entry is in the
// queue (Ledger). A relay carries the entries to the tenant service, which chains them per tenant. Entries name things by
// their ids: no name, address, text or secret ever stands in one. The package does not know what any action means.
package audit

import (
	"context"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Outcomes of an action.
const (
	Success = "success"
	Failure = "failure" // refused, or asked of what is not there
)

// Entry is one action as its service saw it. ID is the entry's own: it keeps one that arrives twice from being recorded
// twice.
type Entry struct {
	ID           string          `json:"id"`
	At           time.Time       `json:"at"`
	TenantID     string          `json:"tenantId"`
	Actor        principal.Actor `json:"actor"`
	CredentialID string          `json:"credentialId"`
	Action       string          `json:"action"` // a dotted name: patient.read
	PatientID    *int64          `json:"patientId"`
	Outcome      string          `json:"outcome"`
	TraceID      string          `json:"traceId"`
}

// Of is the entry of a successful action of the context's principal in its own tenant. Without a principal the actor is
// left to be filled in.
func Of(ctx context.Context, now time.Time, newID func() (uuid.UUID, error), action string) Entry {
	// A source of randomness that fails has nothing to go on with, as crypto/rand has it.
	e := Entry{ID: uuid.Must(newID()).String(), At: instant(now), Action: action, Outcome: Success}
	if p, ok := principal.From(ctx); ok {
		e.TenantID, e.Actor, e.CredentialID = p.TenantID, p.Actor(), p.CredentialID
	}
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		e.TraceID = span.TraceID().String()
	}
	return e
}

// instant is cut to what the wire shows, which is what the chain's hashes are made of.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// In is the entry in another tenant than the actor's: what is done to a tenant stands in that tenant's trail.
func (e Entry) In(tenant string) Entry {
	e.TenantID = tenant
	return e
}

// By is the entry of another actor than the context's principal: who signs in is no principal yet.
func (e Entry) By(actor principal.Actor, credential string) Entry {
	e.Actor, e.CredentialID = actor, credential
	return e
}

// About is the entry of an action on a patient. An id of 0 is none: what was asked for was no patient's id.
func (e Entry) About(patient int64) Entry {
	e.PatientID = nil
	if patient != 0 {
		e.PatientID = &patient
	}
	return e
}

// Failed is the entry of an action that was refused or found nothing.
func (e Entry) Failed() Entry {
	e.Outcome = Failure
	return e
}

// MostTenants bounds the trails that one event is written to.
const MostTenants = 20

// InEach is the entries of an event that concerns a user rather than one tenant, such as a sign-in: one in each of the
// tenants that the user is a member of, MostTenants at most. An event of nobody that is known has none: count it in a
// metric.
func (e Entry) InEach(newID func() (uuid.UUID, error), tenants ...string) []Entry {
	tenants = tenants[:min(len(tenants), MostTenants)]
	entries := make([]Entry, 0, len(tenants))
	for _, tenant := range tenants {
		e.ID, e.TenantID = uuid.Must(newID()).String(), tenant
		entries = append(entries, e)
	}
	return entries
}
