package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const insertApplication = `
	INSERT INTO external_application (tenant_id, id, name, launch_url, secret_sealed, environment, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7)`

// CreateApplication is identity.ApplicationStore's.
func (s *Store) CreateApplication(ctx context.Context, a identity.Application) error {
	b := pg.Tenant(a.TenantID)
	b.Exec(insertApplication, a.TenantID, a.ID, a.Name, a.LaunchURL, a.SecretSealed, a.Environment, a.CreatedAt)
	return s.DB.Send(ctx, b)
}
