package attachment

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/revise"
)

// Store keeps documents. Every call sees one tenant's rows alone. A change keeps its audit entry in its own transaction; a
// read gives nothing before its entry is kept.
type Store interface {
	// Create stores a document at version 1. When the key was used before, repeat is the record of that time and nothing is
	// stored, the entry neither. Status and answer are what to record.
	Create(
		ctx context.Context, tenant string, d Document, key idempotency.Key, status int, answer []byte, e audit.Entry,
	) (repeat *idempotency.Record, err error)
	// Read gives a document that was not deactivated; nil when there is none, which makes the entry a failure.
	Read(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*Document, error)
	// Find gives the document that is to be changed. The entry is kept, as a failure, only when there is none: the change
	// keeps its own.
	Find(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*Document, error)
	// Save writes a changed document over the version that it was read at, with its entry. Saved is false, and nothing
	// happened, when another change came first.
	Save(ctx context.Context, tenant string, before, after Document, e audit.Entry) (saved bool, err error)
	// Keep keeps the entry of a change that changed nothing, or of what was refused.
	Keep(ctx context.Context, e audit.Entry) error
	// Search gives the page of the documents that a filter lets through, one more than its size when the list goes on, and
	// their exact number. Their payloads are given as far as MostPayload goes; the others are omitted.
	Search(ctx context.Context, tenant string, patientID int64, f Filter, part page.Request, e audit.Entry) (list []Document, total int64, err error)
	// Echo is Search of the active ones for whoever keeps the entry of the whole record: it keeps none. Without payloads it
	// gives none, and calls none omitted.
	Echo(ctx context.Context, tenant string, patientID int64, part page.Request, payloads bool) (list []Document, total int64, err error)
}

// MostPayload is how many bytes of payloads one page shows together.
const MostPayload = 16 << 20

// Service is the verbs. It is safe for concurrent use.
type Service struct {
	Store Store
	Now   func() time.Time
	NewID func() (uuid.UUID, error)
}

// now is cut to what the wire shows, so that an answer and a later read agree.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// entry is what the audit trail keeps of an action on a patient; id 0 is none.
func (s *Service) entry(ctx context.Context, action string, patientID int64) audit.Entry {
	return audit.Of(ctx, s.Now(), s.NewID, action).About(patientID)
}

// present is nil where there is the patient that the request names. That there is none is kept, as every question about a
// patient is. A verb asks it after it has judged the request.
func (s *Service) present(ctx context.Context, e audit.Entry) error {
	if PatientLive(ctx) && e.PatientID != nil { // an id that is none is nobody's, whoever says what
		return nil
	}
	return s.refused(ctx, e, fault.New(fault.NotFound, "patient_not_found", "There is no such patient."))
}

// refused keeps that an action was, and gives the refusal.
func (s *Service) refused(ctx context.Context, e audit.Entry, refusal error) error {
	if err := s.Store.Keep(ctx, e.Failed()); err != nil {
		return err
	}
	return refusal
}

func missing() error {
	return fault.New(fault.NotFound, "document_not_found", "There is no such document.")
}

// Create stores a new document. Answer makes the body that a repeat under the same idempotency key gets, with the status.
func (s *Service) Create(
	ctx context.Context, patientID int64, in Input, key idempotency.Key, status int, answer func(Document) ([]byte, error),
) (Document, *idempotency.Record, error) {
	by, err := principal.Require(ctx, principal.DocumentWrite)
	if err != nil {
		return Document{}, nil, err
	}
	if err := in.Oversized(); err != nil {
		return Document{}, nil, err
	}
	d, faults := New(in, s.now())
	if len(faults) > 0 {
		return Document{}, nil, fault.InvalidFields(faults)
	}
	e := s.entry(ctx, auditCreate, patientID)
	if err := s.present(ctx, e); err != nil {
		return Document{}, nil, err
	}
	d.ID, d.PatientID = uuid.Must(s.NewID()).String(), patientID
	var body []byte
	if key.Given() {
		if body, err = answer(d); err != nil {
			return Document{}, nil, err
		}
	}
	repeat, err := s.Store.Create(ctx, by.TenantID, d, key, status, body, e)
	if err != nil {
		return Document{}, nil, err
	}
	return d, repeat, nil
}

