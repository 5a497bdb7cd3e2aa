package patient

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/revise"
)

// Child is what every noun that hangs on a patient has: addresses, contacts, aliases and identifiers.
type Child struct {
	ID            string     `db:"id"` // a UUIDv7: ids grow with creation
	PatientID     int64      `db:"patient_id"`
	Version       int64      `db:"version"` // 1 at creation, one more at each change
	CreatedAt     time.Time  `db:"created_at"`
	UpdatedAt     time.Time  `db:"updated_at"`
	DeactivatedAt *time.Time `db:"deactivated_at"` // nil while nobody deactivated it
}

// born is a child that is made now.
func born(now time.Time) Child { return Child{Version: 1, CreatedAt: now, UpdatedAt: now} }

// Base gives what all kinds of children share, to read and to set.
func (c *Child) Base() *Child { return c }

// Noun is one kind of child.
type Noun[N any] interface {
	*N
	Base() *Child
	// Active says whether it holds now: it was not deactivated, and now lies in its interval if it has one.
	Active(now time.Time) bool
}

// ChildInput is what a caller gives of a child of kind N. Nil members are what was not given.
type ChildInput[N any] interface {
	// New makes a child of it, or tells every rule that it breaks.
	New(now time.Time) (N, []fault.Field)
	// Apply is the child with what was given applied.
	Apply(to N, now time.Time) (N, []fault.Field)
	// Validate tells the rules that it breaks whatever child it is meant for.
	Validate(now time.Time) []fault.Field
}

// Which says which children of a patient are listed.
type Which int

// The lists of children.
const (
	ActiveOnly Which = iota
	InactiveOnly
	All
)

// ParseWhich reads the query parameter active: true, false or all, in any case; nil is true.
func ParseWhich(active *string) (Which, []fault.Field) {
	if active == nil {
		return ActiveOnly, nil
	}
	switch strings.ToLower(*active) {
	case "true":
		return ActiveOnly, nil
	case "false":
		return InactiveOnly, nil
	case "all":
		return All, nil
	}
	return ActiveOnly, []fault.Field{{Field: "active", Code: "invalid_value", Message: "must be true, false or all"}}
}

// ChildStore keeps the children of one kind. Every call sees one tenant's rows alone, and none of a patient that is
// deleted or not there.
type ChildStore[N any] interface {
	// Create stores a child at version 1. Found is false, and the entry a failure, when there is no such patient. When
	// the key was used before, repeat is the record of that time and nothing is stored. Status and answer are what to
	// record. A child that another one forbids is a fault of kind Conflict, and the entry a failure.
	Create(ctx context.Context, child N, by principal.Principal, key idempotency.Key, status int, answer []byte, e audit.Entry) (found bool, repeat *idempotency.Record, err error)
	// List gives a page of a patient's children, one more than its size when the list goes on, and their exact number.
	List(ctx context.Context, tenant string, patientID int64, which Which, now time.Time, part page.Request, e audit.Entry) (list []N, total int64, found bool, err error)
	// Read gives a child that was not deactivated; nil when there is none, which makes the entry a failure.
	Read(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*N, error)
	// Find gives the child that is to be changed. The entry is kept, as a failure, only when there is none.
	Find(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*N, error)
	// Save writes a changed child over the version before. Saved is false, and nothing happened, when another change
	// came first or the patient is gone. A child that another one forbids is what it is to Create.
	Save(ctx context.Context, tenant string, after N, e audit.Entry) (saved bool, err error)
	// Keep keeps the entry of a change that changed nothing, or was refused.
	Keep(ctx context.Context, e audit.Entry) error
}

// Children is the verbs on the children of one kind. It is safe for concurrent use.
type Children[N any, P Noun[N], I ChildInput[N]] struct {
	Service *Service // whose clock and ids it uses
	Store   ChildStore[N]
	Name    string // of the kind; its actions are <name>.create, .list, .read, .update and .delete
	// Complete fills in what a new child takes from elsewhere; nil: nothing.
	Complete func(ctx context.Context, in I) (I, error)
}

// entry is what the audit trail keeps of an action on a child: whose it is, not which.
func (c *Children[N, P, I]) entry(ctx context.Context, action string, patientID int64) audit.Entry {
	return c.Service.entry(ctx, c.Name+action, patientID)
}

// missing tells of a child that is not there, or whose patient is not.
func (c *Children[N, P, I]) missing() error {
	return fault.New(fault.NotFound, c.Name+"_not_found", "There is no such "+c.Name+".")
}

// childID is an id as we write them, or one that no child has.
func childID(text string) string {
	id, err := uuid.Parse(text)
	if err != nil || id.String() != text {
		return uuid.Nil.String()
	}
	return text
}

