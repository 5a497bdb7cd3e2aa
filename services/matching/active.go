package matching

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// ErrStored is that what is stored of a model is none any more.
var ErrStored = errors.New("a stored model is none any more")

// choice is a tenant's active model as of the activation of a number.
type choice struct {
	number  int64
	version int64
	model   *linkage.Model
}

// held is the choices of the tenants that ask. The zero value is ready.
type held struct {
	tenants sync.Map // of *tenantChoice by the tenant's id
	loads   singleflight.Group
}

type tenantChoice struct {
	mu     sync.Mutex // of who puts
	now    atomic.Pointer[choice]
	usedAt atomic.Int64 // in nanoseconds
}

// put holds a choice unless a later one is held: a read that took long does not bring an old one back.
func (h *held) put(tenant string, c choice, at time.Time) *tenantChoice {
	fresh := &tenantChoice{}
	fresh.usedAt.Store(at.UnixNano())
	fresh.now.Store(&c) // before anybody can see it
	entry, _ := h.tenants.LoadOrStore(tenant, fresh)
	t := entry.(*tenantChoice) //nolint:forcetypeassert // nothing else is kept there
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.now.Load().number < c.number {
		t.now.Store(&c)
	}
	return t
}

// Active gives the model that the tenant's finds are weighed by. Only who asks first for a tenant waits for the database;
// while it is away, what was active is.
func (s *Versions) Active(ctx context.Context, tenant string) (*linkage.Model, error) {
	var t *tenantChoice
	if entry, ok := s.held.tenants.Load(tenant); ok {
		t = entry.(*tenantChoice) //nolint:forcetypeassert // nothing else is kept there
	} else {
		var err error
		if t, err = s.load(ctx, tenant); err != nil {
			return nil, err
		}
	}
	t.usedAt.Store(s.Now().UnixNano())
	return t.now.Load().model, nil
}

const (
	choicesEvery = 500 * time.Millisecond // so that an activation is known everywhere within a second
	choicesLimit = 3 * time.Second        // for one look
	choicesTaken = 1000                   // tenants in one look
	choicesKept  = 15 * time.Minute       // of a tenant that nobody asks for
)

// load reads a tenant's choice. Who asks meanwhile waits for the same answer.
func (s *Versions) load(ctx context.Context, tenant string) (*tenantChoice, error) {
	read := func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), choicesLimit)
		defer cancel()
		return s.read(ctx, tenant)
	}
	select {
	case done := <-s.held.loads.DoChan(tenant, read):
		if done.Err != nil {
			return nil, done.Err
		}
		return done.Val.(*tenantChoice), nil //nolint:forcetypeassert // read gives nothing else
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (s *Versions) read(ctx context.Context, tenant string) (*tenantChoice, error) {
	state, err := s.Store.Standing(ctx, tenant)
	if err != nil {
		return nil, err
	}
	c := choice{state.Number(), state.Active(), s.Default}
	if c.version != DefaultVersion {
		m, _, err := s.Store.ReadModel(ctx, tenant, c.version)
		switch {
		case errors.Is(err, ErrStored): // finds go on, by a model that is sound
			s.Log.ErrorContext(ctx, "a tenant's model cannot be read: the built-in one is used", "tenant", tenant, "error", err.Error())
		case err != nil:
			return nil, err
		default:
			c.model = m.Weights
		}
	}
	return s.held.put(tenant, c, s.Now()), nil
}

// Run keeps what is held up to date until ctx ends: one look for all tenants that ask.
func (s *Versions) Run(ctx context.Context) error {
	ticker := time.NewTicker(choicesEvery)
	defer ticker.Stop()
	away := false
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		err := s.refresh(ctx)
		if err != nil && !away && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "which models are active is not known; those that were go on", "error", err.Error())
		}
		away = err != nil
	}
}

// refresh looks once, and reads what was activated since.
func (s *Versions) refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, choicesLimit)
	defer cancel()
	var failure error
	for tenants := range slices.Chunk(s.asking(), choicesTaken) {
		numbers, err := s.Store.Choices(ctx, tenants)
		if err != nil {
			return err
		}
		for _, tenant := range tenants {
			entry, ok := s.held.tenants.Load(tenant)
			if !ok || entry.(*tenantChoice).now.Load().number >= numbers[tenant] { //nolint:forcetypeassert // nothing else is kept there
				continue
			}
			if _, err := s.read(ctx, tenant); err != nil {
				failure = err // the others' go on
			}
		}
	}
	return failure
}

// asking is the tenants that somebody asks for; the others are forgotten.
func (s *Versions) asking() []string {
	var tenants []string
	before := s.Now().Add(-choicesKept).UnixNano()
	s.held.tenants.Range(func(tenant, entry any) bool {
		if entry.(*tenantChoice).usedAt.Load() < before { //nolint:forcetypeassert // nothing else is kept there
			s.held.tenants.Delete(tenant)
			return true
		}
		tenants = append(tenants, tenant.(string)) //nolint:forcetypeassert // nothing else is kept there
		return true
	})
	return tenants
}
