// Package passkeytest is authenticators in software, for tests.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"testing"

	webauthn "github.com/descope/virtualwebauthn"
)

// Device is an authenticator with one key, in a browser that is at Party's pages.
type Device struct {
	Party webauthn.RelyingParty
	Auth  webauthn.Authenticator
	Key   webauthn.Credential
}

// New makes the device of a user, known by the handle, for the relying party.
func New(t testing.TB, id, origin string, handle []byte) *Device {
	t.Helper()
	return &Device{
		Party: webauthn.RelyingParty{ID: id, Name: "Patient Mesh", Origin: origin},
		Auth:  webauthn.NewAuthenticatorWithOptions(webauthn.AuthenticatorOptions{UserHandle: handle}),
		Key:   key(t),
	}
}

// key makes a key neither of whose coordinates begins with a zero byte: the library would leave that byte out, which
// no authenticator does (RFC 9053 §7.1.1).
func key(t testing.TB) webauthn.Credential {
	t.Helper()
	for {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		point, err := private.PublicKey.Bytes() // 4, x, y
		if err != nil {
			t.Fatal(err)
		}
		if point[1] == 0 || point[1+32] == 0 {
			continue
		}
		data, err := x509.MarshalPKCS8PrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		return webauthn.NewCredentialWithImportedKey(webauthn.KeyTypeEC2, data)
	}
}

// Create answers the options of a registration.
func (d *Device) Create(t testing.TB, options []byte) []byte {
	t.Helper()
	asked, err := webauthn.ParseAttestationOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	return []byte(webauthn.CreateAttestationResponse(d.Party, d.Auth, d.Key, *asked))
}

// Sign answers the options of a sign-in, and counts it.
func (d *Device) Sign(t testing.TB, options []byte) []byte {
	t.Helper()
	asked, err := webauthn.ParseAssertionOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	d.Key.Counter++
	return []byte(webauthn.CreateAssertionResponse(d.Party, d.Auth, d.Key, *asked))
}
