package principal

import (
	"crypto/cipher"
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

// Keyring holds the keys that assertions are signed with: the first signs (and seals), all verify. A new key is appended to
// every program's before it becomes any program's first. It is safe for concurrent use.
type Keyring struct {
	keys []key
	read recent
}

type key struct {
	id   string
	sums *sync.Pool // of *summer
	seal cipher.AEAD
}

// summer is what a sum is made with, kept from one to the next.
type summer struct {
	mac  hash.Hash
	text []byte
	sum  [sha256.Size]byte
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
		seal, err := newSeal(secret)
		if err != nil {
			return nil, fmt.Errorf("mesh key: %w", err)
		}
		ring.keys = append(ring.keys, key{
			id: id, sums: &sync.Pool{New: func() any { return &summer{mac: hmac.New(sha256.New, secret)} }}, seal: seal,
		})
	}
	return ring, nil
}

// Sign makes the assertion for one request: its method and its target as it stands on the request line.
func (r *Keyring) Sign(p Encoded, method, target string, now time.Time) string {
	k := r.keys[0]
	var stamp [16]byte
	expires := strconv.AppendInt(stamp[:0], now.Add(AssertionLifetime).UnixMilli(), 36)
	sum := k.sum(string(p), string(expires), method, target)
	text := make([]byte, 0, len(k.id)+len(p)+len(expires)+base64.RawURLEncoding.EncodedLen(len(sum))+6)
	text = append(text, "v1."...)
	text = append(text, k.id...)
	text = append(text, '.')
	text = append(text, p...)
	text = append(text, '.')
	text = append(text, expires...)
	text = append(text, '.')
	return string(base64.RawURLEncoding.AppendEncode(text, sum[:]))
}

// Verify gives the principal of an assertion that holds for this method and target, else ErrAssertion.
func (r *Keyring) Verify(assertion, method, target string, now time.Time) (Principal, error) {
	version, rest, _ := strings.Cut(assertion, ".")
	id, rest, _ := strings.Cut(rest, ".")
	encoded, rest, _ := strings.Cut(rest, ".")
	expires, given, ok := strings.Cut(rest, ".")
	if !ok || version != "v1" || !r.holds(id, given, encoded, expires, method, target) {
		return Principal{}, ErrAssertion
	}
	if ms, err := strconv.ParseInt(expires, 36, 64); err != nil || now.UnixMilli() > ms {
		return Principal{}, ErrAssertion
	}
	return r.read.principal(Encoded(encoded))
}

// holds compares what is written with what should be: an encoding that means the same is not the same.
func (r *Keyring) holds(id, given, encoded, expires, method, target string) bool {
	for _, k := range r.keys {
		if k.id == id {
			sum := k.sum(encoded, expires, method, target)
			var written [(sha256.Size*8 + 5) / 6]byte
			base64.RawURLEncoding.Encode(written[:], sum[:])
			return hmac.Equal([]byte(given), written[:])
		}
	}
	return false
}

// sum is the HMAC over the parts, each closed by a newline, which none of them can contain.
func (k key) sum(parts ...string) [sha256.Size]byte {
	s := k.sums.Get().(*summer) //nolint:forcetypeassert // the pool holds nothing else
	defer k.sums.Put(s)
	s.mac.Reset()
	s.text = s.text[:0]
	for _, part := range parts {
		s.text = append(append(s.text, part...), '\n')
	}
	s.mac.Write(s.text)
	s.mac.Sum(s.sum[:0])
	return s.sum
}
