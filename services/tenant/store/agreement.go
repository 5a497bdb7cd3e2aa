package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

// inEffect is the id of the agreement in effect now.
const inEffect = `(SELECT id FROM agreement WHERE effective_at <= now() ORDER BY version DESC LIMIT 1)`

const selectAgreement = `SELECT id, version, title, text FROM agreement WHERE id = ` + inEffect

// Agreement is tenant.Store's.
func (s *Store) Agreement(ctx context.Context) (*tenant.Agreement, error) {
	var found *tenant.Agreement
	b := pg.Global()
	pg.Row(b, &found, selectAgreement)
	err := s.DB.Send(ctx, b)
	return found, err
}

// statusRow has nulls where the tenant has not accepted.
type statusRow struct {
	AgreementID    string
	Version        int
	UserID         *string
	CredentialKind *principal.Kind
	CredentialID   *string
	AcceptedAt     *time.Time
}

func (r statusRow) status() *tenant.AgreementStatus {
	s := &tenant.AgreementStatus{AgreementID: r.AgreementID, Version: r.Version}
	if r.AcceptedAt != nil {
		s.Acceptance = &tenant.Acceptance{
			UserID: r.UserID, CredentialKind: *r.CredentialKind, CredentialID: *r.CredentialID, AcceptedAt: *r.AcceptedAt,
		}
	}
	return s
}

const selectStatus = `
	SELECT g.id AS agreement_id, g.version, a.user_id, a.credential_kind, a.credential_id, a.accepted_at
	FROM agreement g LEFT JOIN agreement_acceptance a ON a.tenant_id = $1 AND a.agreement_id = g.id
	WHERE g.id = ` + inEffect

// AgreementStatus is tenant.Store's.
func (s *Store) AgreementStatus(ctx context.Context, id string) (*tenant.AgreementStatus, error) {
	return s.status(ctx, pg.Tenant(id), id)
}

// status sends the batch with the question for the tenant's status at its end.
func (s *Store) status(ctx context.Context, b *pg.Batch, id string) (*tenant.AgreementStatus, error) {
	var row *statusRow
	pg.Row(b, &row, selectStatus, id)
	if err := s.DB.Send(ctx, b); err != nil || row == nil {
		return nil, err
	}
	return row.status(), nil
}

// Whoever accepts at the same time, the first stands.
const insertAcceptance = `
	INSERT INTO agreement_acceptance (tenant_id, agreement_id, user_id, credential_kind, credential_id, accepted_at)
	SELECT $1, id, $3, $4, $5, $6 FROM agreement WHERE id = $2 AND id = ` + inEffect + `
	ON CONFLICT (tenant_id, agreement_id) DO NOTHING`

// Accept is tenant.Store's.
func (s *Store) Accept(ctx context.Context, id, agreement string, a tenant.Acceptance, e audit.Entry) (*tenant.AgreementStatus, error) {
	var accepted int64
	b := pg.Tenant(id)
	audit.Change(b, &accepted, e, insertAcceptance, id, agreement, a.UserID, a.CredentialKind, a.CredentialID, a.AcceptedAt)
	endSessions(b, id)
	return s.status(ctx, b, id)
}
