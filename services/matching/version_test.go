package matching_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching"
)

// memory is a matching.ModelStore that forgets when it ends.
type memory struct {
	mu      sync.Mutex
	models  map[string][]matching.Model
	log     map[string][]matching.Activation
	trail   []string
	away    bool
	unread  error                  // of a model that is stored
	asked   int                    // trips
	between func(m *memory)        // happens once, before the next write
	reading func(m *memory)        // happens once, after the next look at where a tenant stands
	looked  func(tenants []string) // is told of each look
}

var errAway = fault.Away(nil, "away")

func (m *memory) trip() error {
	m.asked++
	if m.away {
		return errAway
	}
	return nil
}

func (m *memory) standing(tenant string) matching.Standing {
	s := matching.Standing{Latest: int64(len(m.models[tenant]))}
	if log := m.log[tenant]; len(log) > 0 {
		s.Current = &log[len(log)-1]
		if below := s.Current.Below; below != nil && *below > 0 {
			s.Below = &log[*below-1]
		}
	}
	return s
}

func (m *memory) Standing(_ context.Context, tenant string) (matching.Standing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	seen := m.standing(tenant)
	if reading := m.reading; reading != nil {
		m.reading = nil
		reading(m)
	}
	return seen, m.trip()
}

func (m *memory) overtake() {
	if between := m.between; between != nil {
		m.between = nil
		between(m)
	}
}

func (m *memory) CreateModel(
	_ context.Context, tenant string, made matching.Model, _ idempotency.Key, _ int, _ []byte, e audit.Entry,
) (*idempotency.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.overtake()
	if made.Version != int64(len(m.models[tenant]))+1 {
		return nil, false, m.trip()
	}
	m.models[tenant] = append(m.models[tenant], made)
	m.keep(e)
	return nil, true, m.trip()
}

func (m *memory) ReadModel(_ context.Context, tenant string, version int64) (*matching.Model, matching.Standing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if version < 1 || version > int64(len(m.models[tenant])) {
		return nil, m.standing(tenant), m.trip()
	}
	if m.unread != nil {
		return nil, matching.Standing{}, m.unread
	}
	found := m.models[tenant][version-1]
	return &found, m.standing(tenant), m.trip()
}

func (m *memory) ListModels(_ context.Context, tenant string, above, offset int64, most int) ([]matching.Model, int64, matching.Standing, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.models[tenant]
	from := min(above+offset, int64(len(all)))
	list := slices.Clone(all[from:min(from+int64(most), int64(len(all)))])
	return list, int64(len(all)), m.standing(tenant), m.trip()
}

func (m *memory) Activate(
	_ context.Context, tenant string, a matching.Activation, _ idempotency.Key, _ int, _ []byte, e audit.Entry,
) (*idempotency.Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.overtake()
	if a.Number != int64(len(m.log[tenant]))+1 {
		return nil, false, m.trip()
	}
	m.log[tenant] = append(m.log[tenant], a)
	m.keep(e)
	return nil, true, m.trip()
}

func (m *memory) Choices(_ context.Context, tenants []string) (map[string]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looked != nil {
		m.looked(tenants)
	}
	numbers := map[string]int64{}
	for _, tenant := range tenants {
		if log := m.log[tenant]; len(log) > 0 {
			numbers[tenant] = log[len(log)-1].Number
		}
	}
	return numbers, m.trip()
}

func (m *memory) Earlier(context.Context, idempotency.Key) (*idempotency.Record, error) {
	return nil, nil //nolint:nilnil // none
}

func (m *memory) Keep(_ context.Context, e audit.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(e)
	return nil
}

func (m *memory) keep(e audit.Entry) { m.trail = append(m.trail, e.Action+":"+e.Outcome) }

// took gives the trail since.
func (m *memory) took() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.trail
	m.trail = nil
	return list
}

func versions(now *time.Time) (*matching.Versions, *memory) {
	m := &memory{models: map[string][]matching.Model{}, log: map[string][]matching.Activation{}}
	return another(m, now), m
}

// another is one more process over the same store.
func another(m *memory, now *time.Time) *matching.Versions {
	clock := time.Now
	if now != nil {
		clock = func() time.Time { return *now }
	}
	return &matching.Versions{Store: m, Default: linkage.Default(), Now: clock, NewID: uuid.NewV7, Log: slog.New(slog.DiscardHandler)}
}

