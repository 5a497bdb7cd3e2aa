package audit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Queue is what a service's migration has to create; the service role needs SELECT, INSERT and DELETE on audit_entry
// and SELECT and UPDATE on audit_lease. No UPDATE on audit_entry: what was written is carried away as it is. Entries of
// all tenants are relayed together, and one event may be written for several tenants, so the queue has no row-level
// security; it holds ids alone, and for a moment. It has no index but its key, since every read of a patient writes it.
const Queue = `
CREATE TABLE audit_entry (
	seq           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	id            uuid        NOT NULL,
	at            timestamptz NOT NULL,
	tenant_id     uuid        NOT NULL,
	actor_type    text        NOT NULL,
	actor_id      text        NOT NULL,
	credential_id text        NOT NULL,
	action        text        NOT NULL,
	trace_id      text        NOT NULL,
	patient_id    bigint,
	outcome       text        NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

CREATE TABLE audit_lease (
	single boolean     PRIMARY KEY DEFAULT true CHECK (single),
	holder uuid        NOT NULL,
	until  timestamptz NOT NULL
);
INSERT INTO audit_lease (holder, until) VALUES ('00000000-0000-0000-0000-000000000000', '-infinity');`

// Table is the columns of the queue in the order of Args.
const Table = `audit_entry (id, at, tenant_id, actor_type, actor_id, credential_id, action, trace_id, patient_id, outcome)`

// Args are the values of an entry's columns, for statements that write it along with something else.
func (e Entry) Args() []any {
	return []any{e.ID, e.At, e.TenantID, e.Actor.Type, e.Actor.ID, e.CredentialID, e.Action, e.TraceID, e.PatientID, e.Outcome}
}

const keep = `INSERT INTO ` + Table + ` VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

// Keep adds the entries to the batch of what they tell of: both happen, or neither. An entry without a tenant makes the
// batch fail.
func Keep(b *pg.Batch, entries ...Entry) {
	for _, e := range entries {
		b.Exec(keep, e.Args()...)
	}
}

// Change queues an INSERT, UPDATE or DELETE without RETURNING, and keeps the entry only if that touched a row. Into is
// how many rows it touched.
func Change(b *pg.Batch, into *int64, e Entry, sql string, args ...any) {
	pg.Value(b, into, `WITH change AS (`+sql+` RETURNING 1), kept AS (`+
		insert(len(args), `false`, `WHERE EXISTS (SELECT FROM change)`)+`) SELECT count(*) FROM change`, slices.Concat(args, e.Args())...)
}

// Seen queues a SELECT of one row or none, and keeps the entry: as it is when there is a row, else as a failure. One
// statement decides both, so that what is shown and what is recorded cannot differ.
func Seen[T any](b *pg.Batch, into **T, e Entry, sql string, args ...any) {
	pg.Row(b, into, `WITH seen AS (`+sql+`), kept AS (`+
		insert(len(args), `NOT EXISTS (SELECT FROM seen)`, ``)+`) SELECT * FROM seen`, slices.Concat(args, e.Args())...)
}

// Missed queues a SELECT of one row or none, and keeps the entry, as a failure, only when there is none: with a row,
// what follows leaves an entry of its own.
func Missed[T any](b *pg.Batch, into **T, e Entry, sql string, args ...any) {
	pg.Row(b, into, `WITH seen AS (`+sql+`), kept AS (`+
		insert(len(args), `false`, `WHERE NOT EXISTS (SELECT FROM seen)`)+`) SELECT * FROM seen`, slices.Concat(args, e.Failed().Args())...)
}

// insert is the statement that writes an entry whose arguments stand behind so many of another statement. Where the
// condition failed holds it is a failure, else what the entry says. Each type is written out: PostgreSQL cannot tell it
// from a parameter's place in a SELECT.
func insert(behind int, failed, where string) string {
	var s strings.Builder
	s.WriteString(`INSERT INTO ` + Table + ` SELECT `)
	for i, t := range [...]string{"uuid", "timestamptz", "uuid", "text", "text", "text", "text", "text", "bigint"} {
		s.WriteString("$" + strconv.Itoa(behind+i+1) + "::" + t + ", ")
	}
	s.WriteString(`CASE WHEN ` + failed + ` THEN '` + Failure + `' ELSE $` + strconv.Itoa(behind+columns) + `::text END ` + where)
	return s.String()
}

const columns = 10
