package password_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
)

func TestHashAndMatch(t *testing.T) {
	t.Parallel()
	h := password.New(password.OWASP(), 2, rand.Reader)
	hash, err := h.Hash(t.Context(), "correct horse battery")
	if err != nil || !strings.HasPrefix(hash, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Fatalf("%s, %v", hash, err)
	}
	for text, want := range map[string]bool{"correct horse battery": true, "Correct horse battery": false, "": false} {
		if got, err := h.Matches(t.Context(), hash, text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, other := range []string{"", "$2a$10$abc", "$argon2id$v=19$m=1$x$y", strings.Replace(hash, "v=19", "v=16", 1)} {
		if got, err := h.Matches(t.Context(), other, "correct horse battery"); err != nil || got {
			t.Errorf("%q: %v, %v", other, got, err)
		}
	}
}

func TestWaitingEndsWithTheRequest(t *testing.T) {
	t.Parallel()
	h := password.New(password.OWASP(), 1, rand.Reader)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	refused := false
	// A caller whose time is up finds the slot free at once, by chance, or is told to come again; never anything else.
	for range 50 {
		_, err := h.Hash(ctx, "correct horse battery")
		if err != nil && !fault.Is(err, fault.Unavailable) {
			t.Fatalf("%v", err)
		}
		refused = refused || err != nil
	}
	if !refused {
		t.Error("fifty callers whose time was up were all served")
	}
}

// Attack: many sign-ins at once, each of which wants 19 MiB.
func TestArgon2MemoryAndQueueAreBounded(t *testing.T) {
	t.Parallel()
	const callers = 400
	h := password.New(password.OWASP(), 1, rand.Reader)
	results := make(chan error, callers)
	for range callers {
		go func() {
			_, err := h.Matches(t.Context(), "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "x")
			results <- err
		}()
	}
	refused := int64(0)
	for range callers {
		if err := <-results; fault.Is(err, fault.Unavailable) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused == 0 || h.Runs() != callers-refused {
		t.Errorf("%d refused, %d runs of %d callers", refused, h.Runs(), callers)
	}
}
