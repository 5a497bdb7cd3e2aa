package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"golang.org/x/sync/singleflight"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

const (
	clientKeysFresh = 5 * time.Minute  // how long fetched keys are kept
	clientKeysPause = time.Minute      // between fetches because of a kid that is not among them
	clientKeysRetry = 10 * time.Second // between fetches that fail
	mostClientKeys  = 1000             // addresses that are remembered
	clientKeysWait  = 2 * time.Second
)

// ClientKeys finds the public keys of clients, some of which are at addresses that the clients chose. Anybody can send
// an assertion in a client's name, so how often an address is asked is bounded. It is safe for concurrent use.
type ClientKeys struct {
	// HTTP goes to the public internet alone, whatever the address (libs/outward).
	HTTP   *http.Client
	Now    func() time.Time
	Logger *slog.Logger

	flight singleflight.Group
	mu     sync.Mutex
	sets   map[string]fetched
}

type fetched struct {
	keys   []jose.JSONWebKey
	at     time.Time // of the last success
	tried  time.Time
	failed bool
}

// find gives the client's keys that a kid chooses; without a kid, all.
func (k *ClientKeys) find(ctx context.Context, c identity.Client, kid string) []jose.JSONWebKey {
	if c.JWKSURI == "" {
		keys, _, _ := identity.ReadKeySet([]byte(c.JWKS))
		return chosen(keys, kid)
	}
	now := k.Now()
	k.mu.Lock()
	set := k.sets[c.JWKSURI]
	k.mu.Unlock()
	fresh := !set.at.IsZero() && now.Sub(set.at) < clientKeysFresh
	found := chosen(set.keys, kid)
	switch since := now.Sub(set.tried); {
	case fresh && len(found) > 0:
		return found
	case fresh && since < clientKeysPause, set.failed && since < clientKeysRetry:
		return nil
	}
	got, err, _ := k.flight.Do(c.JWKSURI, func() (any, error) {
		// One asks for all who wait, so it must not end with the first of them.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clientKeysWait)
		defer cancel()
		return k.fetch(ctx, c.JWKSURI, set)
	})
	if err != nil {
		k.Logger.WarnContext(ctx, "keys of a client could not be fetched", "client", c.ID, "error", err.Error())
		return nil
	}
	return chosen(got.([]jose.JSONWebKey), kid) //nolint:forcetypeassert // what fetch gives
}

func chosen(keys []jose.JSONWebKey, kid string) []jose.JSONWebKey {
	if kid == "" {
		return keys
	}
	var some []jose.JSONWebKey
	for _, key := range keys {
		if key.KeyID == kid {
			some = append(some, key)
		}
	}
	return some
}

var errKeySet = errors.New("no key set")

// fetch asks the address and remembers the answer, or that there was none.
func (k *ClientKeys) fetch(ctx context.Context, address string, before fetched) ([]jose.JSONWebKey, error) {
	keys, err := k.get(ctx, address)
	now := k.Now()
	next := fetched{keys: keys, at: now, tried: now}
	if err != nil {
		next = fetched{keys: before.keys, at: before.at, tried: now, failed: true}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.sets == nil || len(k.sets) >= mostClientKeys {
		k.sets = map[string]fetched{} // they come back by themselves
	}
	k.sets[address] = next
	return keys, err
}

func (k *ClientKeys) get(ctx context.Context, address string) ([]jose.JSONWebKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errKeySet
	}
	request.Header.Set("Accept", "application/jwk-set+json, application/json")
	response, err := k.HTTP.Do(request)
	if err != nil {
		return nil, fmt.Errorf("fetch key set: %w", err)
	}
	defer response.Body.Close() //nolint:errcheck // nothing is left to lose
	if response.StatusCode != http.StatusOK {
		return nil, errKeySet
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, identity.LongestKeySet+1))
	if err != nil {
		return nil, fmt.Errorf("read key set: %w", err)
	}
	keys, _, ok := identity.ReadKeySet(text)
	if !ok {
		return nil, errKeySet
	}
	return keys, nil
}
