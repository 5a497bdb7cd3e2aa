// Package launch is for applications that the portal launches for a signed-in user (flow A). It opens the payload that
// the browser brings, signs its one-time code, and keeps the tokens that the code is exchanged for fresh. It does not
// know how an application keeps its own sessions, nor what it does with records.
//
// The portal sends the browser to the application at /auth?lpl=<payload>. There:
//
//	client := &launch.Client{Base: "https://records.example", Secret: secret, Environment: "production", ApplicationID: id}
//
//	func auth(w http.ResponseWriter, r *http.Request) {
//		opened, err := client.Open(r.URL.Query().Get("lpl"), time.Now())
//		if err != nil { /* launch.ErrExpired, or launch.ErrPayload: ask to launch again */ }
//		tokens, err := client.Exchange(r.Context(), opened)
//		if err != nil { /* launch.ErrRefused: ask to launch again; anything else: try later */ }
//		session := client.Session(tokens)
//		me, err := client.Myself(r.Context(), session)
//		…
//		records := session.HTTP() // an *http.Client that refreshes once on 401
//	}
//
// An application that wants to know nothing but who the user is (flow C) calls [Client.Identify] and is done.
//
// # Login CSRF
//
// A payload says who launched, not whose browser it came in. Somebody can launch the application as themselves and make
// another person's browser open the address, who would from then on work, unknowing, in the wrong account. So:
//
//   - A launch must never silently replace another user's session. Exchange the code, since it lives for a minute only,
//     but keep the new session aside; ask "You are signed in as A. Continue as B?" in a form with a token of its own
//     that is bound to the browser by a cookie; replace the session by that POST alone. Where the answer is no, end the
//     new session by [Client.Logout].
//   - Give the browser a new session cookie at each launch, HttpOnly, SameSite=Lax, and Secure with the prefix __Host-
//     where there is TLS.
//   - Show on every page who is signed in.
//   - Answer /auth with a redirect (303) to a page without the payload and with Referrer-Policy: no-referrer, and keep
//     query strings out of logs.
//
// The example application in tools/example does all of this.
package launch

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// The form of a payload: version ‖ salt ‖ nonce ‖ AES-256-GCM ciphertext with its tag.
const (
	version    = 1
	saltSize   = 16
	nonceSize  = 12
	tagSize    = 16
	keySize    = 32
	headSize   = 1 + saltSize + nonceSize
	infoPrefix = "lpl-v1:"
)

// longest is the longest payload that is looked at, in characters; a genuine one has about 500.
const longest = 4096

// leeway is how far the application's clock may be from the platform's. How long a code lives the platform decides.
const leeway = 30 * time.Second

// What is wrong with a payload.
var (
	// ErrPayload is the one answer to everything that is not a payload for this secret and environment.
	ErrPayload = errors.New("launch: the payload cannot be opened")
	// ErrExpired is a genuine payload that is too old, or from a clock that runs ahead.
	ErrExpired = errors.New("launch: the payload is out of its time")
)

// Launch is what a payload says.
type Launch struct {
	SecurityCode  string    `json:"securityCode"` // works once
	UserID        string    `json:"userId"`
	TenantID      string    `json:"tenantId"`
	ApplicationID string    `json:"applicationId"`
	Environment   string    `json:"environment"`
	IssuedAt      time.Time `json:"issuedAt"`
	ExpiresAt     time.Time `json:"expiresAt"`
}

func (l Launch) complete() bool {
	return l.SecurityCode != "" && l.UserID != "" && l.TenantID != "" && l.ApplicationID != "" && l.Environment != "" &&
		!l.IssuedAt.IsZero() && l.ExpiresAt.After(l.IssuedAt)
}

// Open decrypts a payload: base64, of either alphabet, with padding or without.
func Open(payload, secret, environment string, now time.Time) (Launch, error) {
	raw, ok := decode(payload)
	if !ok || secret == "" || len(raw) < headSize+tagSize || raw[0] != version {
		return Launch{}, ErrPayload
	}
	salt, nonce, text := raw[1:1+saltSize], raw[1+saltSize:headSize], raw[headSize:]
	aead, err := sealer(secret, environment, salt)
	if err != nil {
		return Launch{}, ErrPayload
	}
	plain, err := aead.Open(nil, nonce, text, raw[:1])
	if err != nil {
		return Launch{}, ErrPayload
	}
	var l Launch
	if json.Unmarshal(plain, &l) != nil || !l.complete() || l.Environment != environment {
		return Launch{}, ErrPayload
	}
	if now.Add(leeway).Before(l.IssuedAt) || !now.Add(-leeway).Before(l.ExpiresAt) {
		return Launch{}, ErrExpired
	}
	return l, nil
}

// Seal encrypts what a payload is to say, for the application that shares the secret. Platforms use it, and tests.
func Seal(l Launch, secret string, random io.Reader) (string, error) {
	if secret == "" || !l.complete() {
		return "", errors.New("launch: a payload needs a secret and every member")
	}
	head := make([]byte, headSize)
	if _, err := io.ReadFull(random, head[1:]); err != nil {
		return "", fmt.Errorf("launch: read randomness: %w", err)
	}
	head[0] = version
	l.IssuedAt, l.ExpiresAt = l.IssuedAt.UTC(), l.ExpiresAt.UTC()
	plain, err := json.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("launch: %w", err)
	}
	aead, err := sealer(secret, l.Environment, head[1:1+saltSize])
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(aead.Seal(head, head[1+saltSize:], plain, head[:1])), nil
}

// sealer derives the key of one payload (RFC 5869). An application has one secret for all environments it is registered
// under by mistake; the environment in info keeps their payloads apart all the same.
func sealer(secret, environment string, salt []byte) (cipher.AEAD, error) {
	key, err := hkdf.Key(sha256.New, []byte(secret), salt, infoPrefix+environment, keySize)
	if err != nil {
		return nil, fmt.Errorf("launch: derive key: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	return cipher.NewGCM(block)
}

// decode reads base64 of either alphabet, padded or not. A plus sign that a form decoder made a space is one again.
func decode(payload string) ([]byte, bool) {
	if len(payload) > longest || strings.ContainsAny(payload, "\r\n") { // which Go's decoder would pass over
		return nil, false
	}
	bare := strings.TrimRight(payload, "=")
	if padding := len(payload) - len(bare); padding > 0 && (padding > 2 || len(payload)%4 != 0) {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.NewReplacer("+", "-", " ", "-", "/", "_").Replace(bare))
	return raw, err == nil
}

// Sign is the proof that one holds the secret: the HMAC-SHA256 of a one-time code in lower-case hexadecimal.
func Sign(secret, code string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(code))
	return hex.EncodeToString(mac.Sum(nil))
}

// Signed reports, in constant time, whether a signature is the code's.
func Signed(secret, code, signature string) bool {
	return hmac.Equal([]byte(Sign(secret, code)), []byte(signature))
}
