// Package secret makes credentials, hashes them for keeping and compares them in constant time. It does not know who
// they belong to.
package secret

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"strings"

	"github.com/google/uuid"
)

// Bytes of randomness in everything made here: 256 bits.
const size = 32

// Length of a base62 text that holds size random bytes.
const textLength = 43

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// Random makes a text of 256 random bits in base62, which needs no escaping anywhere.
func Random(random io.Reader) (string, error) {
	raw := make([]byte, size)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", fmt.Errorf("read randomness: %w", err)
	}
	return encode(new(big.Int).SetBytes(raw), textLength), nil
}

func encode(n *big.Int, length int) string {
	out := make([]byte, length)
	base, digit := big.NewInt(62), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}

// Hasher makes keyed hashes (HMAC-SHA-256), so that a stolen table alone is no use for guessing. Only secrets that we
// made, of 256 random bits, are kept so: a plain hash is as strong for them as bcrypt, and two hundred times cheaper.
// It is safe for concurrent use.
type Hasher struct{ key []byte }

// NewHasher reads a base64 key of 32 bytes or more.
func NewHasher(encoded string) (Hasher, error) {
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil || len(key) < size {
		return Hasher{}, errors.New("a credential key is base64 of 32 bytes at least")
	}
	return Hasher{key: key}, nil
}

// Key gives a key for another purpose, derived from this one; equal labels give equal keys.
func (h Hasher) Key(label string) []byte { return h.Hash("derive\x00" + label) }

// Hash is what to keep of a secret.
func (h Hasher) Hash(secret string) []byte {
	mac := hmac.New(sha256.New, h.key)
	mac.Write([]byte(secret))
	return mac.Sum(nil)
}

// Matches reports, in constant time, whether hash is what was kept of the secret.
func (h Hasher) Matches(hash []byte, secret string) bool { return hmac.Equal(hash, h.Hash(secret)) }

// APIKey is the key prs_<environment>_<id>_<secret>_<checksum>. The prefix lets scanners find leaked keys, the
// checksum lets a mistyped one be refused without a look-up.
type APIKey struct {
	Environment string // demo or prod
	ID          uuid.UUID
	Secret      string
}

// KeyEnvironment is how a key spells an environment.
func KeyEnvironment(environment string) string {
	if environment == "production" {
		return "prod"
	}
	return environment
}

// NewAPIKey makes a key with a new secret.
func NewAPIKey(random io.Reader, environment string, id uuid.UUID) (APIKey, error) {
	text, err := Random(random)
	return APIKey{Environment: KeyEnvironment(environment), ID: id, Secret: text}, err
}

// Prefix is the part of the key that may be shown: it names the key and opens nothing.
func (k APIKey) Prefix() string { return "prs_" + k.Environment + "_" + hex.EncodeToString(k.ID[:]) }

// String is the whole key.
func (k APIKey) String() string {
	body := k.Prefix() + "_" + k.Secret
	return body + "_" + checksum(body)
}

func checksum(body string) string {
	return encode(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), 6)
}

// LooksLikeAPIKey reports whether a token claims to be an API key.
func LooksLikeAPIKey(token string) bool { return strings.HasPrefix(token, "prs_") }

// ParseAPIKey reads a key and checks its checksum. It says nothing about whether the key was ever issued.
func ParseAPIKey(token string) (key APIKey, ok bool) {
	parts := strings.Split(token, "_")
	if len(parts) != 5 || parts[0] != "prs" || (parts[1] != "demo" && parts[1] != "prod") || len(parts[3]) != textLength {
		return APIKey{}, false
	}
	raw, err := hex.DecodeString(parts[2])
	if err != nil || len(raw) != len(uuid.UUID{}) || strings.ToLower(parts[2]) != parts[2] {
		return APIKey{}, false
	}
	key = APIKey{Environment: parts[1], ID: uuid.UUID(raw), Secret: parts[3]}
	return key, key.String() == token
}
