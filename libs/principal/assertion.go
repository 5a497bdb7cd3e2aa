package principal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"strings"
	"sync"
	"time"
)

// AssertionHeader carries an assertion from hop to hop inside the mesh. The gateway drops it from callers' requests.
const AssertionHeader = "Mesh-Assertion"

// AssertionLifetime is how long an assertion is good for. It covers clock skew between two hosts and a request that
// waited in a queue; the binding to method and target makes a stolen one worth little in that time.
const AssertionLifetime = 30 * time.Second

// ErrAssertion is the one answer to every assertion that does not hold, whatever is wrong with it.
var ErrAssertion = errors.New("assertion does not hold")

// Encoded is a principal in the form in which assertions carry it, made once and used for many requests.
type Encoded string

// Encode prepares a principal for Keyring.Sign.
func Encode(p Principal) Encoded {
	raw, err := json.Marshal(p)
	if err != nil {
		panic(fmt.Sprintf("principal: marshal: %v", err)) // strings, an integer and a time cannot fail to marshal
	}
	return Encoded(base64.RawURLEncoding.EncodeToString(raw))
}

// Keyring holds the keys that assertions are signed with: the first signs, all verify, so that keys can be rotated one
// program at a time. It is safe for concurrent use.
type Keyring struct {
	keys []key
}

type key struct {
	id   string
	macs *sync.Pool
}

// ParseKeyring reads "id:base64key,id:base64key". Keys are of 32 bytes at least.
func ParseKeyring(text string) (*Keyring, error) {
	ring := &Keyring{}
	for item := range strings.SplitSeq(text, ",") {
		id, encoded, ok := strings.Cut(strings.TrimSpace(item), ":")
		secret, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || id == "" || strings.Contains(id, ".") || err != nil || len(secret) < 32 {
			return nil, errors.New("a mesh key is written id:base64, of 32 bytes at least")
		}
		ring.keys = append(ring.keys, key{id: id, macs: &sync.Pool{New: func() any { return hmac.New(sha256.New, secret) }}})
	}
	return ring, nil
}

// Sign makes the assertion for one request: its method and its target as it stands on the request line.
func (r *Keyring) Sign(p Encoded, method, target string, now time.Time) string {
	k := r.keys[0]
	expires := strconv.FormatInt(now.Add(AssertionLifetime).UnixMilli(), 36)
	mac := k.sum(string(p), expires, method, target)
	var b strings.Builder
	b.Grow(len(k.id) + len(p) + len(expires) + base64.RawURLEncoding.EncodedLen(len(mac)) + 6)
	b.WriteString("v1.")
	b.WriteString(k.id)
	b.WriteByte('.')
	b.WriteString(string(p))
	b.WriteByte('.')
	b.WriteString(expires)
	b.WriteByte('.')
	b.WriteString(base64.RawURLEncoding.EncodeToString(mac))
	return b.String()
}

// Verify gives the principal of an assertion that holds for this method and target, else ErrAssertion.
func (r *Keyring) Verify(assertion, method, target string, now time.Time) (Principal, error) {
	parts := strings.Split(assertion, ".")
	if len(parts) != 5 || parts[0] != "v1" {
		return Principal{}, ErrAssertion
	}
	id, encoded, expires := parts[1], parts[2], parts[3]
	given, err := base64.RawURLEncoding.DecodeString(parts[4])
	if err != nil || !r.holds(id, given, encoded, expires, method, target) {
		return Principal{}, ErrAssertion
	}
	if ms, err := strconv.ParseInt(expires, 36, 64); err != nil || now.UnixMilli() > ms {
		return Principal{}, ErrAssertion
	}
	raw, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return Principal{}, ErrAssertion
	}
	var p Principal
	if err := json.Unmarshal(raw, &p); err != nil {
		return Principal{}, ErrAssertion
	}
	return p, nil
}

func (r *Keyring) holds(id string, given []byte, parts ...string) bool {
	for _, k := range r.keys {
		if k.id == id {
			return hmac.Equal(given, k.sum(parts...))
		}
	}
	return false
}

// sum is the HMAC over the parts, each closed by a newline, which none of them can contain.
func (k key) sum(parts ...string) []byte {
	mac := k.macs.Get().(hash.Hash) //nolint:forcetypeassert // the pool holds nothing else
	defer k.macs.Put(mac)
	mac.Reset()
	for _, part := range parts {
		mac.Write([]byte(part))
		mac.Write([]byte{'\n'})
	}
	return mac.Sum(nil)
}