const tenant = "01900000-0000-7000-8000-0000000000a1"

func as(may principal.Permission) context.Context { return of(tenant, may) }

func of(tenant string, may principal.Permission) context.Context {
	return principal.With(context.Background(), principal.Principal{
		TenantID: tenant, Kind: principal.APIKey, CredentialID: "key", Permissions: may,
	})
}

func anyway(int64) error { return nil }

// tester is what tests and properties have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
}

func marshalled(t tester, m *linkage.Model) []byte {
	t.Helper()
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// add makes a version that can be told from the others by its prior.
func add(t tester, v *matching.Versions, matches float64) int64 {
	t.Helper()
	m := linkage.Default()
	m.Prior.Matches = matches
	raw := marshalled(t, m)
	name := "n" + strconv.FormatFloat(matches, 'g', -1, 64)
	made, err := v.Create(as(principal.TenantAdmin), matching.ModelInput{Name: &name, Weights: raw}, idempotency.Key{}, 201, nil)
	if err != nil {
		t.Fatal(err)
	}
	return made.Model.Version
}

// active is the prior by which the tenant's active model is known; 0.5 or so is the default's.
func active(t tester, v *matching.Versions, tenant string) float64 {
	t.Helper()
	m, err := v.Active(context.Background(), tenant)
	if err != nil {
		t.Fatal(err)
	}
	return m.Prior.Matches
}

func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	v, m := versions(nil)
	add(t, v, 1)
	m.took()
	for name, do := range map[string]func(ctx context.Context) error{
		"create": func(ctx context.Context) error {
			_, err := v.Create(ctx, matching.ModelInput{}, idempotency.Key{}, 0, nil)
			return err
		},
		"activate": func(ctx context.Context) error { _, _, err := v.Activate(ctx, 1, anyway); return err },
		"rollback": func(ctx context.Context) error {
			_, err := v.Rollback(ctx, anyway, idempotency.Key{}, 0, nil)
			return err
		},
		"read": func(ctx context.Context) error { _, _, err := v.Read(ctx, 1); return err },
		"list": func(ctx context.Context) error { _, _, err := v.List(ctx, page.Request{Size: 1}); return err },
	} {
		need := principal.TenantAdmin
		if name == "read" || name == "list" {
			need = principal.MatchRead
		}
		if err := do(context.Background()); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("%s by nobody: %v", name, err)
		}
		if err := do(as(principal.All &^ need)); !fault.Is(err, fault.Denied) {
			t.Errorf("%s without the permission: %v", name, err)
		}
		if err := do(as(need)); fault.Is(err, fault.Denied) {
			t.Errorf("%s with it: %v", name, err)
		}
	}
}

func TestEveryActionLeavesAnEntry(t *testing.T) {
	t.Parallel()
	v, m := versions(nil)
	all := as(principal.All)
	stale := func(int64) error { return fault.New(fault.PreconditionFailed, "version_mismatch", "x") }
	add(t, v, 1)
	_, _, _ = v.Read(all, 1)
	_, _, _ = v.Read(all, 2)
	_, _, _ = v.List(all, page.Request{Size: 1})
	_, _, _ = v.Activate(all, 1, anyway)
	_, _, _ = v.Activate(all, 1, anyway) // nothing changes
	_, _, _ = v.Activate(all, 7, anyway)
	_, _, _ = v.Activate(all, 0, stale)
	_, _ = v.Rollback(all, stale, idempotency.Key{}, 0, nil)
	_, _ = v.Rollback(all, anyway, idempotency.Key{}, 0, nil)
	_, _ = v.Rollback(all, anyway, idempotency.Key{}, 0, nil)
	want := []string{
		"model.create:success", "model.read:success", "model.read:failure", "model.list:success", "model.activate:success",
		"model.activate:success", "model.activate:failure", "model.activate:failure", "model.rollback:failure", "model.rollback:success",
		"model.rollback:failure",
	}
	if diff := cmp.Diff(want, m.took()); diff != "" {
		t.Error(diff)
	}
	if n := len(m.log[tenant]); n != 2 {
		t.Errorf("%d entries of the log, want those of an activation and of a rollback", n)
	}
}

