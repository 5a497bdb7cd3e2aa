package patient

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// ImportBatch is how many lines of an import are stored at a time, at most, in one transaction. Under an idempotency key they
// are in blocks of so many numbers, and no batch reaches from one block into the next.
const ImportBatch = 1000

// Imported is what became of a line: the patient's id, or why there is none.
type Imported struct {
	ID  int64
	Err error
}

// Run is one import under an idempotency key, told from another one under the same key.
type Run struct {
	Key    idempotency.Key
	Holder uuid.UUID
	Lease  time.Duration // how long it keeps others under its key from beginning, once it is heard of no more
}

// ImportStore keeps patients in batches.
type ImportStore interface {
	// BeginImport makes a run the only one under its key for as long as its lease. That another one is under way is a fault of
	// kind Conflict, that the key came with another request one of kind IdempotencyMismatch.
	BeginImport(ctx context.Context, r Run) error
	// HoldImport is so once more; held is false when another run has begun meanwhile.
	HoldImport(ctx context.Context, r Run) (held bool, err error)
	// EndImport lets another run begin at once.
	EndImport(ctx context.Context, r Run) error
	// Import stores newcomers, whose lines are of one block, all in one transaction, each with its history and its entry, which
	// is completed by the id. The outcomes are in their order. Limit is what it is to Store's Create. Under a key, a line
	// that was stored before gives its id again, and is a fault of kind IdempotencyMismatch if it was another one.
	Import(ctx context.Context, by principal.Principal, limit int, key idempotency.Key, newcomers []Newcomer) ([]Imported, error)
}

const (
	// holdsInALease is how often a run is heard of in its lease: two of them may be lost.
	holdsInALease = 3
	// batchTime is the longest that a batch may take.
	batchTime = 30 * time.Second
	// Imports under way at a time: of all tenants, and of one. Each holds some batches in memory. The last places are for tenants
	// that have none under way.
	mostImports     = 16
	mostOfOneTenant = 4
	firstImports    = 4
)

// Imports is the verb that stores many patients. It is safe for concurrent use.
type Imports struct {
	Service     *Service
	Store       ImportStore
	Identifiers *Identifiers // whose Complete it uses
	Lease       time.Duration

	mu      sync.Mutex
	all     int
	tenants map[string]int
}

func (i *Imports) holdEvery() time.Duration { return i.Lease / holdsInALease }

// enter counts an import in, or refuses it.
func (i *Imports) enter(tenant string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.tenants == nil {
		i.tenants = map[string]int{}
	}
	switch {
	case i.tenants[tenant] == mostOfOneTenant:
		f := fault.New(fault.RateLimited, "too_many_imports", "The organization has too many imports under way.")
		f.RetryAfter = i.holdEvery()
		return f
	case i.all == mostImports, i.all >= mostImports-firstImports && i.tenants[tenant] > 0:
		f := fault.Away(nil, "Too many imports are under way; try again shortly.")
		f.Code = "too_many_imports"
		return f
	}
	i.all++
	i.tenants[tenant]++
	return nil
}

func (i *Imports) leave(tenant string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.all--
	if i.tenants[tenant]--; i.tenants[tenant] == 0 {
		delete(i.tenants, tenant)
	}
}

// Import is one import under way. Its batches may be stored at the same time, but for those of a tenant on a limited plan, of
// whom the first come first.
type Import struct {
	verbs *Imports
	by    principal.Principal
	limit int
	run   Run
	lost  context.Context //nolint:containedctx // it ends when another run has taken the key over
	stop  context.CancelCauseFunc
	once  sync.WaitGroup
}

// Begin begins an import of the context's principal. End ends it.
func (i *Imports) Begin(ctx context.Context, key idempotency.Key) (*Import, error) {
	by, err := principal.Require(ctx, principal.PatientWrite)
	if err != nil {
		return nil, err
	}
	if err := i.enter(by.TenantID); err != nil {
		return nil, err
	}
	m := &Import{verbs: i, by: by, limit: limit(by), run: Run{Key: key, Lease: i.Lease}}
	m.lost, m.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if !key.Given() {
		return m, nil
	}
	if m.run.Holder, err = i.Service.NewID(); err == nil {
		err = i.Store.BeginImport(ctx, m.run)
	}
	if err != nil {
		i.leave(by.TenantID)
		return nil, err
	}
	m.once.Go(m.hold)
	return m, nil
}

// Limited reports a plan by which lines are taken one batch after the other.
func (m *Import) Limited() bool { return m.limit > 0 }

var errTakenOver = fault.New(fault.Conflict, "idempotency_key_in_use", "Another request with this Idempotency-Key has taken over.")

// hold keeps other runs under the key from beginning.
func (m *Import) hold() {
	ticker := time.NewTicker(m.verbs.holdEvery())
	defer ticker.Stop()
	for {
		select {
		case <-m.lost.Done():
			return
		case <-ticker.C:
		}
		ctx, cancel := context.WithTimeout(m.lost, m.verbs.holdEvery())
		held, err := m.verbs.Store.HoldImport(ctx, m.run)
		cancel()
		if err == nil && !held {
			m.stop(errTakenOver)
		}
	}
}

var errEnded = errors.New("the import has ended")

// End ends the import, once no batch is under way any more.
func (m *Import) End() error {
	m.stop(errEnded)
	m.once.Wait()
	m.verbs.leave(m.by.TenantID)
	if !m.run.Key.Given() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.lost), m.verbs.holdEvery())
	defer cancel()
	return m.verbs.Store.EndImport(ctx, m.run)
}

// Store stores so many lines, those that break no rule, all of one block, in one transaction: what is begun is ended, whether or
// not somebody waits for it. Each is read when its turn comes, and not kept. The outcomes are in the lines' order. With an error
// none of them is known.
func (m *Import) Store(ctx context.Context, number int, read func(n int) Draft) ([]Imported, error) {
	out := make([]Imported, number)
	newcomers, places := make([]Newcomer, 0, number), make([]int, 0, number)
	now := m.verbs.Service.now()
	for n := range number {
		one, refusal, err := m.verbs.make(ctx, read(n), now)
		if err != nil {
			return nil, err
		}
		if refusal != nil {
			out[n].Err = refusal
			continue
		}
		newcomers, places = append(newcomers, one), append(places, n)
	}
	if len(newcomers) == 0 {
		return out, nil
	}
	stored, err := m.store(ctx, newcomers)
	for n := range stored {
		out[places[n]] = stored[n]
	}
	return out, err
}

func (m *Import) store(ctx context.Context, newcomers []Newcomer) ([]Imported, error) {
	if m.lost.Err() != nil {
		return nil, context.Cause(m.lost)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), batchTime)
	defer cancel()
	stored, err := m.verbs.Store.Import(ctx, m.by, m.limit, m.run.Key, newcomers)
	if err != nil {
		return nil, err
	}
	full := func(one Imported) bool { return fault.Is(one.Err, fault.PlanLimit) }
	if slices.ContainsFunc(stored, full) { // one for all of the batch
		err = m.verbs.Service.Store.Keep(ctx, m.verbs.Service.entry(ctx, auditCreate, 0).Failed())
	}
	return stored, err
}
