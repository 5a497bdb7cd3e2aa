// Package store keeps tenants in PostgreSQL. Every statement names the tenant, or the user whose memberships it is
// about, and row-level security holds it to them a second time. It knows no HTTP and no rule of a tenant.
package store

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Migrations are the database's versions, for pg.Migrate.
func Migrations() fs.FS {
	sub, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the folder is embedded above
	}
	return sub
}

// Store is a tenant.Store on PostgreSQL. It is safe for concurrent use.
type Store struct {
	DB  *pg.DB
	Log *slog.Logger
}

// Sweep deletes expired idempotency keys until ctx ends.
func (s *Store) Sweep(ctx context.Context) error {
	return idempotency.Sweep(ctx, s.DB, func(err error) {
		s.Log.WarnContext(ctx, "sweep idempotency keys", "error", err.Error())
	})
}

var _ tenant.Store = (*Store)(nil)

// asUser begins a batch that sees a user's own memberships, and of tenants those that the user is a member of.
func asUser(id string) *pg.Batch {
	b := pg.Global()
	b.Exec(`SELECT set_config('app.user_id', $1, true)`, id)
	return b
}

// as goes on as another tenant within a batch.
func as(b *pg.Batch, tenant string) {
	b.Exec(`SELECT set_config('app.tenant_id', $1, true)`, tenant)
}

// given is an id as a parameter of a query; the null of an empty one is none.
func given(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// endUser queues that gateways ask about all of the user's credentials anew.
func endUser(b *pg.Batch, id string) {
	outbox.Enqueue(b, outbox.Message{Kind: session.Effect, Payload: session.Revocation{User: id}})
}

// endSessions queues that gateways ask about all of the tenant's credentials anew.
func endSessions(b *pg.Batch, id string) {
	outbox.Enqueue(b, outbox.Message{Kind: session.Effect, Payload: session.Revocation{Tenant: id}})
}