// Create stores a new child of a patient. Answer makes the body that a repeat under the same idempotency key gets; of a
// repeat the child has the id of what was created then.
func (c *Children[N, P, I]) Create(
	ctx context.Context, patientID int64, in I, key idempotency.Key, status int, answer func(N) ([]byte, error),
) (N, *idempotency.Record, error) {
	var none N
	by, err := principal.Require(ctx, principal.PatientWrite)
	if err != nil {
		return none, nil, err
	}
	child, err := c.make(ctx, patientID, in)
	if err != nil {
		return none, nil, err
	}
	var body []byte
	if key.Given() {
		if body, err = answer(child); err != nil {
			return none, nil, err
		}
	}
	found, repeat, err := c.Store.Create(ctx, child, by, key, status, body, c.entry(ctx, auditChildCreate, patientID))
	switch {
	case err != nil:
		return none, nil, err
	case !found:
		return none, nil, missing()
	case repeat != nil:
		P(&child).Base().ID = repeat.ResourceID
	}
	return child, repeat, nil
}

// make is a child of an input, complete, with an id of its own.
func (c *Children[N, P, I]) make(ctx context.Context, patientID int64, in I) (N, error) {
	now := c.Service.now()
	child, faults := in.New(now)
	if len(faults) > 0 {
		return child, fault.InvalidFields(faults)
	}
	if c.Complete != nil {
		whole, err := c.Complete(ctx, in)
		if err != nil {
			return child, err
		}
		if child, faults = whole.New(now); len(faults) > 0 {
			return child, fault.InvalidFields(faults)
		}
	}
	id, err := c.Service.NewID()
	if err != nil {
		return child, err
	}
	base := P(&child).Base()
	base.ID, base.PatientID = id.String(), patientID
	return child, nil
}

// List gives a page of a patient's children and their number.
func (c *Children[N, P, I]) List(ctx context.Context, patientID int64, which Which, part page.Request) ([]N, int64, error) {
	by, err := principal.Require(ctx, principal.PatientRead)
	if err != nil {
		return nil, 0, err
	}
	list, total, found, err := c.Store.List(ctx, by.TenantID, patientID, which, c.Service.now(), part, c.entry(ctx, auditChildList, patientID))
	if err == nil && !found {
		err = missing()
	}
	return list, total, err
}

// Read gives a child that was not deactivated, be it outside its interval.
func (c *Children[N, P, I]) Read(ctx context.Context, patientID int64, id string) (N, error) {
	var none N
	by, err := principal.Require(ctx, principal.PatientRead)
	if err != nil {
		return none, err
	}
	child, err := c.Store.Read(ctx, by.TenantID, patientID, childID(id), c.entry(ctx, auditChildRead, patientID))
	if err != nil {
		return none, err
	}
	if child == nil {
		return none, c.missing()
	}
	return *child, nil
}

// Update applies what an input gives.
func (c *Children[N, P, I]) Update(ctx context.Context, patientID int64, id string, in I, may Precondition) (N, error) {
	return c.change(ctx, patientID, id, childVerb[N]{
		action: auditChildUpdate, may: may, faults: in.Validate(c.Service.now()), apply: in.Apply,
	})
}

// Deactivate takes a child out of every default list, for good.
func (c *Children[N, P, I]) Deactivate(ctx context.Context, patientID int64, id string, may Precondition) error {
	_, err := c.change(ctx, patientID, id, childVerb[N]{
		action: auditChildDelete, may: may,
		apply: func(child N, now time.Time) (N, []fault.Field) {
			P(&child).Base().DeactivatedAt = &now
			return child, nil
		},
	})
	return err
}

// childVerb is one way to change a child.
type childVerb[N any] struct {
	action string
	faults []fault.Field // what is wrong whichever child it is, and is told even when there is none
	may    Precondition
	apply  func(child N, now time.Time) (N, []fault.Field)
}

// change reads, applies and saves over the version it read, as Service.change does.
func (c *Children[N, P, I]) change(ctx context.Context, patientID int64, id string, v childVerb[N]) (N, error) {
	var none N
	by, err := principal.Require(ctx, principal.PatientWrite)
	if err != nil {
		return none, err
	}
	if len(v.faults) > 0 {
		return none, fault.InvalidFields(v.faults)
	}
	return revise.UntilSaved(ctx, c.Name, func() (N, bool, error) { return c.attempt(ctx, by.TenantID, patientID, childID(id), v) })
}

// attempt is one way through a change.
func (c *Children[N, P, I]) attempt(ctx context.Context, tenant string, patientID int64, id string, v childVerb[N]) (after N, saved bool, err error) {
	e := c.entry(ctx, v.action, patientID)
	before, err := c.Store.Find(ctx, tenant, patientID, id, e)
	if err != nil {
		return after, false, err
	}
	if before == nil {
		return after, false, c.missing()
	}
	now := c.Service.now()
	after, faults := v.apply(*before, now)
	if err := permitted(faults, v.may, P(before).Base().Version); err != nil {
		return after, false, refused(ctx, c.Store, e, err)
	}
	if any(*before) == any(after) {
		return after, true, c.Store.Keep(ctx, e) // nothing to change: the version and its tag stay
	}
	base := P(&after).Base()
	base.Version, base.UpdatedAt = base.Version+1, now
	saved, err = c.Store.Save(ctx, tenant, after, e)
	return after, saved, err
}
