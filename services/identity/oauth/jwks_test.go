package oauth

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// shelf keeps signing keys in memory, newest first.
type shelf struct {
	keys []SigningKey
	away bool
	read int
}

func (s *shelf) SigningKeys(context.Context) ([]SigningKey, error) {
	s.read++
	if s.away {
		return nil, fault.Away(nil, "away")
	}
	return slices.Clone(s.keys), nil
}

func (s *shelf) KeepSigningKey(_ context.Context, k SigningKey) error {
	if !slices.ContainsFunc(s.keys, func(o SigningKey) bool { return o.Generation == k.Generation }) {
		s.keys = slices.Insert(s.keys, 0, k)
	}
	return nil
}

type rotating struct {
	*Keys

	shelf *shelf
	at    time.Time
}

func newRotating(t *testing.T) *rotating {
	t.Helper()
	sealer, err := seal.New(bytes.Repeat([]byte{1}, 32), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	r := &rotating{shelf: &shelf{}, at: time.Now()}
	r.Keys = &Keys{Store: r.shelf, Sealer: sealer, Random: rand.Reader, Now: func() time.Time { return r.at }}
	return r
}

// state is the kids that are published, and the one that signs.
func (r *rotating) state(t *testing.T) (published []string, signs string) {
	t.Helper()
	raw, err := r.Published(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	text, err := r.Sign(t.Context(), "x", struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := jwt.ParseSigned(string(text), []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range set.Keys {
		published = append(published, k.KeyID)
	}
	signs = token.Headers[0].KeyID
	var ignored map[string]any
	if found := set.Key(signs); len(found) != 1 || token.Claims(found[0].Key, &ignored) != nil {
		t.Errorf("what %s signed cannot be checked by the published keys", signs)
	}
	return published, signs
}

func TestSigningKeyRotatesAheadOfItsUse(t *testing.T) {
	t.Parallel()
	r := newRotating(t)
	published, first := r.state(t)
	if len(published) != 1 {
		t.Fatalf("published %v", published)
	}
	r.at = r.at.Add(KeyRotation - publishAhead - time.Minute)
	if published, signs := r.state(t); len(published) != 1 || signs != first {
		t.Errorf("too early: %v, %s signs", published, signs)
	}
	r.at = r.at.Add(time.Minute)
	published, signs := r.state(t)
	if len(published) != 2 || signs != first {
		t.Errorf("the next one is not published before it signs: %v, %s signs", published, signs)
	}
	r.at = r.at.Add(publishAhead)
	published, second := r.state(t)
	if len(published) != 2 || second == first {
		t.Errorf("the next one does not sign: %v, %s signs", published, second)
	}
	r.at = r.at.Add(signedLife + time.Minute)
	if published, signs = r.state(t); len(published) != 1 || published[0] != second || signs != second {
		t.Errorf("the old one is still published: %v, %s signs", published, signs)
	}
}

func TestAnotherReplicasKeyIsTaken(t *testing.T) {
	t.Parallel()
	one, two := newRotating(t), newRotating(t)
	two.shelf = one.shelf
	two.Store = one.shelf
	_, first := one.state(t)
	if _, signs := two.state(t); signs != first {
		t.Errorf("%s and %s sign", first, signs)
	}
}

func TestKeySetIsNotServedForEverWithoutTheDatabase(t *testing.T) {
	t.Parallel()
	r := newRotating(t)
	r.state(t)
	r.shelf.away = true
	r.at = r.at.Add(keysStale - time.Second)
	r.state(t)
	read := r.shelf.read
	r.state(t)
	if r.shelf.read != read {
		t.Error("a database that is away is asked each time")
	}
	r.at = r.at.Add(time.Second)
	if _, err := r.Published(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("after five minutes: %v", err)
	}
	r.shelf.away = false
	r.state(t)
}
