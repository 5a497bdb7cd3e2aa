package patient

import (
	"context"
	"encoding/json"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// RecordLimit is how many children of one kind a record shows.
const RecordLimit = 500

// Record is a patient with all that hangs on them: of each kind the active ones, in the order of their ids, RecordLimit
// at most.
type Record struct {
	Patient     Patient
	Addresses   Cut[Address]
	Aliases     Cut[Alias]
	Identifiers Cut[Identifier]
	Contacts    Cut[Contact]
}

// Cut is a list that was read one entry longer than it is shown, so that it is known to go on.
type Cut[T any] []T

// Shown is the list as far as it is shown.
func (c Cut[T]) Shown() []T { return c[:min(len(c), RecordLimit)] }

// Truncated reports whether some are not shown.
func (c Cut[T]) Truncated() bool { return len(c) > RecordLimit }

// Manifest tells what there is of a patient, and nothing of what it says.
type Manifest struct {
	PatientID   int64
	Addresses   Listing
	Aliases     Listing
	Identifiers Listing
	Contacts    Listing
}

// Listing is what a manifest tells of one kind.
type Listing struct {
	Count int64
	Items Cut[Item]
}

// Item is what a manifest tells of one child.
type Item struct {
	ID        string    `db:"id"`
	Type      string    `db:"type"` // an address's use, a contact's system, else the type
	CreatedAt time.Time `db:"created_at"`
}

// View is how much of a record is shown.
type View string

// The views.
const (
	FullView     View = "full"     // all of it
	PageView     View = "page"     // the patient and one page of documents
	ManifestView View = "manifest" // no demographics, no payload
)

// Documents is what another service tells of a patient's documents: JSON that goes on as it came.
type Documents struct {
	Shown     json.RawMessage
	Truncated bool   // there are more than are shown, or a payload is left out
	Next      string // the id after which a page's list goes on; empty at the end
}

// DocumentKeeper is who keeps the documents. It answers in the name of whoever stands in the context.
type DocumentKeeper interface {
	// Documents tells of a patient's active documents, in the form of a view. Part is of the page view.
	Documents(ctx context.Context, patientID int64, view View, part page.Request) (Documents, error)
}

// RecordStore reads records. Every call sees one tenant's rows alone, and gives nil for a patient that is deleted or not
// there. It keeps no audit entry.
type RecordStore interface {
	Record(ctx context.Context, tenant string, id int64, now time.Time) (*Record, error)
	Manifest(ctx context.Context, tenant string, id int64, now time.Time) (*Manifest, error)
	Patient(ctx context.Context, tenant string, id int64) (*Patient, error)
}

// Records is the verbs on whole records. It is safe for concurrent use.
type Records struct {
	Service   *Service // whose clock, ids and trail it uses
	Store     RecordStore
	Documents DocumentKeeper
}

// Read gives a patient with all that hangs on them. The documents are nil when they cannot be shown: the caller may not
// read any, or, where the caller takes a partial record, whoever keeps them is away.
func (r *Records) Read(ctx context.Context, id int64, partial bool) (Record, *Documents, error) {
	return gather(ctx, r, id, partial, FullView, page.Request{}, func(ctx context.Context, tenant string) (*Record, error) {
		return r.Store.Record(ctx, tenant, id, r.Service.now())
	})
}

// Page gives a patient and one page of documents. The documents are nil as Read's are.
func (r *Records) Page(ctx context.Context, id int64, part page.Request, partial bool) (Patient, *Documents, error) {
	return gather(ctx, r, id, partial, PageView, part, func(ctx context.Context, tenant string) (*Patient, error) {
		return r.Store.Patient(ctx, tenant, id)
	})
}

// Manifest tells what there is of a patient. The documents are nil as Read's are.
func (r *Records) Manifest(ctx context.Context, id int64, partial bool) (Manifest, *Documents, error) {
	return gather(ctx, r, id, partial, ManifestView, page.Request{}, func(ctx context.Context, tenant string) (*Manifest, error) {
		return r.Store.Manifest(ctx, tenant, id, r.Service.now())
	})
}

// documentsLimit is how long a record waits for its documents: so much less than its whole time that an answer without
// them still comes.
const documentsLimit = 5 * time.Second

// gather reads what this service keeps of a record and, at the same time, asks for the documents. That there is no such
// patient is known without them.
func gather[T any](
	ctx context.Context, r *Records, id int64, partial bool, view View, part page.Request,
	read func(ctx context.Context, tenant string) (*T, error),
) (found T, documents *Documents, err error) {
	by, err := principal.Require(ctx, principal.PatientRead)
	if err != nil {
		return found, nil, err
	}
	asking, cancel := context.WithTimeout(ctx, documentsLimit)
	defer cancel()
	type answer struct {
		documents *Documents
		err       error
	}
	answered := make(chan answer, 1) // nobody may be there to take it
	if by.Permissions.Has(principal.DocumentRead) {
		go func() {
			d, err := r.Documents.Documents(asking, id, view, part)
			answered <- answer{&d, err}
		}()
	} else {
		answered <- answer{}
	}
	kept, err := read(ctx, by.TenantID)
	if err != nil {
		return found, nil, err
	}
	e := r.Service.entry(ctx, auditRecordRead, id)
	if kept == nil {
		return found, nil, refused(ctx, r.Service.Store, e, missing())
	}
	got := <-answered
	switch {
	case got.err != nil && !partial:
		return found, nil, refused(ctx, r.Service.Store, e, got.err)
	case got.err != nil:
		got.documents = nil
	}
	return *kept, got.documents, r.Service.Store.Keep(ctx, e)
}
