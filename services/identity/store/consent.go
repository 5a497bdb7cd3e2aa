package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

var _ identity.ConsentStore = (*Store)(nil)

const (
	selectConsent = `SELECT scope FROM consent WHERE user_id = $1 AND client_id = $2`
	upsertConsent = `
		INSERT INTO consent (user_id, client_id, scope, granted_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (user_id, client_id) DO UPDATE SET granted_at = excluded.granted_at, scope =
			ARRAY(SELECT DISTINCT unnest(consent.scope || excluded.scope) ORDER BY 1)`
)

// Consented is identity.ConsentStore's.
func (s *Store) Consented(ctx context.Context, user, client string) ([]string, error) {
	var scopes []string
	b := asUser(user)
	pg.Value(b, &scopes, selectConsent, user, client)
	err := s.DB.Send(ctx, b)
	return scopes, err
}

// Consent is identity.ConsentStore's.
func (s *Store) Consent(ctx context.Context, user, client string, scopes []string, now time.Time, e audit.Entry) error {
	b := asUser(user)
	b.Exec(upsertConsent, user, client, scopes, now)
	tell(b, e)
	return s.DB.Send(ctx, b)
}
