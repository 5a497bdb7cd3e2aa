package identity

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// The bounds of a client's keys.
const (
	LongestKeySet = 64 << 10
	mostKeys      = 20
	shortestRSA   = 2048 // bits
	longestRSA    = 8192 // more is only a way to keep us busy
)

// AssertionAlgorithms are what a client may sign an assertion by: none of them is symmetric.
func AssertionAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.PS256, jose.EdDSA}
}

// KeyFor reports whether a key is one for the algorithm. The key decides, never who signed.
func KeyFor(k jose.JSONWebKey, algorithm jose.SignatureAlgorithm) bool {
	if k.Algorithm != "" && k.Algorithm != string(algorithm) {
		return false
	}
	switch key := k.Key.(type) {
	case *ecdsa.PublicKey:
		return algorithm == jose.ES256 && key.Curve == elliptic.P256()
	case ed25519.PublicKey:
		return algorithm == jose.EdDSA
	case *rsa.PublicKey:
		bits := key.N.BitLen()
		return (algorithm == jose.RS256 || algorithm == jose.PS256) && bits >= shortestRSA && bits <= longestRSA
	}
	return false
}

// ReadKeySet gives the keys of a set that assertions can be checked by, and how many others there are: a server may
// publish keys for other uses beside them.
func ReadKeySet(text []byte) (fit []jose.JSONWebKey, others int, ok bool) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if len(text) > LongestKeySet || json.Unmarshal(text, &set) != nil || len(set.Keys) > mostKeys {
		return nil, 0, false
	}
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) != nil || !usable(k) {
			others++
			continue
		}
		// What else a key says about itself (x5c, x5u) is nothing that we go by.
		fit = append(fit, jose.JSONWebKey{Key: k.Key, KeyID: k.KeyID, Algorithm: k.Algorithm})
	}
	return fit, others, true
}

func usable(k jose.JSONWebKey) bool {
	return k.Valid() && k.IsPublic() && (k.Use == "" || k.Use == "sig") &&
		slices.ContainsFunc(AssertionAlgorithms(), func(a jose.SignatureAlgorithm) bool { return KeyFor(k, a) })
}

// keyFaults tells what is wrong with the keys of a client. One that is symmetric, or private, means that somebody sent
// what they should have kept.
func (c Client) keyFaults() []fault.Field {
	var faults []fault.Field
	if c.AuthMethod != PrivateKey {
		if c.JWKS != "" {
			faults = append(faults, wrong("jwks", "not_supported", "is for private_key_jwt alone"))
		}
		if c.JWKSURI != "" {
			faults = append(faults, wrong("jwks_uri", "not_supported", "is for private_key_jwt alone"))
		}
		return faults
	}
	switch {
	case c.JWKS == "" && c.JWKSURI == "":
		faults = append(faults, wrong("jwks", "required", "private_key_jwt needs jwks or jwks_uri"))
	case c.JWKS != "" && c.JWKSURI != "":
		faults = append(faults, wrong("jwks_uri", "at_odds", "is not together with jwks (RFC 7591 §2)"))
	case c.JWKS != "":
		if fit, others, ok := ReadKeySet([]byte(c.JWKS)); !ok || others > 0 || len(fit) == 0 {
			faults = append(faults, wrong("jwks", "invalid_keys", "must be a set of public keys: EC P-256, RSA of 2048 bits or more, or Ed25519"))
		}
	case !fetchable(c.JWKSURI):
		faults = append(faults, wrong("jwks_uri", "invalid_uri", "must be an https address without credentials and fragment"))
	}
	return faults
}

// fetchable reports an address that can be one of keys. Where it leads is judged when it is fetched.
func fetchable(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > longestURI || u.Host == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	return u.Scheme == "https" || redirectable(text)
}