func TestAVersionThatIsTakenIsTheNext(t *testing.T) {
	t.Parallel()
	v, m := versions(nil)
	m.between = func(m *memory) { m.models[tenant] = append(m.models[tenant], matching.Model{Version: 1}) }
	if got := add(t, v, 1); got != 2 {
		t.Errorf("version %d, want 2: 1 was taken meanwhile", got)
	}
	// An activation that comes between is not lost: the later one is above it.
	m.between = func(m *memory) {
		below := int64(0)
		m.log[tenant] = append(m.log[tenant], matching.Activation{Number: 1, Version: 1, Below: &below})
	}
	if _, number, err := v.Activate(as(principal.All), 2, anyway); err != nil || number != 2 || *m.log[tenant][1].Below != 1 {
		t.Errorf("%d, %v, %+v", number, err, m.log[tenant])
	}
}

func TestAParentIsAVersionThatThereIs(t *testing.T) {
	t.Parallel()
	v, _ := versions(nil)
	for parent, want := range []bool{true, true, false} { // each makes the next
		name, parent := "n", int64(parent)
		if !want {
			parent = 7
		}
		_, err := v.Create(as(principal.All), matching.ModelInput{Name: &name, Parent: &parent, Weights: marshalled(t, linkage.Default())}, idempotency.Key{}, 0, nil)
		if fault.Is(err, fault.Invalid) == want {
			t.Errorf("parent %d: %v", parent, err)
		}
	}
}

// Whatever is activated and rolled back in whatever order, by two processes in turn: it is a stack, and what each process
// takes for active after it looked is what is.
func TestRollingBackIsAStack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, m := versions(nil)
		two := another(m, nil)
		for _, matches := range []float64{1, 2, 3} {
			add(t, one, matches)
		}
		standard := one.Default.Prior.Matches
		stack := []float64{standard}
		all := as(principal.All)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			v := rapid.SampledFrom([]*matching.Versions{one, two}).Draw(t, "process")
			top := stack[len(stack)-1]
			if rapid.Bool().Draw(t, "back") {
				_, err := v.Rollback(all, anyway, idempotency.Key{}, 0, nil)
				if (err == nil) != (len(stack) > 1) {
					t.Fatalf("rolling back of %v: %v", stack, err)
				}
				if len(stack) > 1 {
					stack = stack[:len(stack)-1]
				}
			} else {
				version := rapid.IntRange(0, 3).Draw(t, "version")
				if _, _, err := v.Activate(all, int64(version), anyway); err != nil {
					t.Fatal(err)
				}
				if chosen := []float64{standard, 1, 2, 3}[version]; chosen != top {
					stack = append(stack, chosen)
				}
			}
			want := stack[len(stack)-1]
			if got := active(t, v, tenant); got != want {
				t.Fatalf("who did it takes %v for active, want %v", got, want)
			}
			for _, other := range []*matching.Versions{one, two} {
				if err := other.Refresh(context.Background()); err != nil {
					t.Fatal(err)
				}
				if got := active(t, other, tenant); got != want {
					t.Fatalf("after a look %v is active, want %v", got, want)
				}
			}
		}
	})
}

func TestFindsAskNoDatabase(t *testing.T) {
	t.Parallel()
	v, m := versions(nil)
	active(t, v, tenant)
	before := m.asked
	for range 100 {
		active(t, v, tenant)
	}
	if m.asked != before {
		t.Errorf("%d trips for a tenant that is known", m.asked-before)
	}
}

func TestWhileTheDatabaseIsAwayWhatWasActiveIs(t *testing.T) {
	t.Parallel()
	v, m := versions(nil)
	add(t, v, 1)
	if _, _, err := v.Activate(as(principal.All), 1, anyway); err != nil {
		t.Fatal(err)
	}
	m.away = true
	if err := v.Refresh(context.Background()); !errors.Is(err, errAway) {
		t.Error(err)
	}
	if got := active(t, v, tenant); got != 1 {
		t.Errorf("%v is active", got)
	}
	if _, err := v.Active(context.Background(), uuid.NewString()); !errors.Is(err, errAway) {
		t.Errorf("of a tenant whose model is not known: %v", err)
	}
	m.away = false
	fresh := another(m, nil) // a process that starts
	if got := active(t, fresh, tenant); got != 1 {
		t.Errorf("after a start %v is active", got)
	}
}

