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
		insert(len(args))+`) SELECT count(*) FROM change`, slices.Concat(args, e.Args())...)
}

// ChangeRow queues an INSERT, UPDATE or DELETE of one row or none whose RETURNING is read into a T, and keeps the entry
// only if there was one.
func ChangeRow[T any](b *pg.Batch, into **T, e Entry, sql string, args ...any) {
	pg.Row(b, into, `WITH change AS (`+sql+`), kept AS (`+
		insert(len(args))+`) SELECT * FROM change`, slices.Concat(args, e.Args())...)
}

// insert is the statement that writes an entry whose arguments stand behind so many of another statement, if that
// touched a row.
func insert(behind int) string {
	var s strings.Builder
	s.WriteString(`INSERT INTO ` + Table + ` SELECT $` + strconv.Itoa(behind+1))
	for i := 2; i <= columns; i++ {
		s.WriteString(`, $` + strconv.Itoa(behind+i))
	}
	s.WriteString(` WHERE EXISTS (SELECT FROM change)`)
	return s.String()
}

const columns = 10
