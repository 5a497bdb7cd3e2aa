// Package password hashes what people type, slowly on purpose, and no more of them at a time than memory allows. It
// does not know whose they are.
package password

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"golang.org/x/crypto/argon2"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

const (
	lanes    = 1
	saltSize = 16
	keySize  = 32
)

// Cost is what one hash takes: argon2id's memory in KiB and its passes over that.
type Cost struct{ Memory, Passes uint32 }

// OWASP is the cost that the Password Storage Cheat Sheet asks for: 19 MiB, two passes, one lane.
func OWASP() Cost { return Cost{Memory: 19 * 1024, Passes: 2} }

// waitingPerSlot bounds how many callers wait for each of those that are served: some two seconds of work.
const waitingPerSlot = 64

// Hasher hashes and checks passwords. It is safe for concurrent use.
type Hasher struct {
	cost    Cost
	slots   chan struct{}
	waiting atomic.Int64
	most    int64
	runs    atomic.Int64
	random  io.Reader
}

// New makes a hasher that works on so many passwords at a time; some more wait, and others are turned away.
func New(cost Cost, atOnce int, random io.Reader) *Hasher {
	atOnce = max(1, atOnce)
	return &Hasher{cost: cost, slots: make(chan struct{}, atOnce), most: int64(atOnce) * (1 + waitingPerSlot), random: random}
}

// Runs is how many times the slow function ran, which is what an answer's time tells.
func (h *Hasher) Runs() int64 { return h.runs.Load() }

// Idle does as much work as Matches does and matches nothing, for a user that is not there.
func (h *Hasher) Idle(ctx context.Context, password string) error {
	_, err := h.derive(ctx, password, make([]byte, saltSize), h.cost.Memory, h.cost.Passes, lanes)
	return err
}

// Hash makes what to keep of a password, as the PHC string format writes it.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(h.random, salt); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	key, err := h.derive(ctx, password, salt, h.cost.Memory, h.cost.Passes, lanes)
	if err != nil {
		return "", err
	}
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, h.cost.Memory, h.cost.Passes, lanes, encode(salt), encode(key)), nil
}

// Matches reports, in constant time, whether hash was made of the password. A hash of a form it does not know matches
// nothing.
func (h *Hasher) Matches(ctx context.Context, hash, password string) (bool, error) {
	f, ok := parse(hash)
	if !ok {
		return false, nil
	}
	key, err := h.derive(ctx, password, f.salt, f.memory, f.passes, f.lanes)
	return subtle.ConstantTimeCompare(key, f.key) == 1, err
}

// form is a hash taken apart.
type form struct {
	memory, passes uint32
	lanes          uint8
	salt, key      []byte
}

func parse(hash string) (f form, ok bool) {
	var version int
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return form{}, false
	}
	_, scanErr := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &version, &f.memory, &f.passes, &f.lanes)
	var saltErr, keyErr error
	f.salt, saltErr = base64.RawStdEncoding.DecodeString(parts[4])
	f.key, keyErr = base64.RawStdEncoding.DecodeString(parts[5])
	whole := errors.Join(scanErr, saltErr, keyErr) == nil
	return f, whole && version == argon2.Version && len(f.key) == keySize && f.passes > 0 && f.lanes > 0
}

const busy = "Too many people are signing in just now; try again shortly."

// derive waits for a slot. A caller whose time is up before that, or who finds the queue full, gets a fault of kind
// Unavailable.
func (h *Hasher) derive(ctx context.Context, password string, salt []byte, m, t uint32, p uint8) ([]byte, error) {
	defer h.waiting.Add(-1)
	if h.waiting.Add(1) > h.most {
		return nil, fault.Away(errors.New("the queue is full"), busy) //nolint:err113 // for the log alone
	}
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fault.Away(ctx.Err(), busy)
	}
	defer func() { <-h.slots }()
	h.runs.Add(1)
	return argon2.IDKey([]byte(Normal(password)), salt, t, m, p, keySize), nil
}
