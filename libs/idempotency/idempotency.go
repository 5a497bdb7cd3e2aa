// Package idempotency makes a creating request safe to repeat: what a key created is recorded in the transaction that
// creates it, and the same request under the same key gets the first answer again for a day. Services with such
// requests keep the table idempotency_key (see Table).
package idempotency

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Lifetime is how long a key is remembered.
const Lifetime = 24 * time.Hour

const longestKey = 255

// Key is the idempotency key of one request. The zero Key is a request that came without one.
type Key struct {
	Tenant     string
	Credential string // keys of two credentials never meet
	Value      string
	Hash       []byte // of the request: its operation and body
}

// Given reports whether the request came with a key.
func (k Key) Given() bool { return k.Value != "" }

// Parse reads the Idempotency-Key header; nil is a request without one. Request is what must be equal for a repeat to
// be one: the operation, its path's ids and the body as read.
func Parse(p principal.Principal, header *string, request ...[]byte) (Key, []fault.Field) {
	if header == nil {
		return Key{}, nil
	}
	if !printable(*header) {
		return Key{}, []fault.Field{{
			Field: "Idempotency-Key", Code: "invalid_key", Message: "must be 1 to 255 printable characters",
		}}
	}
	digest := sha256.New()
	for _, part := range request {
		digest.Write(strconv.AppendInt(nil, int64(len(part)), 10)) // so that no two lists of parts run together
		digest.Write([]byte{':'})
		digest.Write(part)
	}
	return Key{Tenant: p.TenantID, Credential: credential(p), Value: *header, Hash: digest.Sum(nil)}, nil
}

// credential is what stays the same while a client repeats itself: an access token may be renewed between two tries.
func credential(p principal.Principal) string {
	switch {
	case p.Kind == principal.APIKey:
		return p.CredentialID
	case p.UserID != "":
		return p.UserID + "/" + p.ClientID
	}
	return p.ClientID
}

func printable(key string) bool {
	if key == "" || len(key) > longestKey {
		return false
	}
	for i := range len(key) {
		if key[i] < ' ' || key[i] > '~' {
			return false
		}
	}
	return true
}

// Record is what a key created, and the answer it got.
type Record struct {
	RequestHash []byte
	Status      int32
	Body        []byte // empty where the answer held a secret and must not be given again
	ResourceID  string
}

// Table is the columns of idempotency_key in the order of InsertArgs.
const Table = `idempotency_key (tenant_id, credential_id, key, request_hash, status, body, resource_id)`

const constraint = "idempotency_key_pkey"

// Lock queues, as the first statement of the creating batch, the claim that no other request under the key is running:
// another one running makes the batch fail at once instead of waiting.
func (k Key) Lock(b *pg.Batch) {
	if k.Given() {
		// A batch can only be stopped by an error: 1/0 is the one that plain SQL can raise.
		b.Exec(`SELECT 1 / pg_try_advisory_xact_lock(hashtextextended($1, 0))::int`, "idempotency\x1f"+k.Tenant+"\x1f"+k.Credential+"\x1f"+k.Value)
	}
}

// Keep queues the record of what the batch creates. A key that was used before makes the batch fail, whole.
func (k Key) Keep(b *pg.Batch, status int32, body []byte, resourceID string) {
	if k.Given() {
		b.Exec(`INSERT INTO `+Table+` VALUES ($1, $2, $3, $4, $5, $6, $7)`, k.Tenant, k.Credential, k.Value, k.Hash, status, body, resourceID)
	}
}

// Repeat decides the error of a creating batch. When the key was used before it gives the first answer's record, or a
// fault if that was another request. Any other error comes back as it is.
func (k Key) Repeat(ctx context.Context, db *pg.DB, err error) (*Record, error) {
	switch {
	case !k.Given():
		return nil, err
	case pg.HasCode(err, pg.DivisionByZero):
		return nil, fault.New(fault.Conflict, "idempotency_key_in_use", "A request with this Idempotency-Key is still running.")
	case !pg.Violates(err, constraint):
		return nil, err
	}
	found, err := k.Earlier(ctx, db)
	if found == nil && err == nil {
		err = fault.Away(nil, "The Idempotency-Key has just expired; try again.")
	}
	return found, err
}

// Earlier gives the record of an earlier use of the key, or a fault if that was another request; nil when there is
// none. Repeat asks it where the batch failed over the record; a verb that stores nothing for a reason of its own, such
// as a plan that is full by now, asks it before it says so.
func (k Key) Earlier(ctx context.Context, db *pg.DB) (*Record, error) {
	if !k.Given() {
		return nil, nil //nolint:nilnil // a request without a key was never here before
	}
	const query = `
		SELECT request_hash, status, body, resource_id FROM idempotency_key
		WHERE tenant_id = $1 AND credential_id = $2 AND key = $3`
	var found *Record
	b := pg.Tenant(k.Tenant)
	pg.Row(b, &found, query, k.Tenant, k.Credential, k.Value)
	if err := db.Send(ctx, b); err != nil {
		return nil, err
	}
	if found == nil {
		return nil, nil //nolint:nilnil // none is an answer
	}
	if !hmac.Equal(found.RequestHash, k.Hash) {
		return nil, Reused()
	}
	return found, nil
}

// Reused is the fault of a key that comes with another request than it did before.
func Reused() error {
	return fault.New(fault.IdempotencyMismatch, "idempotency_key_reused", "The Idempotency-Key came with another request before.")
}

const (
	sweepEvery  = time.Minute
	sweepAtOnce = 1000
)

// Sweep deletes expired keys, a bounded number at a time, until ctx ends. The table's database has the function
// sweep_idempotency_keys for it, since the service itself sees one tenant at a time.
func Sweep(ctx context.Context, db *pg.DB, failed func(error)) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		var gone int64
		b := pg.Global()
		pg.Value(b, &gone, `SELECT sweep_idempotency_keys($1)`, sweepAtOnce)
		if err := db.Send(ctx, b); err != nil && ctx.Err() == nil {
			failed(err)
		}
		if gone == sweepAtOnce {
			continue
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