func TestAModelThatCannotBeReadStopsNoFind(t *testing.T) {
	t.Parallel()
	v, m := versions(nil)
	add(t, v, 1)
	if _, _, err := v.Activate(as(principal.All), 1, anyway); err != nil {
		t.Fatal(err)
	}
	m.unread = matching.ErrStored
	fresh := another(m, nil)
	if got := active(t, fresh, tenant); got != v.Default.Prior.Matches {
		t.Errorf("%v is active", got)
	}
}

func TestAnotherTenantIsNotTouched(t *testing.T) {
	t.Parallel()
	v, _ := versions(nil)
	add(t, v, 1)
	other := uuid.NewString()
	active(t, v, other)
	if _, _, err := v.Activate(as(principal.All), 1, anyway); err != nil {
		t.Fatal(err)
	}
	if err := v.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if got := active(t, v, other); got != v.Default.Prior.Matches {
		t.Errorf("%v is active for another tenant", got)
	}
	if _, _, err := v.Activate(of(other, principal.All), 1, anyway); !fault.Is(err, fault.NotFound) {
		t.Errorf("another tenant's version: %v", err)
	}
}

func TestWhoIsNotAskedForIsForgotten(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	v, m := versions(&now)
	var looked []string
	m.looked = func(tenants []string) { looked = append(looked, tenants...) }
	kept := uuid.NewString()
	active(t, v, tenant)
	active(t, v, kept)
	now = now.Add(14 * time.Minute)
	active(t, v, kept)
	now = now.Add(14 * time.Minute)
	if err := v.Refresh(context.Background()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{kept}, looked); diff != "" {
		t.Error(diff)
	}
	active(t, v, tenant) // who comes back is read again
}

func TestAPageBeginsWithTheDefault(t *testing.T) {
	t.Parallel()
	v, _ := versions(nil)
	for _, matches := range []float64{1, 2, 3, 4} {
		add(t, v, matches)
	}
	all := as(principal.All)
	if _, _, err := v.Activate(all, 3, anyway); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		part page.Request
		want []int64 // one more than the size when the list goes on
	}{
		{page.Request{Size: 2}, []int64{0, 1, 2}},
		{page.Request{Size: 2, Page: 1}, []int64{2, 3, 4}},
		{page.Request{Size: 2, Page: 2}, []int64{4}},
		{page.Request{Size: 2, Page: 3}, nil},
		{page.Request{Size: 5}, []int64{0, 1, 2, 3, 4}},
		{page.Request{Size: 2, After: "0"}, []int64{1, 2, 3}},
		{page.Request{Size: 2, After: "2", Page: 7}, []int64{3, 4}},
		{page.Request{Size: 2, After: "9"}, nil},
	} {
		list, total, err := v.List(all, test.part)
		if err != nil || total != 5 {
			t.Fatalf("%+v: %d, %v", test.part, total, err)
		}
		var got []int64
		for _, m := range list {
			got = append(got, m.Version)
			if m.Active != (m.Version == 3) || m.Weights != nil {
				t.Errorf("%+v: version %d is active: %v, with weights: %v", test.part, m.Version, m.Active, m.Weights != nil)
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%+v: %s", test.part, diff)
		}
	}
}

// A read that began before an activation and ended after it does not bring the old model back.
func TestAReadThatTookLongBringsNothingBack(t *testing.T) {
	t.Parallel()
	v, m := versions(nil)
	add(t, v, 1)
	add(t, v, 2)
	if _, _, err := v.Activate(as(principal.All), 1, anyway); err != nil {
		t.Fatal(err)
	}
	fresh := another(m, nil)
	m.reading = func(m *memory) { // what it read is old by now
		m.mu.Unlock()
		defer m.mu.Lock()
		if _, _, err := fresh.Activate(as(principal.All), 2, anyway); err != nil {
			t.Error(err)
		}
	}
	if got := active(t, fresh, tenant); got != 2 {
		t.Errorf("%v is active, want 2", got)
	}
	if got := active(t, fresh, tenant); got != 2 {
		t.Errorf("then %v is active, want 2", got)
	}
}
