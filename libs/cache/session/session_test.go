package session

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// connect gives a client of the tests' Redis, else of one started for this test.
func connect(t *testing.T) redis.UniversalClient {
	t.Helper()
	if url := os.Getenv("TEST_REDIS_URL"); url != "" {
		client, err := cache.Open(url, cache.Telemetry{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		return client
	}
	return private(t)
}

// private starts a Redis of the test's own, which it may stop.
func private(t *testing.T) redis.UniversalClient {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal("redis-server is needed, and make test installs it where it may")
	}
	dir, err := os.MkdirTemp("", "redis") // t.TempDir is too long for a socket's name
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	server := exec.CommandContext(context.Background(), program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = os.RemoveAll(dir)
	})
	for client.Ping(t.Context()).Err() != nil {
		if t.Context().Err() != nil {
			t.Fatal("redis does not start")
		}
		<-time.After(time.Millisecond) // there is nothing to wait on but the socket itself
	}
	return client
}

func somebody(t *testing.T) (Hash, principal.Principal) {
	t.Helper()
	name := t.Name() + time.Now().String()
	return HashOf(name), principal.Principal{TenantID: "t" + name, UserID: "u" + name, Kind: principal.Session}
}

func look(t *testing.T, s Store, h Hash) Look {
	t.Helper()
	l, err := s.Find(t.Context(), h)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func keep(t *testing.T, s Store, h Hash, p principal.Principal, mark string) Kept {
	t.Helper()
	k, err := s.Keep(t.Context(), h, p, mark, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func revoke(t *testing.T, s Store, r Revocation) {
	t.Helper()
	if err := Revoke(t.Context(), s.Redis, r); err != nil {
		t.Fatal(err)
	}
}

func keepAndFind(t *testing.T, s Store) {
	t.Helper()
	h, p := somebody(t)
	l := look(t, s, h)
	if l.State != Unknown {
		t.Fatalf("at first: %+v", l)
	}
	if k := keep(t, s, h, p, l.Mark); k != Stored {
		t.Fatalf("kept: %v", k)
	}
	if l = look(t, s, h); l.State != Live || l.Principal != p {
		t.Errorf("found %+v", l)
	}
	if left := s.Redis.PTTL(t.Context(), sessionKey(h)).Val(); left <= 0 || left > Lifetime {
		t.Errorf("lives for %v", left)
	}
}

func keepEndsWithTheToken(t *testing.T, s Store) {
	t.Helper()
	h, p := somebody(t)
	p.ExpiresAt = time.Now().Add(time.Minute)
	keep(t, s, h, p, look(t, s, h).Mark)
	if left := s.Redis.PTTL(t.Context(), sessionKey(h)).Val(); left <= 0 || left > time.Minute {
		t.Errorf("lives for %v", left)
	}
	h2, p2 := somebody(t)
	p2.ExpiresAt = time.Now().Add(-time.Second)
	keep(t, s, h2, p2, look(t, s, h2).Mark)
	if l := look(t, s, h2); l.State != Unknown {
		t.Errorf("an expired one was kept: %+v", l)
	}
}

func revokeEndsWhatIsStored(t *testing.T, s Store) {
	t.Helper()
	for _, of := range []func(Hash, principal.Principal) Revocation{
		func(h Hash, _ principal.Principal) Revocation { return Revocation{Session: h.String()} },
		func(_ Hash, p principal.Principal) Revocation { return Revocation{User: p.UserID} },
		func(_ Hash, p principal.Principal) Revocation { return Revocation{Tenant: p.TenantID} },
	} {
		h, p := somebody(t)
		other := p
		other.UserID, other.TenantID = "another", "another"
		h2 := HashOf(h.String())
		keep(t, s, h, p, look(t, s, h).Mark)
		keep(t, s, h2, other, look(t, s, h2).Mark)
		r := of(h, p)
		revoke(t, s, r)
		if l := look(t, s, h); l.State == Live {
			t.Errorf("%+v: still alive", r)
		}
		if l := look(t, s, h2); l.State != Live {
			t.Errorf("%+v: ended another's", r)
		}
		if !r.Covers(h, p) || r.Covers(h2, other) {
			t.Errorf("%+v covers wrongly", r)
		}
	}
}

// A refill asks identity before the revocation is committed, and comes to store it after.
func refillDoesNotBringASessionBack(t *testing.T, s Store) {
	t.Helper()
	h, p := somebody(t)
	mark := look(t, s, h).Mark
	revoke(t, s, Revocation{Session: h.String()})
	if k := keep(t, s, h, p, mark); k != WasEnded {
		t.Errorf("session: %v", k)
	}
	if l := look(t, s, h); l.State != Ended {
		t.Errorf("session: %+v", l)
	}
	for _, r := range []Revocation{{User: "u"}, {Tenant: "t"}} {
		h := HashOf(h.String() + r.User)
		p.UserID, p.TenantID = "u", "t"
		mark := look(t, s, h).Mark
		revoke(t, s, r)
		if k := keep(t, s, h, p, mark); k != Passed {
			t.Errorf("%+v: %v", r, k)
		}
		if l := look(t, s, h); l.State != Unknown {
			t.Errorf("%+v: %+v", r, l)
		}
	}
}

// A revocation half done (the one of all moved, the user's not yet) must not let the older answer be stored for good.
func refillBetweenTheStepsOfARevocation(t *testing.T, s Store) {
	t.Helper()
	h, p := somebody(t)
	s.Redis.Set(t.Context(), allEpochs, "moved-"+t.Name(), epochLifetime)
	mark := look(t, s, h).Mark // after the first step: whatever identity says now has seen the change
	if k := keep(t, s, h, p, mark); k != Stored {
		t.Fatal(k)
	}
	s.Redis.Set(t.Context(), userKey(p.UserID), "moved", epochLifetime)
	if l := look(t, s, h); l.State != Unknown {
		t.Errorf("after the second step: %+v", l)
	}
	if n := s.Redis.Exists(t.Context(), sessionKey(h)).Val(); n != 0 {
		t.Error("what is out of date was not removed")
	}
}

func removalLeavesATombstone(t *testing.T, s Store) {
	t.Helper()
	h, _ := somebody(t)
	revoke(t, s, Revocation{Session: h.String()})
	if err := removeUnchanged.Run(t.Context(), s.Redis, []string{sessionKey(h)}, "what was there before").Err(); err != nil {
		t.Fatal(err)
	}
	if l := look(t, s, h); l.State != Ended {
		t.Errorf("found %+v", l)
	}
}

func theFirstToKeepWins(t *testing.T, s Store) {
	t.Helper()
	h, p := somebody(t)
	mark := look(t, s, h).Mark
	keep(t, s, h, p, mark)
	late := p
	late.Plan = "free"
	if k := keep(t, s, h, late, mark); k != Stored {
		t.Error(k)
	}
	if l := look(t, s, h); l.Principal.Plan != "" {
		t.Errorf("found %+v", l)
	}
}

func TestRevokeRefusesNonsense(t *testing.T) {
	for _, r := range []Revocation{{}, {User: "u", Tenant: "t"}, {Session: "zz"}, {Session: "00"}} {
		if err := Revoke(t.Context(), nil, r); err == nil {
			t.Errorf("%+v was taken", r)
		}
	}
}

// heard is a listener that tells the test.
type heard chan any

func (h heard) Subscribed()          { h <- "subscribed" }
func (h heard) Lost()                { h <- "lost" }
func (h heard) Revoked(r Revocation) { h <- r }

func TestWatchHearsAndNoticesLoss(t *testing.T) {
	client := private(t)
	ctx, cancel := context.WithCancel(t.Context())
	h := make(heard, 100)
	done := make(chan struct{})
	go func() { defer close(done); Watch(ctx, client, h, slog.New(slog.DiscardHandler)) }()
	expect := func(want any) {
		t.Helper()
		for {
			got := <-h
			if got == want {
				return
			}
			if got != "lost" { // said once for each attempt to subscribe
				t.Fatalf("heard %v, want %v", got, want)
			}
		}
	}
	expect("subscribed")
	r := Revocation{Tenant: "t"}
	revoke(t, Store{client}, r)
	expect(r)
	if err := client.Do(ctx, "CLIENT", "KILL", "TYPE", "pubsub").Err(); err != nil {
		t.Fatal(err)
	}
	if got := <-h; got != "lost" {
		t.Fatalf("heard %v", got)
	}
	expect("subscribed")
	client.Do(ctx, "CLIENT", "PAUSE", "1500", "ALL") // a Redis that hangs without closing anything
	expect("lost")
	expect("subscribed")
	cancel()
	<-done
}
