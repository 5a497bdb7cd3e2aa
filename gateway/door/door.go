// Package door finds out who asks. It keeps principals for a short time, in the process and in Redis, and forgets them
// the moment they are revoked; it never keeps a decision: environment and expiry are looked at each time, permissions
// by whoever needs them. It does not know how credentials are made.
package door

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Session is a credential that held when identity was last asked. It does not change.
type Session struct {
	Hash      session.Hash
	Budget    session.Hash // whose share of the limits is spent: a client that gets itself many tokens has one
	Principal principal.Principal
	Encoded   principal.Encoded // the same, as assertions carry it
}

// Identity is asked about tokens that nobody remembers.
type Identity interface {
	// Credential gives the principal of a token: a fault of kind NotFound when there is none, Unavailable when it
	// cannot be said now.
	Credential(ctx context.Context, token string) (principal.Principal, error)
}

// Options bound what the door keeps and asks.
type Options struct {
	Environment string // credentials of another are refused
	MaxSessions int    // in the process; 100,000
	MaxAsking   int    // questions to identity at a time; 64
	Now         func() time.Time
}

// Door checks credentials. It is safe for concurrent use. It has to be told of revocations: run session.Watch with its
// Listener, without which it keeps nothing in the process.
type Door struct {
	opts     Options
	store    session.Store
	identity Identity
	memory   *memory
	unknown  *unknown
	flights  singleflight.Group
	asking   chan struct{}
	redis    *outage
	meters   *meters
}

// askTimeout bounds a refill, which goes on when the request that began it is gone, for others who wait for it.
const askTimeout = 5 * time.Second

// New makes a door.
func New(store session.Store, identity Identity, o Options) (*Door, error) {
	if o.MaxSessions <= 0 {
		o.MaxSessions = 100_000
	}
	if o.MaxAsking <= 0 {
		o.MaxAsking = 64
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m, err := newMeters()
	return &Door{
		opts: o, store: store, identity: identity, memory: newMemory(o.MaxSessions), unknown: &unknown{},
		asking: make(chan struct{}, o.MaxAsking), redis: &outage{}, meters: m,
	}, err
}

// Listener is what session.Watch tells of revocations.
func (d *Door) Listener() session.Listener { return d.memory }

// Subscribed reports whether revocations are heard of just now.
func (d *Door) Subscribed() bool { return d.memory.live.Load() }

// Check gives the session of a token, else a fault: Unauthenticated, or Unavailable when nobody can say.
func (d *Door) Check(ctx context.Context, token string) (*Session, error) {
	if token == "" || len(token) > maxToken {
		return nil, invalidToken()
	}
	now := d.opts.Now()
	hash := session.HashOf(token)
	s := d.memory.get(hash, now)
	if s != nil {
		d.meters.count(ctx, inMemory)
		return d.holds(s, now)
	}
	if !plausible(token, d.opts.Environment) {
		return nil, invalidToken()
	}
	if d.unknown.has(hash, now) {
		d.meters.count(ctx, knownUnknown)
		return nil, invalidToken()
	}
	flight := d.flights.DoChan(string(hash[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
		defer cancel()
		return d.load(ctx, hash, token)
	})
	select {
	case <-ctx.Done():
		return nil, fault.Away(ctx.Err(), "The credential could not be checked in time.")
	case result := <-flight:
		if result.Err != nil {
			return nil, result.Err
		}
		return d.holds(result.Val.(*Session), d.opts.Now()) //nolint:forcetypeassert // load gives nothing else
	}
}

// Recheck forgets what is known of a session, so that identity is asked when its token comes again. It is for the caller
// of an operation that may have ended its own session: the revocation is under way, but the caller has the answer already.
func (d *Door) Recheck(ctx context.Context, h session.Hash) {
	d.flights.Forget(string(h[:]))
	ctx, cancel := context.WithTimeout(ctx, recheckTimeout)
	defer cancel()
	_ = d.store.Drop(ctx, h) // without Redis there is nothing to forget there
	d.memory.forget(h)
}

// recheckTimeout is how long an answer is held back for Redis.
const recheckTimeout = 250 * time.Millisecond

// holds is the part that is decided each time.
func (d *Door) holds(s *Session, now time.Time) (*Session, error) {
	expires := s.Principal.ExpiresAt
	if s.Principal.Environment != d.opts.Environment || (!expires.IsZero() && !now.Before(expires)) {
		return nil, invalidToken()
	}
	return s, nil
}

// budget names whoever is behind a credential, whatever token it shows today.
func budget(p principal.Principal) session.Hash {
	if p.Kind == principal.APIKey {
		return session.HashOf("key/" + p.CredentialID)
	}
	return session.HashOf(string(p.Kind) + "/" + p.TenantID + "/" + p.UserID + "/" + p.ClientID)
}

func invalidToken() error {
	return fault.New(fault.Unauthenticated, "invalid_token", "The credential is not valid.")
}

var errBusy = errors.New("too many questions to identity under way")
