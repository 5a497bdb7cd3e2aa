// Package store keeps patients in PostgreSQL. Every statement names the tenant, and row-level security holds it to the
// tenant a second time. It knows no HTTP and no rule of a patient.
package store

import (
	"context"
	"embed"
	"io/fs"
	"log/slog"
	"math/rand/v2"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/patient"
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

// Store is a patient.Store on PostgreSQL. It is safe for concurrent use.
type Store struct {
	db      *pg.DB
	ledger  *audit.Ledger
	log     *slog.Logger
	rollups chan string   // tenants whose count has become long
	batches chan struct{} // of imports under way
	changed string        // the statement of who changed

	addresses   *Addresses
	contacts    *Contacts
	aliases     *Aliases
	identifiers *Identifiers
}

var _ patient.Store = (*Store)(nil)

// rollupQueue bounds the tenants that wait for a roll-up. One that finds no place is rolled up another time.
const rollupQueue = 256

// New makes a store. Its loops, RollUp and Sweep, are run beside it.
func New(db *pg.DB, log *slog.Logger) *Store {
	s := &Store{
		db: db, ledger: audit.NewLedger(db), log: log, rollups: make(chan string, rollupQueue), batches: make(chan struct{}, batchesAtOnce),
		changed: changedPeople(),
	}
	s.addresses, s.contacts, s.aliases, s.identifiers = newAddresses(s), newContacts(s), newAliases(s), newIdentifiers(s)
	return s
}

// oneIn is true once in n times, by chance, so that nothing needs to be counted.
func oneIn(n int) bool { return rand.IntN(n) == 0 } //nolint:gosec // a roll-up more or less is no secret

// Sweep deletes expired idempotency keys until ctx ends.
func (s *Store) Sweep(ctx context.Context) error {
	return idempotency.Sweep(ctx, s.db, func(err error) {
		s.log.WarnContext(ctx, "sweep idempotency keys", "error", err.Error())
	})
}
