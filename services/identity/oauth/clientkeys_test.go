package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// keyServer publishes keys under the names given, counts who asks, and fails when told to.
type keyServer struct {
	*httptest.Server

	asked  atomic.Int32
	failed atomic.Bool
	mu     sync.Mutex
	body   []byte
}

func (s *keyServer) publish(t *testing.T, names ...string) {
	t.Helper()
	var set jose.JSONWebKeySet
	for _, name := range names {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: name})
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.body = text
	s.mu.Unlock()
}

func serveKeys(t *testing.T) (*keyServer, *ClientKeys, func(time.Duration)) {
	t.Helper()
	s := &keyServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s.asked.Add(1)
		if s.failed.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		_, _ = w.Write(s.body)
	}))
	t.Cleanup(s.Close)
	var mu sync.Mutex
	at := time.Now()
	keys := &ClientKeys{HTTP: s.Client(), Logger: slog.New(slog.DiscardHandler), Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return at
	}}
	return s, keys, func(by time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		at = at.Add(by)
	}
}

func TestFetchedKeysAreKeptForFiveMinutes(t *testing.T) {
	t.Parallel()
	s, keys, move := serveKeys(t)
	s.publish(t, "a", "b")
	c := identity.Client{JWKSURI: s.URL}
	expect := func(what, kid string, found int, asked int32) {
		t.Helper()
		if got := keys.find(t.Context(), c, kid); len(got) != found || s.asked.Load() != asked {
			t.Errorf("%s: %d keys after %d questions, want %d after %d", what, len(got), s.asked.Load(), found, asked)
		}
	}
	expect("first", "", 2, 1)
	expect("from memory", "a", 1, 1)
	s.publish(t, "c")
	expect("a kid that is not there, too soon", "c", 0, 1)
	move(clientKeysPause)
	expect("a kid that is not there, after a minute", "c", 1, 2)
	expect("one that is gone", "a", 0, 2)
	move(clientKeysFresh)
	expect("after five minutes", "c", 1, 3)
	move(clientKeysFresh)
	s.failed.Store(true)
	expect("keys that cannot be had any more are not gone by", "c", 0, 4)
	expect("nor asked for at once", "c", 0, 4)
	move(clientKeysRetry)
	s.failed.Store(false)
	expect("back again", "c", 1, 5)
}

func TestManyWhoWaitAskOnce(t *testing.T) {
	t.Parallel()
	s, keys, _ := serveKeys(t)
	s.publish(t, "a")
	release := make(chan struct{})
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-release
		inner.ServeHTTP(w, r)
	})
	var all sync.WaitGroup
	var found atomic.Int32
	started := make(chan struct{}, 8)
	for range 8 {
		all.Go(func() {
			started <- struct{}{}
			if len(keys.find(t.Context(), identity.Client{JWKSURI: s.URL}, "a")) == 1 {
				found.Add(1)
			}
		})
	}
	for range 8 {
		<-started
	}
	close(release)
	all.Wait()
	if found.Load() != 8 || s.asked.Load() > 2 { // one may have come when the first was through, and found it in memory
		t.Errorf("%d found keys by %d questions", found.Load(), s.asked.Load())
	}
}

func TestAddressesRememberedAreBounded(t *testing.T) {
	t.Parallel()
	s, keys, _ := serveKeys(t)
	s.publish(t, "a")
	for i := range mostClientKeys + 10 {
		keys.find(t.Context(), identity.Client{JWKSURI: fmt.Sprintf("%s/%d", s.URL, i)}, "a")
	}
	if n := len(keys.sets); n > mostClientKeys {
		t.Errorf("%d addresses are remembered", n)
	}
}

func TestKeysOfOtherUsesAreLeftOut(t *testing.T) {
	t.Parallel()
	s, keys, _ := serveKeys(t)
	s.publish(t, "a")
	s.mu.Lock()
	s.body = append([]byte(`{"keys": [{"kty": "oct", "k": "AAAA", "kid": "a"}, {"kty": "of tomorrow"}, `), s.body[len(`{"keys":[`):]...)
	s.mu.Unlock()
	got := keys.find(t.Context(), identity.Client{JWKSURI: s.URL}, "a")
	if len(got) != 1 || !got[0].IsPublic() {
		t.Errorf("%+v", got)
	}
}
