package audit

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Ledger keeps the entries of reads. A read changes nothing that its entry would have to stand or fall with: it is
// enough that the entry is on disk before the answer leaves. So reads that happen at the same time share one commit. It
// is safe for concurrent use.
type Ledger struct {
	db      *pg.DB
	entries pg.Together[Entry]
}

// NewLedger makes a ledger on a database that has the queue.
func NewLedger(db *pg.DB) *Ledger { return &Ledger{db: db} }

// Keep returns when the entry is on disk. With an error nobody knows whether it is: what was read is not shown then.
func (l *Ledger) Keep(ctx context.Context, e Entry) error {
	for _, id := range [...]string{e.ID, e.TenantID} { // else it would spoil its neighbours' commit
		if _, err := uuid.Parse(id); err != nil {
			return errors.New("an audit entry without an id or a tenant") //nolint:err113 // a defect of ours
		}
	}
	return l.entries.Write(ctx, e, l.write)
}

func (l *Ledger) write(ctx context.Context, entries []Entry) error {
	b := pg.Global()
	Keep(b, entries...)
	return l.db.Send(ctx, b)
}
