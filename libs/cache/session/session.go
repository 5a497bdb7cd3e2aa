// Package session is what the gateway, which keeps sessions, and the services that end them must agree on: the names
// of keys, the channel and the messages in Redis. Nothing else writes them.
//
// A session's value is the principal and the epochs of its user and tenant as they were when identity was asked. A
// revocation of one session puts a tombstone in its place, which also keeps a refill that was under way from bringing
// it back. A revocation of a user or a tenant moves an epoch on, which ends every session stored with the older one.
// Both are then published, so that gateways drop what they hold in their own memory.
package session

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Lifetime is the longest that a session stays in Redis without identity being asked again.
const Lifetime = 5 * time.Minute

// tombstoneLifetime outlives every refill that may be under way when a session ends.
const tombstoneLifetime = time.Minute

// epochLifetime outlives every session stored with the value before it.
const epochLifetime = time.Hour

const (
	channel   = "revocations"
	tombstone = "-"
	allEpochs = "epoch:all" // moves with every other epoch: says whether anything was revoked between two looks
)

// Hash names a session without giving its token away.
type Hash [sha256.Size]byte

// HashOf is the hash of a token.
func HashOf(token string) Hash { return sha256.Sum256([]byte(token)) }

func (h Hash) String() string { return hex.EncodeToString(h[:]) }

func sessionKey(h Hash) string   { return "session:" + h.String() }
func userKey(id string) string   { return "epoch:user:" + id }
func tenantKey(id string) string { return "epoch:tenant:" + id }
func epochs(p principal.Principal) []string {
	keys := make([]string, 0, 2)
	if p.UserID != "" {
		keys = append(keys, userKey(p.UserID))
	}
	if p.TenantID != "" {
		keys = append(keys, tenantKey(p.TenantID))
	}
	return keys
}

// Revocation is what has ended: one session, or all of a user, or all of a tenant. One field is set.
type Revocation struct {
	Session string `json:"session,omitempty"` // hex of a Hash
	User    string `json:"user,omitempty"`
	Tenant  string `json:"tenant,omitempty"`
}

// Hash gives the session that the revocation names, when it names one.
func (r Revocation) Hash() (h Hash, ok bool) {
	raw, err := hex.DecodeString(r.Session)
	if err != nil || len(raw) != len(h) {
		return Hash{}, false
	}
	return Hash(raw), true
}

// Covers reports whether the revocation ends a session.
func (r Revocation) Covers(h Hash, p principal.Principal) bool {
	switch {
	case r.Session != "":
		return r.Session == h.String()
	case r.User != "":
		return r.User == p.UserID
	default:
		return r.Tenant != "" && r.Tenant == p.TenantID
	}
}

var errRevocation = errors.New("a revocation names one session, user or tenant")

// Of is the revocation of the session of a token.
func Of(token string) Revocation { return Revocation{Session: HashOf(token).String()} }

// Revoke ends what the revocation names, everywhere, within the time of a message. It is called after the change has
// been committed where identity would see it, and may be repeated: on an error, do so until it succeeds (an outbox does).
// ErrAlone is such an error, though everybody has been told by then.
func Revoke(ctx context.Context, client redis.UniversalClient, r Revocation) error {
	message, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write revocation: %w", err)
	}
	var key string
	var alone error
	switch {
	case r.Session != "" && r.User == "" && r.Tenant == "":
		h, ok := r.Hash()
		if !ok {
			return errRevocation
		}
		if alone, err = set(ctx, client, sessionKey(h), tombstone, tombstoneLifetime); err != nil {
			return fmt.Errorf("revoke session: %w", err)
		}
	case r.User != "" && r.Session == "" && r.Tenant == "":
		key = userKey(r.User)
	case r.Tenant != "" && r.Session == "" && r.User == "":
		key = tenantKey(r.Tenant)
	default:
		return errRevocation
	}
	if key != "" {
		if alone, err = moveOn(ctx, client, key); err != nil {
			return fmt.Errorf("revoke by epoch: %w", err)
		}
	}
	if err := client.Publish(ctx, channel, message).Err(); err != nil {
		return fmt.Errorf("publish revocation: %w", err)
	}
	return alone
}

// moveOn gives the epoch a value that was never there before, and the one of all likewise, in this order: who finds the
// key moved, and looks at the one of all after that, finds it moved too. Two commands, since a cluster may keep the keys
// on two nodes.
func moveOn(ctx context.Context, client redis.UniversalClient, key string) (alone, err error) {
	value := rand.Text()
	first, err := set(ctx, client, allEpochs, value, epochLifetime)
	if err != nil {
		return nil, err
	}
	second, err := set(ctx, client, key, value, epochLifetime)
	if err != nil || second != nil {
		return second, err
	}
	return first, nil
}