// Read gives a document that was not deactivated.
func (s *Service) Read(ctx context.Context, patientID int64, id string) (Document, error) {
	by, err := principal.Require(ctx, principal.DocumentRead)
	if err != nil {
		return Document{}, err
	}
	e := s.entry(ctx, auditRead, patientID)
	if err := s.present(ctx, e); err != nil {
		return Document{}, err
	}
	d, err := s.Store.Read(ctx, by.TenantID, patientID, id, e)
	if err != nil {
		return Document{}, err
	}
	if d == nil {
		return Document{}, missing()
	}
	return *d, nil
}

// Search gives a page of a patient's documents and their number.
func (s *Service) Search(ctx context.Context, patientID int64, f Filter, part page.Request) ([]Document, int64, error) {
	by, err := principal.Require(ctx, principal.DocumentRead)
	if err != nil {
		return nil, 0, err
	}
	e := s.entry(ctx, auditList, patientID)
	if err := s.present(ctx, e); err != nil {
		return nil, 0, err
	}
	return s.Store.Search(ctx, by.TenantID, patientID, f, part, e)
}

// Echo gives a page of a patient's active documents to who shows the whole record: who knows whether there is the patient,
// and keeps the entry of it all.
func (s *Service) Echo(ctx context.Context, patientID int64, part page.Request, payloads bool) ([]Document, int64, error) {
	by, err := principal.Require(ctx, principal.DocumentRead)
	if err != nil {
		return nil, 0, err
	}
	return s.Store.Echo(ctx, by.TenantID, patientID, part, payloads)
}

// Precondition says whether a version may be changed; its error is the answer when it may not.
type Precondition func(version int64) error

// Update applies what an input gives.
func (s *Service) Update(ctx context.Context, patientID int64, id string, in Input, may Precondition) (Document, error) {
	judge := func() error {
		if err := in.Oversized(); err != nil {
			return err
		}
		if faults := in.Validate(); len(faults) > 0 {
			return fault.InvalidFields(faults)
		}
		return nil
	}
	return s.change(ctx, patientID, id, verb{
		action: auditUpdate, judge: judge, may: may,
		apply: func(d Document, _ time.Time) (Document, []fault.Field) { return d.With(in) },
	})
}

// Deactivate takes a document out of sight, and its bytes with it.
func (s *Service) Deactivate(ctx context.Context, patientID int64, id string, may Precondition) error {
	_, err := s.change(ctx, patientID, id, verb{
		action: auditDelete, judge: func() error { return nil }, may: may,
		apply: func(d Document, now time.Time) (Document, []fault.Field) {
			d.DeactivatedAt = &now
			return d, nil
		},
	})
	return err
}

// verb is one way to change a document.
type verb struct {
	action string
	judge  func() error // what is wrong whatever the document is, and is told even when there is none
	may    Precondition
	apply  func(d Document, now time.Time) (Document, []fault.Field)
}

// change reads, applies and saves over the version it read. No lock is held between the two trips; when another change
// came first it starts over, after a pause that chance makes longer the more there are, until the request's deadline.
func (s *Service) change(ctx context.Context, patientID int64, id string, v verb) (Document, error) {
	by, err := principal.Require(ctx, principal.DocumentWrite)
	if err != nil {
		return Document{}, err
	}
	if err := v.judge(); err != nil {
		return Document{}, err
	}
	e := s.entry(ctx, v.action, patientID)
	if err := s.present(ctx, e); err != nil {
		return Document{}, err
	}
	return revise.UntilSaved(ctx, "document", func() (Document, bool, error) { return s.attempt(ctx, by.TenantID, patientID, id, v, e) })
}

// attempt is one way through a change.
func (s *Service) attempt(
	ctx context.Context, tenant string, patientID int64, id string, v verb, e audit.Entry,
) (after Document, saved bool, err error) {
	before, err := s.Store.Find(ctx, tenant, patientID, id, e)
	if err != nil {
		return Document{}, false, err
	}
	if before == nil {
		return Document{}, false, missing()
	}
	now := s.now()
	after, faults := v.apply(*before, now)
	if len(faults) > 0 {
		return Document{}, false, s.refused(ctx, e, fault.InvalidFields(faults))
	}
	if v.may != nil {
		if err := v.may(before.Version); err != nil {
			return Document{}, false, s.refused(ctx, e, err)
		}
	}
	if same(*before, after) {
		return *before, true, s.Store.Keep(ctx, e) // nothing to change: the version and its tag stay
	}
	after.Version, after.UpdatedAt = before.Version+1, now
	saved, err = s.Store.Save(ctx, tenant, *before, after, e)
	return after, saved, err
}
