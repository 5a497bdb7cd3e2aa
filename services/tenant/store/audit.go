package store

import (
	"context"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

var _ tenant.AuditStore = (*Store)(nil)

const appendAudit = `SELECT append_audit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

// Append is tenant.AuditStore's: one trip whatever the number of entries and of tenants.
func (s *Store) Append(ctx context.Context, entries []audit.Entry) error {
	var ids, tenants, types, actors, credentials, actions, traces, outcomes []string
	var instants []time.Time
	var patients []*int64
	for _, e := range entries {
		ids, instants, tenants = append(ids, e.ID), append(instants, e.At), append(tenants, e.TenantID)
		types, actors, credentials = append(types, e.Actor.Type), append(actors, e.Actor.ID), append(credentials, e.CredentialID)
		actions, traces, patients = append(actions, e.Action), append(traces, e.TraceID), append(patients, e.PatientID)
		outcomes = append(outcomes, e.Outcome)
	}
	b := pg.Global() // the function acts for each entry's tenant in turn
	b.Exec(appendAudit, ids, instants, tenants, types, actors, credentials, actions, traces, patients, outcomes)
	return s.DB.Send(ctx, b)
}

// auditRow is a record as it is stored.
type auditRow struct {
	Seq          int64
	ID           string
	At           time.Time
	TenantID     string
	ActorType    string
	ActorID      string
	CredentialID string
	Action       string
	PatientID    *int64
	Outcome      string
	TraceID      string
	PreviousHash []byte
	Hash         []byte
}

const auditColumns = `seq, id::text AS id, at, tenant_id::text AS tenant_id, actor_type, actor_id, credential_id, action,
	patient_id, outcome, trace_id, previous_hash, hash`

func (r auditRow) record() tenant.AuditRecord {
	return tenant.AuditRecord{Seq: r.Seq, Record: audit.Record{
		ID: r.ID, At: r.At.UTC(), TenantID: r.TenantID, Actor: principal.Actor{Type: r.ActorType, ID: r.ActorID},
		CredentialID: r.CredentialID, Action: r.Action, PatientID: r.PatientID, Outcome: r.Outcome, TraceID: r.TraceID,
		PreviousHash: hex.EncodeToString(r.PreviousHash), Hash: hex.EncodeToString(r.Hash),
	}}
}

func records(rows []auditRow) []tenant.AuditRecord {
	list := make([]tenant.AuditRecord, len(rows))
	for i, r := range rows {
		list[i] = r.record()
	}
	return list
}

// filtered is the WHERE of a filter, which names only what it asks for, so that the planner sees which index fits.
func filtered(id string, f tenant.AuditFilter) (where string, args []any) {
	where, args = ` WHERE tenant_id = $1`, []any{id}
	add := func(condition string, value any) {
		args = append(args, value)
		where += ` AND ` + condition + ` $` + strconv.Itoa(len(args))
	}
	if f.PatientID != 0 {
		add(`patient_id =`, f.PatientID)
	}
	if f.Actor != "" {
		add(`actor_id =`, f.Actor)
	}
	if f.Action != "" {
		add(`action =`, f.Action)
	}
	if !f.From.IsZero() {
		add(`at >=`, f.From)
	}
	if !f.To.IsZero() {
		add(`at <`, f.To)
	}
	return where, args
}

// countWhere counts what a filter lets pass.
func countWhere(where string) string { return `SELECT count(*) FROM audit_record` + where }

// pageWhere reads a page of it; its arguments stand behind the n of the filter.
func pageWhere(where string, n int) string {
	return `SELECT ` + auditColumns + ` FROM audit_record` + where + ` AND seq > $` + strconv.Itoa(n+1) +
		` ORDER BY seq OFFSET $` + strconv.Itoa(n+2) + ` LIMIT $` + strconv.Itoa(n+3)
}

const countHead = `SELECT records FROM audit_head WHERE tenant_id = $1`

// Records is tenant.AuditStore's. Of all records the head knows the number; filtered ones are counted in an index.
func (s *Store) Records(ctx context.Context, id string, f tenant.AuditFilter, part page.Request) ([]tenant.AuditRecord, int64, error) {
	after, err := auditCursor(part)
	if err != nil {
		return nil, 0, err
	}
	where, args := filtered(id, f)
	n := len(args)
	var rows []auditRow
	var total int64
	b := pg.Snapshot(id) // what is appended meanwhile is in both the list and its number, or in neither
	if f.Any() {
		pg.Value(b, &total, countHead, id)
	} else {
		pg.Value(b, &total, countWhere(where), args...)
	}
	pg.Rows(b, &rows, pageWhere(where, n), append(args[:n:n], after, part.Offset(), part.Size+1)...)
	err = s.DB.SendLate(ctx, b) // entries arrive by a relay, so a list of them is never of this very moment
	return records(rows), total, err
}

func auditCursor(part page.Request) (int64, error) {
	if part.After == "" {
		return 0, nil
	}
	seq, err := strconv.ParseInt(part.After, 10, 64)
	if err != nil || seq < 0 {
		return 0, fault.InvalidFields([]fault.Field{{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"}})
	}
	return seq, nil
}

type headRow struct {
	Records int64
	Hash    []byte
}

const selectHead = `SELECT records, hash FROM audit_head WHERE tenant_id = $1`

// Head is tenant.AuditStore's.
func (s *Store) Head(ctx context.Context, id string) (tenant.AuditHead, error) {
	var row *headRow
	b := pg.Tenant(id)
	pg.Row(b, &row, selectHead, id)
	if err := s.DB.Send(ctx, b); err != nil || row == nil {
		return tenant.AuditHead{}, err
	}
	return tenant.AuditHead{Records: row.Records, Hash: hex.EncodeToString(row.Hash)}, nil
}

const selectChain = `SELECT ` + auditColumns + ` FROM audit_record WHERE tenant_id = $1 AND seq > $2 ORDER BY seq LIMIT $3`

// Chain is tenant.AuditStore's.
func (s *Store) Chain(ctx context.Context, id string, after int64, most int) ([]tenant.AuditRecord, error) {
	var rows []auditRow
	b := pg.Tenant(id)
	pg.Rows(b, &rows, selectChain, id, after, most)
	err := s.DB.Send(ctx, b)
	return records(rows), err
}
