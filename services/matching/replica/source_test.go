package replica_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/services/matching/replica"
)

// source is a record of people in memory. Its pages are short, and it can be held up, broken, and restored from a dump.
type source struct {
	mu      sync.Mutex
	tenants map[string]*record
	epoch   int
	err     error
	asked   []string                 // tenant@since of each first page
	held    map[string]chan struct{} // pages of a tenant wait until it closes
	from    int64                    // held only where pages begin after this id
	deep    map[string]bool          // tenants of whom pages behind that were asked for
}

type record struct {
	number  int // of the last write
	people  map[int64]linkage.Demographics
	written map[int64]int // when
}

const pageSize = 3

func newSource() *source {
	return &source{tenants: map[string]*record{}, deep: map[string]bool{}, held: map[string]chan struct{}{}}
}

func (s *source) of(tenant string) *record {
	if s.tenants[tenant] == nil {
		s.tenants[tenant] = &record{people: map[int64]linkage.Demographics{}, written: map[int64]int{}}
	}
	return s.tenants[tenant]
}

// write puts somebody in, or with Deleted out.
func (s *source) write(tenant string, people ...linkage.Demographics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.of(tenant)
	for _, p := range people {
		r.number++
		r.people[p.ID], r.written[p.ID] = p, r.number
	}
}

// hold makes a tenant's pages wait until release is called.
func (s *source) hold(tenant string) (release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make(chan struct{})
	s.held[tenant] = held
	return func() {
		s.mu.Lock()
		delete(s.held, tenant)
		s.mu.Unlock()
		close(held)
	}
}

func (s *source) breaks(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// asks gives what was asked since the last time.
func (s *source) asks() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// Page tells of what was written when it is asked, however long the answer is held up.
func (s *source) Page(ctx context.Context, tenant, since string, after int64, limit int) (feed.Page, error) {
	s.mu.Lock()
	if after == 0 {
		s.asked = append(s.asked, tenant+"@"+since)
	}
	if s.from > 0 && after >= s.from {
		s.deep[tenant] = true
	}
	page, err, held := s.page(tenant, since, after, limit), s.err, s.held[tenant]
	if err == nil && since != "" && since[0] != page.Position[0] {
		err = fault.New(fault.Conflict, feed.CodeLost, "lost")
	}
	held = s.unless(after, held)
	s.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return feed.Page{}, ctx.Err()
		}
	}
	return page, err
}

// unless lets pages through that begin before what is held.
func (s *source) unless(after int64, held chan struct{}) chan struct{} {
	if after < s.from {
		return nil
	}
	return held
}

func (s *source) page(tenant, since string, after int64, limit int) feed.Page {
	r := s.of(tenant)
	page := feed.Page{Position: strconv.Itoa(s.epoch) + strconv.Itoa(r.number)}
	from := 0
	if since != "" {
		from, _ = strconv.Atoi(since[1:])
	}
	for _, id := range slices.Sorted(maps.Keys(r.people)) {
		if id <= after || r.written[id] <= from || since == "" && r.people[id].Deleted {
			continue
		}
		if len(page.People) == min(limit, pageSize) {
			page.More = true
			break
		}
		page.People = append(page.People, r.people[id])
	}
	return page
}

// people are a tenant's in memory, each as large as one.
type people struct {
	mu   sync.Mutex
	one  int64
	byID map[int64]linkage.Demographics
}

const poison = "poison"

func (p *people) Apply(list []linkage.Demographics) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range list {
		if one.FirstName == poison {
			panic("a record that nobody thought of")
		}
		if one.Deleted {
			delete(p.byID, one.ID)
		} else {
			p.byID[one.ID] = one
		}
	}
}

func (p *people) names() map[int64]string {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := map[int64]string{}
	for id, one := range p.byID {
		names[id] = one.FirstName
	}
	return names
}

func (p *people) People() int { return len(p.names()) }

func (p *people) Memory() int64 { return p.one * int64(len(p.names())) }

// uses is who was asked about, as it is remembered.
type uses struct {
	mu     sync.Mutex
	recent []string
	used   []string
	err    error
}

func (u *uses) Used(_ context.Context, tenants []string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used = append(u.used, tenants...)
	return nil
}

func (u *uses) Recent(context.Context, int) ([]string, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.recent, u.err
}

func (u *uses) noted() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	noted := u.used
	u.used = nil
	slices.Sort(noted)
	return noted
}

func person(id int64, name string) linkage.Demographics {
	return linkage.Demographics{ID: id, FirstName: name}
}

func gone(id int64) linkage.Demographics { return linkage.Demographics{ID: id, Deleted: true} }

func newPeople() *people { return &people{one: 10, byID: map[int64]linkage.Demographics{}} }

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// start makes a replica over a source.
func start(t *testing.T, s *source, u *uses, o replica.Options) *replica.Replica[*people] {
	t.Helper()
	r, err := replica.New(s, u, newPeople, quiet(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// changing is a source that changes between two pages.
type changing struct {
	*source
	between func()
}

func (c *changing) Page(ctx context.Context, tenant, since string, after int64, limit int) (feed.Page, error) {
	if after > 0 && c.between != nil {
		c.between()
		c.between = nil
	}
	return c.source.Page(ctx, tenant, since, after, limit)
}

// breaking is a source one page of which cannot be read.
type breaking struct {
	*source
	at int
}

func (b *breaking) Page(ctx context.Context, tenant, since string, after int64, limit int) (feed.Page, error) {
	if b.at--; b.at == 0 {
		return feed.Page{}, errors.New("broken")
	}
	return b.source.Page(ctx, tenant, since, after, limit)
}

// run runs it, and gives the way to end it.
func run(t *testing.T, r *replica.Replica[*people]) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
	}
}

func code(err error) string {
	if err == nil {
		return ""
	}
	if !fault.Is(err, fault.Unavailable) {
		return "not unavailable: " + err.Error()
	}
	return fault.Of(err).Code
}
