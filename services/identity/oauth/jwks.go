package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v3"

	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// SigningKey is a key that the server signs with, as it is kept.
type SigningKey struct {
	ID            string
	PublicJWK     json.RawMessage
	PrivateSealed []byte // PKCS #8, encrypted
}

// KeyStore keeps signing keys.
type KeyStore interface {
	// SigningKeys gives all keys, the one in use first.
	SigningKeys(ctx context.Context) ([]SigningKey, error)
	// KeepSigningKey stores a key, unless one is in use already.
	KeepSigningKey(ctx context.Context, k SigningKey) error
}

// keysFresh is how long the published keys are kept in memory: a key that another replica made shows within it.
const keysFresh = time.Minute

// Keys holds the keys that the server signs with: ES256, the first one made when the first is needed. It is safe for
// concurrent use.
type Keys struct {
	Store  KeyStore
	Sealer *seal.Sealer
	Random io.Reader
	Now    func() time.Time

	mu   sync.Mutex
	set  []byte
	read time.Time
}

// set of public keys (RFC 7517 §5).
type keySet struct {
	Keys []json.RawMessage `json:"keys"`
}

// Published gives the public keys as JSON.
func (k *Keys) Published(ctx context.Context) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.set != nil && k.Now().Sub(k.read) < keysFresh {
		return k.set, nil
	}
	list, err := k.Store.SigningKeys(ctx)
	if err == nil && len(list) == 0 {
		list, err = k.first(ctx)
	}
	if err != nil {
		return nil, err
	}
	set := keySet{Keys: make([]json.RawMessage, 0, len(list))}
	for _, key := range list {
		set.Keys = append(set.Keys, key.PublicJWK)
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return nil, fmt.Errorf("write key set: %w", err)
	}
	k.set, k.read = raw, k.Now()
	return raw, nil
}

// first makes a key and gives what is then in use, which may be another replica's.
func (k *Keys) first(ctx context.Context) ([]SigningKey, error) {
	made, err := k.generate()
	if err != nil {
		return nil, err
	}
	if err := k.Store.KeepSigningKey(ctx, made); err != nil {
		return nil, err
	}
	return k.Store.SigningKeys(ctx)
}

func (k *Keys) generate() (SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), k.Random)
	if err != nil {
		return SigningKey{}, fmt.Errorf("make signing key: %w", err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return SigningKey{}, fmt.Errorf("write signing key: %w", err)
	}
	jwk := jose.JSONWebKey{Key: private.Public(), Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return SigningKey{}, fmt.Errorf("name signing key: %w", err)
	}
	jwk.KeyID = fmt.Sprintf("%x", thumbprint[:16])
	public, err := jwk.MarshalJSON()
	if err != nil {
		return SigningKey{}, fmt.Errorf("write signing key: %w", err)
	}
	sealed, err := k.Sealer.Seal(pkcs8, "signing_key/"+jwk.KeyID)
	return SigningKey{ID: jwk.KeyID, PublicJWK: public, PrivateSealed: sealed}, err
}

// KeySet is the key set endpoint.
func (s *Server) KeySet(ctx context.Context) Response {
	set, err := s.o.Keys.Published(ctx)
	if err != nil {
		return s.refuse(ctx, unavailable(err), false)
	}
	return public(set)
}
