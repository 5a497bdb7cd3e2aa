package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const (
	trailEntries = 40_000 // for each round
	trailRow     = 20     // entries that were kept at once, as reads under load are
)

// audit measures how fast a backlog of the trail is carried away and chained when nobody asks for anything. Reads that
// come faster for long are held up by nothing, and their entries wait longer.
func (b *Bench) audit(ctx context.Context) error {
	const what = "a backlog of reads"
	found, err := b.interleave(ctx, "audit", []subject{{name: what, run: b.backlog}})
	if err != nil {
		return err
	}
	f := found[what]
	b.report.table(table{
		title:  "The audit trail: entries carried from the patient service's queue and chained",
		header: []string{"What", "Rate", "Our programs' CPU an entry", "PostgreSQL's"},
		rows:   [][]string{{what, rate(f.Rate), duration(f.CPU), duration(f.Database)}},
	})
	return nil
}

// backlog puts entries into the patient service's queue and waits until its relay has carried all of them away.
func (b *Bench) backlog(ctx context.Context) (sample, error) {
	conn, err := pgx.Connect(ctx, b.mesh.Database("patient").MigrateURL)
	if err != nil {
		return sample{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	b.settle(ctx)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return sample{}, err
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // of no effect once it is committed
	rows := trailEntries / trailRow
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"audit_entry"}, []string{"number", "entries"}, pgx.CopyFromSlice(rows, func(int) ([]any, error) {
		raw, err := json.Marshal(b.entries())
		return []any{trailRow, json.RawMessage(raw)}, err
	}))
	if err != nil {
		return sample{}, err
	}
	before, err := b.spent("patient", "tenant")
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	if err := tx.Commit(ctx); err != nil {
		return sample{}, err
	}
	if err := b.empty(ctx, "patient"); err != nil {
		return sample{}, fmt.Errorf("the backlog does not go: %w", err)
	}
	took := time.Since(began)
	after, err := b.spent("patient", "tenant")
	each := after.minus(before).each(trailEntries)
	return sample{Rate: trailEntries / took.Seconds(), CPU: each.ours, Database: each.database}, err
}

// entries are what the reads of a row leave.
func (b *Bench) entries() []audit.Entry {
	by := principal.With(context.Background(), b.principal())
	list := make([]audit.Entry, trailRow)
	for i := range list {
		list[i] = audit.Of(by, time.Now(), uuid.NewV7, "patient.read").About(4711)
		list[i].TraceID = "0af7651916cd43dd8448eb211c80319c"
	}
	return list
}
