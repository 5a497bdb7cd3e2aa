package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

var _ oauth.KeyStore = (*Store)(nil)

const (
	selectSigningKeys = `
		SELECT id, generation, public_jwk::text AS public_jwk, private_sealed, created_at, signs_from FROM signing_key
		ORDER BY generation DESC`
	insertSigningKey = `
		INSERT INTO signing_key (id, generation, public_jwk, private_sealed, created_at, signs_from)
		VALUES ($1, $2, $3::text::jsonb, $4, $5, $6)
		ON CONFLICT DO NOTHING`
)

// SigningKeys is oauth.KeyStore's: the newest comes first.
func (s *Store) SigningKeys(ctx context.Context) ([]oauth.SigningKey, error) {
	var keys []oauth.SigningKey
	b := pg.Global()
	pg.Rows(b, &keys, selectSigningKeys)
	err := s.DB.Send(ctx, b)
	return keys, err
}

// KeepSigningKey is oauth.KeyStore's: of several replicas that make the next one at once, one has its way.
func (s *Store) KeepSigningKey(ctx context.Context, k oauth.SigningKey) error {
	b := pg.Global()
	b.Exec(insertSigningKey, k.ID, k.Generation, string(k.PublicJWK), k.PrivateSealed, k.CreatedAt, k.SignsFrom)
	return s.DB.Send(ctx, b)
}
