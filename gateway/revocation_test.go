package gateway

import (
	"sync"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
)

func (w *world) revoke(r session.Revocation) {
	w.t.Helper()
	if err := session.Revoke(w.t.Context(), w.redis, r); err != nil {
		w.t.Fatal(err)
	}
}

func TestRevocationReachesTheGateway(t *testing.T) {
	w := start(t)
	for _, r := range []session.Revocation{session.Of("good"), {User: "u1"}, {Tenant: "t1"}} {
		token := "good"
		if r.Session == "" {
			token = "of" + r.User + r.Tenant
		}
		w.know(token, everyone())
		w.until("the session is remembered", func() bool {
			before := w.asked.Load()
			return w.get("/v2/tenant", token).status == 200 && w.asked.Load() == before
		})
		w.forget(token)
		w.revoke(r)
		began := time.Now()
		w.until("the session has ended", func() bool { return w.get("/v2/tenant", token).status == 401 })
		if took := time.Since(began); took > time.Second {
			t.Errorf("%+v: dead after %v", r, took)
		}
	}
}

// Identity is asked before the revocation and answers after it: nothing of that may live on.
func TestRefillUnderWayDoesNotBringASessionBack(t *testing.T) {
	for _, r := range []session.Revocation{session.Of("good"), {User: "u1"}, {Tenant: "t1"}} {
		w := start(t)
		w.know("good", everyone())
		var once sync.Once
		w.mu.Lock()
		w.asking = func() { // identity has read the token as good, and then it is revoked
			once.Do(func() {
				w.forget("good")
				w.revoke(r)
			})
		}
		w.mu.Unlock()
		if a := w.get("/v2/tenant", "good"); a.status != 401 {
			t.Errorf("%+v: %v", r, a)
		}
		if a := w.get("/v2/tenant", "good"); a.status != 401 {
			t.Errorf("%+v, again: %v", r, a)
		}
	}
}

func TestOneFlightForManyRequests(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	release := make(chan struct{})
	w.mu.Lock()
	w.asking = func() { <-release }
	w.mu.Unlock()
	before := w.asked.Load()
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if a := w.get("/v2/tenant", "good"); a.status != 200 {
				t.Error(a)
			}
		})
	}
	w.until("identity is asked", func() bool { return w.asked.Load() > before })
	close(release)
	all.Wait()
	if n := w.asked.Load() - before; n != 1 {
		t.Errorf("identity was asked %d times", n)
	}
}

func TestUnknownTokensAreRemembered(t *testing.T) {
	w := start(t)
	before := w.asked.Load()
	for range 20 {
		if a := w.get("/v2/tenant", "bad"); a.status != 401 {
			t.Error(a)
		}
	}
	if n := w.asked.Load() - before; n > 3 { // a slow machine may see the second pass
		t.Errorf("identity was asked %d times", n)
	}
	w.know("bad", everyone())
	w.until("it is asked about again", func() bool { return w.get("/v2/tenant", "bad").status == 200 })
}

func TestLostSubscriptionForgets(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	if a := w.get("/v2/tenant", "good"); a.status != 200 {
		t.Fatal(a)
	}
	// Redis loses everything and hangs up: what the gateway remembered can no longer be trusted.
	w.forget("good")
	w.redis.FlushAll(t.Context())
	if err := w.redis.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err(); err != nil {
		t.Fatal(err)
	}
	w.until("the session has ended", func() bool { return w.get("/v2/tenant", "good").status == 401 })
}

func TestWithoutRedisIdentityIsAsked(t *testing.T) {
	w := start(t, func(s *Settings, _ *Parts) { s.CredentialRate, s.CredentialBurst = 1000, 1000 })
	w.know("good", everyone())
	_ = w.redis.ShutdownNoSave(t.Context())
	before := w.asked.Load()
	for range 3 {
		if a := w.get("/v2/tenant", "good"); a.status != 200 {
			t.Error(a)
		}
	}
	if w.asked.Load() == before {
		t.Error("identity was not asked")
	}
	w.until("nothing is remembered", func() bool {
		before := w.asked.Load()
		return w.get("/v2/tenant", "good").status == 200 && w.asked.Load() == before+1
	})
	w.away.Store(true)
	w.until("503", func() bool {
		a := w.get("/v2/tenant", "good")
		return a.status == 503 && a.header.Get("Retry-After") != ""
	})
	w.away.Store(false)
	w.until("it recovers", func() bool { return w.get("/v2/tenant", "good").status == 200 })
}

func TestLimits(t *testing.T) {
	w := start(t, func(s *Settings, _ *Parts) { s.CredentialRate, s.CredentialBurst = 1, 5 })
	w.know("good", everyone())
	somebodyElse := everyone()
	somebodyElse.UserID = "u2"
	w.know("other", somebodyElse)
	w.know("again", everyone())
	passed, refused := 0, answer{}
	for range 30 {
		if a := w.get("/v2/tenant", "good"); a.status == 200 {
			passed++
		} else {
			refused = a
		}
	}
	if passed < 5 || passed > 8 || refused.status != 429 || refused.header.Get("Retry-After") == "" || refused.code != "rate_limited" {
		t.Errorf("%d passed, then %v", passed, refused)
	}
	if a := w.get("/v2/tenant", "other"); a.status != 200 {
		t.Errorf("somebody else: %v", a)
	}
	if a := w.get("/v2/tenant", "again"); a.status != 429 {
		t.Errorf("another token of the same user has a budget of its own: %v", a)
	}
	address := start(t, func(s *Settings, _ *Parts) { s.AddressRate, s.AddressBurst = 1, 5 })
	address.until("strangers are limited too", func() bool { return address.get("/v2/tenant", "bad").status == 429 })
}

// Whoever has just been told that they are signed out sees it at once, however long the revocation takes to arrive.
func TestTheCallerOfALogoutSeesItsEndAtOnce(t *testing.T) {
	w := start(t)
	w.know("good", everyone())
	w.until("the session is remembered", func() bool {
		before := w.asked.Load()
		return w.get("/v2/tenant", "good").status == 200 && w.asked.Load() == before
	})
	if a := w.do("POST", "/auth/user/logout", headers{"Authorization": "Bearer good"}, ""); a.status != 200 {
		t.Fatal(a)
	}
	if a := w.get("/v2/tenant", "good"); a.status != 200 {
		t.Errorf("a session that goes on: %v", a)
	}
	w.forget("good") // identity knows, and nobody says so
	if a := w.do("POST", "/tenant/switch-tenant", headers{"Authorization": "Bearer good"}, ""); a.status != 200 {
		t.Fatal(a)
	}
	if a := w.get("/v2/tenant", "good"); a.status != 401 {
		t.Errorf("after its end: %v", a)
	}
}
