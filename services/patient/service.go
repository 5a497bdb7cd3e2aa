package patient

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

// FreePlanPatients is how many undeleted patients a tenant on the free plan may have.
const FreePlanPatients = 1000

// Store keeps patients. Every call sees one tenant's rows alone. A change keeps its audit entry in its own transaction;
// a read gives nothing before its entry is kept.
type Store interface {
	// Create stores a patient at version 1 with its history and gives it its id. Limit is how many undeleted patients
	// the tenant may have, or 0 for any number; over it the fault is PlanLimit. When the key was used before, repeat
	// is the record of that time and nothing is stored, the entry neither; answer is the answer to record, with no id
	// yet. The entry is completed by the id.
	Create(ctx context.Context, p Patient, by principal.Principal, limit int, key idempotency.Key, answer []byte, e audit.Entry) (id int64, repeat *idempotency.Record, err error)
	// Read gives a patient that is not deleted; nil when there is none, which makes the entry a failure.
	Read(ctx context.Context, tenant string, id int64, e audit.Entry) (*Patient, error)
	// Live reports whether there is such a patient who is not deleted. It keeps no entry.
	Live(ctx context.Context, tenant string, id int64) (bool, error)
	// Find gives the patient that is to be changed, a deleted one only if asked to; nil when there is none. The entry is
	// kept, as a failure, only when there is none: the change keeps its own.
	Find(ctx context.Context, tenant string, id int64, deleted bool, e audit.Entry) (*Patient, error)
	// Save writes a changed patient over the version it was read at, with its history and entry. Saved is false, and
	// nothing happened, when another change came first.
	Save(ctx context.Context, after Patient, change Change, limit int) (saved bool, err error)
	// Keep keeps the entry of a change that changed nothing.
	Keep(ctx context.Context, e audit.Entry) error
	// List gives the page of undeleted patients, one more than its size when the list goes on, and their exact number.
	List(ctx context.Context, tenant string, part page.Request, e audit.Entry) (list []Patient, total int64, err error)
	// History gives the page of a patient's changes, newest first, one more than its size when the list goes on. Of a
	// patient that is deleted or not there found is false, and the entry a failure.
	History(ctx context.Context, tenant string, id int64, part page.Request, e audit.Entry) (list []HistoryEntry, total int64, found bool, err error)
}

// Change is what history and the audit trail keep of a change, and what it does to the number of patients.
type Change struct {
	By     principal.Principal
	What   string
	Fields []string
	Count  int // +1, 0 or -1 undeleted patients
	Entry  audit.Entry
}

// Service is the verbs. It is safe for concurrent use.
type Service struct {
	Store Store
	Now   func() time.Time
	NewID func() (uuid.UUID, error)
}

// now is cut to what the wire shows, so that an answer and a later read agree.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

// entry is what the audit trail keeps of an action on a patient; id 0 is none.
func (s *Service) entry(ctx context.Context, action string, id int64) audit.Entry {
	return audit.Of(ctx, s.Now(), s.NewID, action).About(id)
}

func missing() error {
	return fault.New(fault.NotFound, "patient_not_found", "There is no such patient.")
}

// Create stores a new patient, always: alike or not to any other. Answer makes the body that a repeat under the same
// idempotency key gets; it is called with the id still 0.
func (s *Service) Create(ctx context.Context, in Input, key idempotency.Key, answer func(Patient) ([]byte, error)) (Patient, *idempotency.Record, error) {
	by, err := principal.Require(ctx, principal.PatientWrite)
	if err != nil {
		return Patient{}, nil, err
	}
	p, faults := New(in, s.now())
	if len(faults) > 0 {
		return Patient{}, nil, fault.InvalidFields(faults)
	}
	var body []byte
	if key.Given() {
		if body, err = answer(p); err != nil {
			return Patient{}, nil, err
		}
	}
	e := s.entry(ctx, auditCreate, 0)
	id, repeat, err := s.Store.Create(ctx, p, by, limit(by), key, body, e)
	if fault.Is(err, fault.PlanLimit) {
		err = refused(ctx, s.Store, e, err)
	}
	p.ID = id
	return p, repeat, err
}

func limit(by principal.Principal) int {
	if by.Plan == principal.PlanFree {
		return FreePlanPatients
	}
	return 0
}

// Read gives a patient that is not deleted.
func (s *Service) Read(ctx context.Context, id int64) (Patient, error) {
	return s.read(ctx, id, auditRead)
}

// ReadDeceased gives a patient of whom only the death is to be shown.
func (s *Service) ReadDeceased(ctx context.Context, id int64) (Patient, error) {
	return s.read(ctx, id, auditDeceasedRead)
}

func (s *Service) read(ctx context.Context, id int64, action string) (Patient, error) {
	by, err := principal.Require(ctx, principal.PatientRead)
	if err != nil {
		return Patient{}, err
	}
	p, err := s.Store.Read(ctx, by.TenantID, id, s.entry(ctx, action, id))
	if err != nil {
		return Patient{}, err
	}
	if p == nil {
		return Patient{}, missing()
	}
	return *p, nil
}

// Live reports whether there is such a patient who is not deleted, to a caller who may do what it is asked for. What is
// done then is the business of another service, and so is the entry of it.
func (s *Service) Live(ctx context.Context, id int64, need principal.Permission) (bool, error) {
	by, err := principal.Require(ctx, need)
	if err != nil {
		return false, err
	}
	return s.Store.Live(ctx, by.TenantID, id)
}

