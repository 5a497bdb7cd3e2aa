package audit

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Queue is what a service's migration has to create; the service role needs SELECT, INSERT and DELETE on audit_entry
// and SELECT and UPDATE on audit_lease. No UPDATE on audit_entry: what was written is carried away as it is. Entries of
// all tenants are relayed together, and one event may be written for several tenants, so the queue has no row-level
// security; it holds ids alone, and for a moment. It has no index but its key, and a row
// holds all that is kept at once, since every read of a patient is kept.
const Queue = `
CREATE TABLE audit_entry (
	seq     bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	at      timestamptz NOT NULL DEFAULT now(),
	number  integer     NOT NULL DEFAULT 1,
	entries json        NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE audit_lease (
	single boolean     PRIMARY KEY DEFAULT true CHECK (single),
	holder uuid        NOT NULL,
	until  timestamptz NOT NULL
);
INSERT INTO audit_lease (holder, until) VALUES ('00000000-0000-0000-0000-000000000000', '-infinity');`

// Table is the column of the queue that a statement writes which keeps an entry along with something else. Its value is
// List's.
const Table = `audit_entry (entries)`

// List is entries as a row of the queue holds them, in JSON. One of no tenant makes it NULL, which no row takes: there
// is no trail that it could stand in.
func List(entries ...Entry) any {
	for _, e := range entries {
		if e.TenantID == "" {
			return nil
		}
	}
	raw, err := json.Marshal(entries)
	if err != nil {
		return nil
	}
	return string(raw)
}

const keep = `INSERT INTO audit_entry (entries, number) VALUES ($1, $2)`

// Keep adds the entries to the batch of what they tell of: both happen, or neither. An entry without a tenant makes the
// batch fail.
func Keep(b *pg.Batch, entries ...Entry) {
	if len(entries) > 0 {
		b.Exec(keep, List(entries...), len(entries))
	}
}

// Change queues an INSERT, UPDATE or DELETE without RETURNING, and keeps the entry only if that touched a row. Into is
// how many rows it touched.
func Change(b *pg.Batch, into *int64, e Entry, sql string, args ...any) {
	pg.Value(b, into, `WITH change AS (`+sql+` RETURNING 1), kept AS (`+
		insert(len(args))+`) SELECT count(*) FROM change`, slices.Concat(args, []any{List(e)})...)
}

// ChangeRow queues an INSERT, UPDATE or DELETE of one row or none whose RETURNING is read into a T, and keeps the entry
// only if there was one.
func ChangeRow[T any](b *pg.Batch, into **T, e Entry, sql string, args ...any) {
	pg.Row(b, into, `WITH change AS (`+sql+`), kept AS (`+
		insert(len(args))+`) SELECT * FROM change`, slices.Concat(args, []any{List(e)})...)
}

// insert is the statement that writes an entry whose argument stands behind so many of another statement, if that
// touched a row.
func insert(behind int) string {
	return `INSERT INTO ` + Table + ` SELECT $` + strconv.Itoa(behind+1) + ` WHERE EXISTS (SELECT FROM change)`
}
