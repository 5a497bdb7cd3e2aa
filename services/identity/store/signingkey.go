package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

var _ oauth.KeyStore = (*Store)(nil)

const (
	selectSigningKeys = `
		SELECT id, public_jwk::text AS public_jwk, private_sealed FROM signing_key
		ORDER BY retired_at NULLS FIRST, created_at DESC`
	insertSigningKey = `
		INSERT INTO signing_key (id, public_jwk, private_sealed, created_at) VALUES ($1, $2::text::jsonb, $3, now())
		ON CONFLICT DO NOTHING`
)

// SigningKeys is oauth.KeyStore's: the one in use comes first.
func (s *Store) SigningKeys(ctx context.Context) ([]oauth.SigningKey, error) {
	var keys []oauth.SigningKey
	b := pg.Global()
	pg.Rows(b, &keys, selectSigningKeys)
	err := s.DB.Send(ctx, b)
	return keys, err
}

// KeepSigningKey is oauth.KeyStore's: of several replicas that begin at once, one has its way.
func (s *Store) KeepSigningKey(ctx context.Context, k oauth.SigningKey) error {
	b := pg.Global()
	b.Exec(insertSigningKey, k.ID, string(k.PublicJWK), k.PrivateSealed)
	return s.DB.Send(ctx, b)
}
