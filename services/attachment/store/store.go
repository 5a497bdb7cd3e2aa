// Package store keeps documents in PostgreSQL. Every statement names the tenant, and row-level security holds it to the
// tenant a second time. It knows no HTTP and no rule of a document.
package store

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/attachment"
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

// Store is an attachment.Store on PostgreSQL. It is safe for concurrent use.
type Store struct {
	db     *pg.DB
	ledger *audit.Ledger
	log    *slog.Logger
}

var _ attachment.Store = (*Store)(nil)

// New makes a store. Its loop, Sweep, is run beside it.
func New(db *pg.DB, log *slog.Logger) *Store {
	return &Store{db: db, ledger: audit.NewLedger(db), log: log}
}

// Sweep deletes expired idempotency keys until ctx ends.
func (s *Store) Sweep(ctx context.Context) error {
	return idempotency.Sweep(ctx, s.db, func(err error) {
		s.log.WarnContext(ctx, "sweep idempotency keys", "error", err.Error())
	})
}
