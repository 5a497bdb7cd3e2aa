package matching

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/revise"
)

// ModelStore keeps models and the log of which was active when. Every call but Choices sees one tenant's rows alone.
type ModelStore interface {
	// Standing tells where a tenant's models stand.
	Standing(ctx context.Context, tenant string) (Standing, error)
	// CreateModel stores a model with its entry. Saved is false, and nothing happened, when its version is taken by now.
	// When the key was used before, repeat is the record of that time and nothing is stored. ModelAnswer is what to record.
	CreateModel(
		ctx context.Context, tenant string, m Model, key idempotency.Key, status int, answer []byte, e audit.Entry,
	) (repeat *idempotency.Record, saved bool, err error)
	// ReadModel gives a version with its latest activation, and the state as of the same moment; nil when there is no such
	// version. The default is not stored: what it gives of it is its activation.
	ReadModel(ctx context.Context, tenant string, version int64) (*Model, Standing, error)
	// ListModels gives versions above one, in order and without their weights, and how many versions there are.
	ListModels(ctx context.Context, tenant string, above, offset int64, most int) ([]Model, int64, Standing, error)
	// Activate adds an entry to the log, along with the audit's. Saved is false, and nothing happened, when its number is
	// taken by now. The key is as in CreateModel.
	Activate(
		ctx context.Context, tenant string, a Activation, key idempotency.Key, status int, answer []byte, e audit.Entry,
	) (repeat *idempotency.Record, saved bool, err error)
	// Choices tells the number of the latest activation of those tenants that have one.
	Choices(ctx context.Context, tenants []string) (map[string]int64, error)
	// Earlier gives the record of an earlier use of a key, as idempotency.Key's.
	Earlier(ctx context.Context, key idempotency.Key) (*idempotency.Record, error)
	// Keep keeps the entry of what changed nothing.
	Keep(ctx context.Context, e audit.Entry) error
}

// Versions is the verbs on the versions of models, and knows each tenant's active one. It is safe for concurrent use.
type Versions struct {
	Store   ModelStore
	Default *linkage.Model
	Now     func() time.Time
	NewID   func() (uuid.UUID, error)
	Log     *slog.Logger
	held    held
}

// The actions that the audit trail tells of.
const (
	auditModelCreate   = "model.create"
	auditModelList     = "model.list"
	auditModelRead     = "model.read"
	auditModelActivate = "model.activate"
	auditModelRollback = "model.rollback"
)

func (s *Versions) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }

func (s *Versions) entry(ctx context.Context, action string) audit.Entry {
	return audit.Of(ctx, s.Now(), s.NewID, action)
}

// refused keeps that an action was, and gives the refusal.
func (s *Versions) refused(ctx context.Context, e audit.Entry, refusal error) error {
	if err := s.Store.Keep(ctx, e.Failed()); err != nil {
		return err
	}
	return refusal
}

// ModelAnswer makes the body that a repeat under the same idempotency key gets.
type ModelAnswer func(m Model, number int64) ([]byte, error)

// Precondition says whether anything may be changed after the activation of a number; its error is the answer when it may
// not.
type Precondition func(number int64) error

// Made is what a verb made, and the number of the tenant's latest activation; or the record of an earlier use of its key.
type Made struct {
	Model  Model
	Number int64
	Repeat *idempotency.Record
}

// Create stores the next version of the tenant's model. It is not active by that.
func (s *Versions) Create(ctx context.Context, in ModelInput, key idempotency.Key, status int, answer ModelAnswer) (Made, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return Made{}, err
	}
	m, faults := NewModel(in, s.now(), by.Actor())
	if len(faults) > 0 {
		return Made{}, fault.InvalidFields(faults)
	}
	e := s.entry(ctx, auditModelCreate)
	return revise.UntilSaved(ctx, "model", func() (Made, bool, error) {
		state, err := s.Store.Standing(ctx, by.TenantID)
		if err != nil {
			return Made{}, false, err
		}
		if m.Parent != nil && (*m.Parent < DefaultVersion || *m.Parent > state.Latest) {
			return Made{}, false, fault.InvalidFields([]fault.Field{{Field: "parent", Code: "unknown_version", Message: "is no version of the model"}})
		}
		m.Version = state.Latest + 1
		body, err := recorded(key, m, state.Number(), answer)
		if err != nil {
			return Made{}, false, err
		}
		repeat, saved, err := s.Store.CreateModel(ctx, by.TenantID, m, key, status, body, e)
		return Made{m, state.Number(), repeat}, saved || repeat != nil, err
	})
}

// recorded is the body that stands by under a key; none without one.
func recorded(key idempotency.Key, m Model, number int64, answer ModelAnswer) ([]byte, error) {
	if !key.Given() {
		return nil, nil
	}
	return answer(m, number)
}

// Read gives a version, and the number of the tenant's latest activation.
func (s *Versions) Read(ctx context.Context, version int64) (Model, int64, error) {
	by, err := principal.Require(ctx, principal.MatchRead)
	if err != nil {
		return Model{}, 0, err
	}
	e := s.entry(ctx, auditModelRead)
	m, state, err := s.find(ctx, by.TenantID, version, e)
	if err != nil {
		return Model{}, 0, err
	}
	return m, state.Number(), s.Store.Keep(ctx, e)
}

