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
)

// Store keeps documents. Every call sees one tenant's rows alone. A change keeps its audit entry in its own transaction; a
// read gives nothing before its entry is kept.
type Store interface {
	// Create stores a document at version 1. When the key was used before, repeat is the record of that time and nothing is
	// stored, the entry neither. Status and answer are what to record.
	Create(ctx context.Context, tenant string, d Document, key idempotency.Key, status int, answer []byte, e audit.Entry) (repeat *idempotency.Record, err error)
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
	// their exact number. Payloads are given as far as MostPayload goes.
	Search(ctx context.Context, tenant string, patientID int64, f Filter, part page.Request, e audit.Entry) (list []Document, total int64, err error)
	// Echo is Search for whoever keeps the entry of the whole record: it keeps none. Without payloads it gives none, and
	// omits none.
	Echo(ctx context.Context, tenant string, patientID int64, part page.Request, payloads bool) (list []Document, total int64, err error)
}

// MostPayload is how many bytes of payloads one page shows together.
const MostPayload = 16 << 20

// Precondition says whether a version may be changed; its error is the answer when it may not.
type Precondition func(version int64) error

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

// open begins a verb: the caller must hold the permission, the input must break no rule, and the patient must be there.
// That they are not is kept, as every question about a patient is.
func (s *Service) open(ctx context.Context, need principal.Permission, e func() audit.Entry, check func() error) (principal.Principal, error) {
	by, err := principal.Require(ctx, need)
	if err != nil {
		return by, err
	}
	if err := check(); err != nil {
		return by, err
	}
	if PatientLive(ctx) {
		return by, nil
	}
	if err := s.Store.Keep(ctx, e().Failed()); err != nil {
		return by, err
	}
	return by, fault.New(fault.NotFound, "patient_not_found", "There is no such patient.")
}

func missing() error {
	return fault.New(fault.NotFound, "document_not_found", "There is no such document.")
}
