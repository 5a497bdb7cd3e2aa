// Package store keeps credentials in PostgreSQL. Row-level security holds every statement to one tenant, or to the one
// row that a credential names. It knows no HTTP and no rule of a credential.
package store

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
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

// Store is the stores of identity.Service on PostgreSQL. It is safe for concurrent use.
type Store struct {
	DB  *pg.DB
	Log *slog.Logger

	issued pg.Together[identity.AccessToken]
}

var (
	_ identity.KeyStore         = (*Store)(nil)
	_ identity.UseStore         = (*Store)(nil)
	_ identity.ClientStore      = (*Store)(nil)
	_ identity.TokenStore       = (*Store)(nil)
	_ identity.UserStore        = (*Store)(nil)
	_ identity.ApplicationStore = (*Store)(nil)
	_ identity.LaunchStore      = (*Store)(nil)
)

// credential begins a batch that sees the one key or client with the id, whatever its tenant.
func credential(id string) *pg.Batch {
	b := pg.Global()
	b.Exec(`SELECT set_config('app.credential_id', $1, true)`, id)
	return b
}

// as goes on as another tenant within a batch.
func as(b *pg.Batch, tenant string) {
	b.Exec(`SELECT set_config('app.tenant_id', $1, true)`, tenant)
}

// revoke queues the effect that ends sessions.
func revoke(b *pg.Batch, r session.Revocation) {
	outbox.Enqueue(b, outbox.Message{Kind: session.Effect, Payload: r})
}

// cursor is what follows a page's last id in a query; the null of an empty cursor is every id.
func cursor(after string) *string {
	if after == "" {
		return nil
	}
	return &after
}

// The sweep takes so many rows at a time, so that none of its transactions is long.
const (
	sweepEvery = time.Minute
	sweepRows  = 5000
)

// Sweep removes what has expired, until ctx ends.
func (s *Store) Sweep(ctx context.Context) error {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
			if _, err := s.SweepOnce(ctx); err != nil {
				s.Log.WarnContext(ctx, "sweep failed", "error", err.Error())
			}
		}
	}
}

// sweeps remove what has expired, so many rows at a time.
func sweeps() []string {
	return []string{
		`SELECT sweep_access_tokens($1)`,
		`SELECT sweep_challenges($1)`,
		`SELECT sweep_federation($1)`,
		`SELECT sweep_grants($1)`,
		`SELECT sweep_idempotency_keys($1)`,
		`SELECT sweep_launch_codes($1)`,
		`SELECT sweep_passkey_ceremonies($1)`,
		`SELECT sweep_people($1)`,
	}
}

// SweepOnce removes all that has expired by now, and tells how many rows that were.
func (s *Store) SweepOnce(ctx context.Context) (int64, error) {
	var total int64
	for _, statement := range sweeps() {
		for gone := int64(sweepRows); gone == sweepRows; {
			b := pg.Global()
			pg.Value(b, &gone, statement, sweepRows)
			if err := s.DB.Send(ctx, b); err != nil {
				return total, err
			}
			total += gone
		}
	}
	return total, nil
}
