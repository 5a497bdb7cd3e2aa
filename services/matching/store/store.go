// Package store keeps in PostgreSQL what matching has to remember: tenants' models and which of them is active, its audit entries
// until they are carried away, and which tenants are asked about. It holds no patient.
package store

import (
	"embed"
	"io/fs"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
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

// Store is matching's part of PostgreSQL. It is safe for concurrent use.
type Store struct {
	db     *pg.DB
	ledger *audit.Ledger
}

// New makes a store.
func New(db *pg.DB) *Store { return &Store{db: db, ledger: audit.NewLedger(db)} }
