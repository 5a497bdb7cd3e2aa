package door

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// answers is an identity that knows every token but "bad".
type answers struct{ asked atomic.Int64 }

func (a *answers) Credential(_ context.Context, token string) (principal.Principal, error) {
	a.asked.Add(1)
	if token == "bad" {
		return principal.Principal{}, fault.New(fault.NotFound, "credential_not_found", "No such credential.")
	}
	return principal.Principal{UserID: "u", TenantID: "t", Permissions: principal.All, Environment: "demo", ExpiresAt: expiry}, nil
}

// clock is moved by the test.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()) }
func (c *clock) forward(d time.Duration) { c.at.Add(int64(d)) }

var (
	epoch  = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	expiry = epoch.Add(15 * time.Minute)
)

// build makes a door without Redis: nothing listens where it is looked for.
func build(t testing.TB, o Options) (*Door, *answers, *clock) {
	t.Helper()
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: t.TempDir() + "/none", MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	c := &clock{}
	c.at.Store(epoch.UnixNano())
	o.Environment, o.Now = "demo", c.now
	a := &answers{}
	d, err := New(session.Store{Redis: client}, a, o)
	if err != nil {
		t.Fatal(err)
	}
	d.redis.begin(epoch.Add(24 * time.Hour)) // so that it is not even tried
	return d, a, c
}

func TestTheProcessRemembersForFiveSeconds(t *testing.T) {
	d, a, c := build(t, Options{})
	check := func(want int64) {
		t.Helper()
		if _, err := d.Check(t.Context(), "good"); err != nil {
			t.Fatal(err)
		}
		if n := a.asked.Load(); n != want {
			t.Errorf("asked %d times, want %d", n, want)
		}
	}
	check(1)
	check(2) // nothing is remembered before revocations are heard of
	d.Listener().Subscribed()
	check(3)
	check(3)
	c.forward(memoryLifetime - 1)
	check(3)
	c.forward(1)
	check(4)
	d.Listener().Lost()
	check(5)
	check(6)
	d.Listener().Subscribed()
	check(7)
	check(7)
}

func TestExpiryIsLookedAtEachTime(t *testing.T) {
	d, _, c := build(t, Options{})
	d.Listener().Subscribed()
	c.at.Store(expiry.Add(-time.Second).UnixNano())
	if _, err := d.Check(t.Context(), "good"); err != nil {
		t.Fatal(err)
	}
	c.forward(time.Second) // still remembered, and over
	if _, err := d.Check(t.Context(), "good"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("got %v", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	d, _, _ := build(t, Options{MaxSessions: 640})
	d.Listener().Subscribed()
	for n := range 5000 {
		if _, err := d.Check(t.Context(), fmt.Sprint("token", n)); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.memory.size(); n > 640 || n < 500 {
		t.Errorf("%d sessions are remembered", n)
	}
	for n := range 3 * maxUnknown {
		d.unknown.add(session.HashOf(fmt.Sprint(n)), d.opts.Now())
	}
	if n := len(d.unknown.entries); n > maxUnknown {
		t.Errorf("%d unknown tokens are remembered", n)
	}
}

func TestUnknownLastsASecond(t *testing.T) {
	d, a, c := build(t, Options{})
	d.Listener().Subscribed()
	for range 3 {
		if _, err := d.Check(t.Context(), "bad"); !fault.Is(err, fault.Unauthenticated) {
			t.Fatal(err)
		}
	}
	if a.asked.Load() != 1 {
		t.Errorf("asked %d times", a.asked.Load())
	}
	c.forward(unknownLifetime)
	_, _ = d.Check(t.Context(), "bad")
	if a.asked.Load() != 2 {
		t.Errorf("asked %d times after a second", a.asked.Load())
	}
}

// A session that was learned before a revocation and comes to be remembered after it.
func TestPutAfterRevocation(t *testing.T) {
	s := &Session{Hash: session.HashOf("x"), Principal: principal.Principal{UserID: "u", TenantID: "t"}}
	tests := []struct {
		name  string
		event func(m *memory)
		want  fate
	}{
		{"nothing happened", func(*memory) {}, kept},
		{"the session was revoked", func(m *memory) { m.Revoked(session.Of("x")) }, revoked},
		{"its user was revoked", func(m *memory) { m.Revoked(session.Revocation{User: "u"}) }, revoked},
		{"its tenant was revoked", func(m *memory) { m.Revoked(session.Revocation{Tenant: "t"}) }, revoked},
		{"another was revoked", func(m *memory) { m.Revoked(session.Revocation{User: "t"}) }, kept},
		{"more than the log holds", func(m *memory) {
			for range logLength + 1 {
				m.Revoked(session.Revocation{User: "v"})
			}
		}, unsafe},
		{"as much as the log holds", func(m *memory) {
			m.Revoked(session.Revocation{User: "u"})
			for range logLength - 1 {
				m.Revoked(session.Revocation{User: "v"})
			}
		}, revoked},
		{"the subscription was lost", func(m *memory) { m.Lost() }, unsafe},
		{"the subscription was lost and came back", func(m *memory) { m.Lost(); m.Subscribed() }, unsafe},
	}
	for _, test := range tests {
		m := newMemory(100)
		m.Subscribed()
		since := m.now()
		test.event(m)
		if got := m.put(s, since, epoch); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
		if remembered := m.get(s.Hash, epoch) != nil; remembered != (test.want == kept) {
			t.Errorf("%s: remembered %v", test.name, remembered)
		}
	}
}

func TestIdentityIsNotFlooded(t *testing.T) {
	d, _, _ := build(t, Options{MaxAsking: 1})
	d.asking <- struct{}{} // one question is under way
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := d.ask(ctx, "good"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkCheckRemembered(b *testing.B) {
	d, _, _ := build(b, Options{})
	d.opts.Now = func() time.Time { return epoch }
	d.Listener().Subscribed()
	var h fasthttp.RequestHeader
	h.Set("Authorization", "Bearer ory_at_"+strings.Repeat("x", 80))
	if token, err := Token(&h, true); err != nil {
		b.Fatal(err)
	} else if _, err := d.Check(b.Context(), token); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		token, _ := Token(&h, true)
		if _, err := d.Check(b.Context(), token); err != nil {
			b.Fatal(err)
		}
	}
}