// find gives a version, or keeps that there is none.
func (s *Versions) find(ctx context.Context, tenant string, version int64, e audit.Entry) (Model, Standing, error) {
	m, state, err := s.Store.ReadModel(ctx, tenant, version)
	if err != nil {
		return Model{}, Standing{}, err
	}
	if version == DefaultVersion {
		m = s.builtIn(m)
	}
	if m == nil {
		return Model{}, Standing{}, s.refused(ctx, e, fault.New(fault.NotFound, "model_not_found", "There is no such version of the model."))
	}
	m.Active = m.Version == state.Active()
	return *m, state, nil
}

// builtIn is the default, with the activation that is known of it.
func (s *Versions) builtIn(known *Model) *Model {
	m := &Model{
		Version: DefaultVersion, Name: "default", Description: "The model that is built in.", Training: []byte(`{}`), Weights: s.Default,
	}
	if known != nil {
		m.Activated = known.Activated
	}
	return m
}

// List gives a page of the versions, the default first, without their weights, and their number.
func (s *Versions) List(ctx context.Context, part page.Request) ([]Model, int64, error) {
	by, err := principal.Require(ctx, principal.MatchRead)
	if err != nil {
		return nil, 0, err
	}
	above, offset, most := int64(DefaultVersion), part.Offset(), part.Size+1
	first := part.After == "" && offset == 0
	switch {
	case part.After != "":
		if above, err = strconv.ParseInt(part.After, 10, 64); err != nil {
			return nil, 0, fault.InvalidFields([]fault.Field{{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"}})
		}
	case first:
		most-- // the default stands before the others
	default:
		offset--
	}
	list, total, state, err := s.Store.ListModels(ctx, by.TenantID, above, offset, most)
	if err != nil {
		return nil, 0, err
	}
	if first {
		known, _, err := s.Store.ReadModel(ctx, by.TenantID, DefaultVersion)
		if err != nil {
			return nil, 0, err
		}
		list = append([]Model{*s.builtIn(known)}, list...)
	}
	for i := range list {
		list[i].Weights, list[i].Active = nil, list[i].Version == state.Active()
	}
	return list, total + 1, s.Store.Keep(ctx, s.entry(ctx, auditModelList))
}

// Activate makes a version the one that finds are weighed by. The one that is active already stays so, and nothing is added
// to the log.
func (s *Versions) Activate(ctx context.Context, version int64, may Precondition) (Model, int64, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return Model{}, 0, err
	}
	e := s.entry(ctx, auditModelActivate)
	made, err := revise.UntilSaved(ctx, "model", func() (Made, bool, error) {
		m, state, err := s.find(ctx, by.TenantID, version, e)
		if err != nil {
			return Made{}, false, err
		}
		if err := may(state.Number()); err != nil {
			return Made{}, false, s.refused(ctx, e, err)
		}
		if m.Active {
			return Made{Model: m, Number: state.Number()}, true, s.Store.Keep(ctx, e)
		}
		next := state.activate(version, s.now(), by.Actor())
		m.Active, m.Activated = true, &next
		_, saved, err := s.Store.Activate(ctx, by.TenantID, next, idempotency.Key{}, 0, nil, e)
		return Made{Model: m, Number: next.Number}, saved, err
	})
	if err != nil {
		return Model{}, 0, err
	}
	s.held.put(by.TenantID, choice{made.Number, version, made.Model.Weights}, s.Now())
	return made.Model, made.Number, nil
}

// Rollback makes the version active again that was before the active one was activated.
func (s *Versions) Rollback(ctx context.Context, may Precondition, key idempotency.Key, status int, answer ModelAnswer) (Made, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return Made{}, err
	}
	if repeat, err := s.Store.Earlier(ctx, key); repeat != nil || err != nil {
		return Made{Repeat: repeat}, err // what it did may be why it could not be done again
	}
	e := s.entry(ctx, auditModelRollback)
	made, err := revise.UntilSaved(ctx, "model", func() (Made, bool, error) { return s.rollback(ctx, by, may, key, status, answer, e) })
	if err == nil && made.Repeat == nil {
		s.held.put(by.TenantID, choice{made.Number, made.Model.Version, made.Model.Weights}, s.Now())
	}
	return made, err
}

// rollback is one way through it.
func (s *Versions) rollback(
	ctx context.Context, by principal.Principal, may Precondition, key idempotency.Key, status int, answer ModelAnswer, e audit.Entry,
) (Made, bool, error) {
	state, err := s.Store.Standing(ctx, by.TenantID)
	if err != nil {
		return Made{}, false, err
	}
	next, ok := state.rollback(s.now(), by.Actor())
	if err := may(state.Number()); err != nil {
		return Made{}, false, s.refused(ctx, e, err)
	}
	if !ok {
		return Made{}, false, s.refused(ctx, e, fault.New(fault.Conflict, "nothing_to_roll_back", "No other version was active before."))
	}
	m, _, err := s.find(ctx, by.TenantID, next.Version, e)
	if err != nil {
		return Made{}, false, err
	}
	m.Active, m.Activated = true, &next
	body, err := recorded(key, m, next.Number, answer)
	if err != nil {
		return Made{}, false, err
	}
	repeat, saved, err := s.Store.Activate(ctx, by.TenantID, next, key, status, body, e)
	return Made{m, next.Number, repeat}, saved || repeat != nil, err
}
