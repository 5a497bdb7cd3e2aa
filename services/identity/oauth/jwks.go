package oauth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// SigningKey is a key that the server signs with, as it is kept.
type SigningKey struct {
	ID            string
	Generation    int32 // counts from 1
	PublicJWK     json.RawMessage
	PrivateSealed []byte // PKCS #8, encrypted
	CreatedAt     time.Time
	SignsFrom     time.Time
}

// KeyStore keeps signing keys.
type KeyStore interface {
	// SigningKeys gives all keys, the newest first.
	SigningKeys(ctx context.Context) ([]SigningKey, error)
	// KeepSigningKey stores a key, unless its generation is there already.
	KeepSigningKey(ctx context.Context, k SigningKey) error
}

const (
	keysFresh = time.Minute     // how long keys are kept in memory: one that another replica made shows within it
	keysRetry = 5 * time.Second // between looks at a database that is away
	keysStale = 5 * time.Minute // how long they are published while the database is away
	// publishAhead is how long a key is published before it signs: longer than anybody keeps a copy of the set.
	publishAhead = time.Hour
	// signedLife is how long after it stopped signing a key is still published: longer than what it signed is looked at.
	signedLife = 24 * time.Hour
	// KeyRotation is how long a key signs unless configured.
	KeyRotation = 90 * 24 * time.Hour
)

// Keys holds the keys that the server signs with: ES256, the first one made when the first is needed, the next before
// the last one's time is over. It is safe for concurrent use.
type Keys struct {
	Store    KeyStore
	Sealer   *seal.Sealer
	Random   io.Reader
	Now      func() time.Time
	Rotation time.Duration // KeyRotation unless given

	mu     sync.Mutex
	set    []byte
	signer jose.SigningKey
	read   time.Time
	tried  time.Time // when the database was away
}

// set of public keys (RFC 7517 §5).
type keySet struct {
	Keys []json.RawMessage `json:"keys"`
}

// Published gives the public keys as JSON.
func (k *Keys) Published(ctx context.Context) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	err := k.refresh(ctx)
	if err != nil {
		return nil, err
	}
	return k.set, nil
}

// Sign signs claims as a JWT of a type.
func (k *Keys) Sign(ctx context.Context, mediaType string, claims any) ([]byte, error) {
	k.mu.Lock()
	err := k.refresh(ctx)
	key := k.signer
	k.mu.Unlock()
	if err != nil {
		return nil, err
	}
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(jose.ContentType(mediaType)))
	if err != nil {
		return nil, fmt.Errorf("signer: %w", err)
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		return nil, fmt.Errorf("sign: %w", err)
	}
	return []byte(text), nil
}

// refresh reads the keys when those in memory are no longer fresh. While the database is away they do for a while.
func (k *Keys) refresh(ctx context.Context) error {
	now := k.Now()
	age := now.Sub(k.read)
	usable := k.set != nil && age < keysStale
	if k.set != nil && age < keysFresh || usable && now.Sub(k.tried) < keysRetry {
		return nil
	}
	err := k.load(ctx, now)
	if fault.Is(err, fault.Unavailable) {
		if k.tried = now; usable {
			return nil
		}
	}
	return err
}

func (k *Keys) load(ctx context.Context, now time.Time) error {
	list, err := k.Store.SigningKeys(ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 || !now.Before(list[0].SignsFrom.Add(k.rotation()-publishAhead)) {
		if list, err = k.next(ctx, list, now); err != nil {
			return err
		}
	}
	set := keySet{Keys: []json.RawMessage{}}
	var signing *SigningKey
	for i, key := range list {
		if i > 0 && now.After(list[i-1].SignsFrom.Add(signedLife)) {
			break // the one after it has signed alone for long
		}
		set.Keys = append(set.Keys, key.PublicJWK)
		if signing == nil && !now.Before(key.SignsFrom) {
			signing = &list[i]
		}
	}
	if signing == nil {
		return errors.New("no signing key is due") //nolint:err113 // cannot be: the first signs from the start
	}
	signer, err := k.open(*signing)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return fmt.Errorf("write key set: %w", err)
	}
	k.set, k.signer, k.read = raw, signer, now
	return nil
}

func (k *Keys) rotation() time.Duration {
	if k.Rotation <= 0 {
		return KeyRotation
	}
	return max(k.Rotation, 2*publishAhead)
}

// next makes the key that follows and gives what then is there, which may be another replica's.
func (k *Keys) next(ctx context.Context, list []SigningKey, now time.Time) ([]SigningKey, error) {
	made, err := k.generate()
	if err != nil {
		return nil, err
	}
	made.Generation, made.CreatedAt, made.SignsFrom = 1, now, now
	if len(list) > 0 {
		made.Generation, made.SignsFrom = list[0].Generation+1, now.Add(publishAhead)
	}
	if err := k.Store.KeepSigningKey(ctx, made); err != nil {
		return nil, err
	}
	return k.Store.SigningKeys(ctx)
}

func keyPurpose(id string) string { return "signing_key/" + id }

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
	sealed, err := k.Sealer.Seal(pkcs8, keyPurpose(jwk.KeyID))
	return SigningKey{ID: jwk.KeyID, PublicJWK: public, PrivateSealed: sealed}, err
}

func (k *Keys) open(key SigningKey) (jose.SigningKey, error) {
	pkcs8, err := k.Sealer.Open(key.PrivateSealed, keyPurpose(key.ID))
	if err != nil {
		return jose.SigningKey{}, err
	}
	private, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return jose.SigningKey{}, fmt.Errorf("read signing key: %w", err)
	}
	return jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: key.ID}}, nil
}

// KeySet is the key set endpoint.
func (s *Server) KeySet(ctx context.Context) Response {
	set, err := s.o.Keys.Published(ctx)
	if err != nil {
		return s.refuse(ctx, unavailable(err), false)
	}
	return public(set)
}