// List gives a page of the tenant's undeleted patients and their number.
func (s *Service) List(ctx context.Context, part page.Request) ([]Patient, int64, error) {
	by, err := principal.Require(ctx, principal.PatientRead)
	if err != nil {
		return nil, 0, err
	}
	return s.Store.List(ctx, by.TenantID, part, s.entry(ctx, auditList, 0))
}

// History gives a page of a patient's changes, newest first, and their number.
func (s *Service) History(ctx context.Context, id int64, part page.Request) ([]HistoryEntry, int64, error) {
	by, err := principal.Require(ctx, principal.PatientRead)
	if err != nil {
		return nil, 0, err
	}
	list, total, found, err := s.Store.History(ctx, by.TenantID, id, part, s.entry(ctx, auditHistory, id))
	if err == nil && !found {
		err = missing()
	}
	return list, total, err
}

// ValueSets checks that the caller may read them; they are the same for all.
func (s *Service) ValueSets(ctx context.Context) error {
	_, err := principal.Require(ctx, principal.PatientRead)
	return err
}

// Update applies what an input gives.
func (s *Service) Update(ctx context.Context, id int64, in Input, may Precondition) (Patient, error) {
	return s.change(ctx, id, verb{
		need: principal.PatientWrite, what: Updated, action: auditUpdate, may: may, faults: in.Validate(s.now()),
		apply: func(p Patient, now time.Time) (Patient, []fault.Field) { return p.With(in, now) },
	})
}

// Delete marks a patient deleted.
func (s *Service) Delete(ctx context.Context, id int64, may Precondition) error {
	_, err := s.change(ctx, id, verb{
		need: principal.PatientDelete, what: Deleted, action: auditDelete, count: -1, may: may,
		apply: func(p Patient, now time.Time) (Patient, []fault.Field) {
			p.DeletedAt = &now
			return p, nil
		},
	})
	return err
}

// Restore brings a deleted patient back. One that is not deleted stays as it is.
func (s *Service) Restore(ctx context.Context, id int64, may Precondition) (Patient, error) {
	return s.change(ctx, id, verb{
		need: principal.PatientRestore, what: Restored, action: auditRestore, count: +1, deleted: true, may: may,
		apply: func(p Patient, _ time.Time) (Patient, []fault.Field) {
			p.DeletedAt = nil
			return p, nil
		},
	})
}

// MarkDeceased records a death.
func (s *Service) MarkDeceased(ctx context.Context, id int64, notice DeathNotice, may Precondition) (Patient, error) {
	_, faults := Patient{}.Died(notice, s.now())
	return s.change(ctx, id, verb{
		need: principal.PatientWrite, what: DeceasedMarked, action: auditDeceasedMark, faults: faults, may: may,
		apply: func(p Patient, now time.Time) (Patient, []fault.Field) { return p.Died(notice, now) },
	})
}

// UnmarkDeceased undoes a mistaken record of a death.
func (s *Service) UnmarkDeceased(ctx context.Context, id int64, may Precondition) (Patient, error) {
	return s.change(ctx, id, verb{
		need: principal.PatientWrite, what: DeceasedUnmarked, action: auditDeceasedUnmark, may: may,
		apply: func(p Patient, now time.Time) (Patient, []fault.Field) { return p.Alive(now), nil },
	})
}

// verb is one way to change a patient.
type verb struct {
	need    principal.Permission
	what    string
	action  string
	count   int
	deleted bool          // works on deleted patients
	faults  []fault.Field // what is wrong whoever the patient is, and is told even when there is none
	may     Precondition
	apply   func(p Patient, now time.Time) (Patient, []fault.Field)
}

// change reads, applies and saves over the version it read.
func (s *Service) change(ctx context.Context, id int64, v verb) (Patient, error) {
	by, err := principal.Require(ctx, v.need)
	if err != nil {
		return Patient{}, err
	}
	if len(v.faults) > 0 {
		return Patient{}, fault.InvalidFields(v.faults)
	}
	return revise.UntilSaved(ctx, "patient", func() (Patient, bool, error) { return s.attempt(ctx, id, by, v) })
}

// attempt is one way through a change.
func (s *Service) attempt(ctx context.Context, id int64, by principal.Principal, v verb) (after Patient, saved bool, err error) {
	e := s.entry(ctx, v.action, id)
	before, err := s.Store.Find(ctx, by.TenantID, id, v.deleted, e)
	if err != nil {
		return Patient{}, false, err
	}
	if before == nil {
		return Patient{}, false, missing()
	}
	after, fields, err := s.apply(*before, v)
	if err != nil {
		return Patient{}, false, refused(ctx, s.Store, e, err)
	}
	if len(fields) == 0 && (before.DeletedAt == nil) == (after.DeletedAt == nil) {
		return *before, true, s.Store.Keep(ctx, e) // nothing to change: the version and its tag stay
	}
	bound := 0
	if v.count > 0 {
		bound = limit(by)
	}
	saved, err = s.Store.Save(ctx, after, Change{By: by, What: v.what, Fields: fields, Count: v.count, Entry: e}, bound)
	if fault.Is(err, fault.PlanLimit) {
		err = refused(ctx, s.Store, e, err)
	}
	return after, saved, err
}

// apply makes the next version of what was read, with the fields in which they differ, or says why there can be none.
func (s *Service) apply(before Patient, v verb) (after Patient, fields []string, err error) {
	now := s.now()
	after, faults := v.apply(before, now)
	if err := permitted(faults, v.may, before.Version); err != nil {
		return Patient{}, nil, err
	}
	after.UpdatedAt = now
	after.Version = before.Version + 1
	return after, Diff(before, after), nil
}
