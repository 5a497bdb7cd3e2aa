package identity

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
)

// The actions that the audit trail tells of.
const (
	auditTokenMint    = "token.mint"
	auditKeyRevoke    = "key.revoke"
	auditClientCreate = "client.create"
	auditClientDelete = "client.delete"

	auditApplicationCreate = "application.create"
	auditApplicationDelete = "application.delete"
	auditLaunchCreate      = "launch.create"
	auditLaunchExchange    = "launch.exchange"
)

// entry tells of what is done in a tenant, in that tenant's own trail.
func (s *Service) entry(ctx context.Context, tenant, action string) audit.Entry {
	return audit.Of(ctx, s.Now(), s.NewID, action).In(tenant)
}
