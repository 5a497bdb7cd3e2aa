package principal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// sealPurpose makes, of a key that signs, another one that seals (RFC 5869).
const sealPurpose = "mesh seal v1"

// newSeal is AES-256-GCM with a nonce that it makes by chance and puts before what it seals.
func newSeal(secret []byte) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, secret, nil, sealPurpose, sha256.Size)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Seal hides a text that goes out in a URL and comes back: programs of the mesh alone can read it, and only for what it is
// bound to.
func (r *Keyring) Seal(text string, bound ...string) string {
	sealed := r.keys[0].seal.Seal(nil, nil, []byte(text), additional(bound)) //nolint:gosec // it makes a nonce of its own each time
	return base64.RawURLEncoding.EncodeToString(sealed)
}

// Open gives the text that was sealed for this; ok is false for everything else.
func (r *Keyring) Open(sealed string, bound ...string) (text string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	for _, k := range r.keys {
		if text, err := k.seal.Open(nil, nil, raw, additional(bound)); err == nil {
			return string(text), true
		}
	}
	return "", false
}

func additional(bound []string) []byte { return []byte(strings.Join(bound, "\n")) }
