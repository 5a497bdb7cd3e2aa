package store

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// kind is what the children of one kind have for themselves.
type kind[N any] struct {
	table   string
	columns string        // its own, as they are read and written
	item    string        // the one that a manifest tells
	values  func(N) []any // of its own columns, in their order
	// interval is that of a kind that has one, whose table then has the column holds.
	interval func(N) patient.Interval
	// rival is the condition by which another child of the patient forbids one, in the arguments of a write, and taken
	// the fault of it; empty where any two go together.
	rival string
	taken func() error
}

// Children is a patient.ChildStore of one kind on PostgreSQL. It is safe for concurrent use.
type Children[N any, P patient.Noun[N]] struct {
	store *Store
	kind  kind[N]
	sql   statements
}

// statements are those of one kind, made once. Each asks for the tenant, and for a patient that is not deleted.
type statements struct {
	create, createOnce, several, save, read, list, count, active, items string
}

const (
	childColumns = `id, patient_id, version, created_at, updated_at, deactivated_at, `
	childKey     = `tenant_id = $1 AND patient_id = $2 AND id = $3`

	livePatient = `SELECT 1 FROM patient WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`

	// lockChildren lets the writes to one kind of a patient's children go one by one, so that of rivals only one is
	// stored. Kinds without rivals never take it.
	lockChildren = `SELECT pg_advisory_xact_lock(hashtextextended($1 || '/' || $2 || '/' || $3, 0))`

	// Arguments of a write: the key, version, now, deactivated_at, the entry, and from ownArgument on its own columns.
	ownArgument = 8
)

// newChildren makes the store of a kind.
func newChildren[N any, P patient.Noun[N]](s *Store, k kind[N]) *Children[N, P] {
	shown, written := childColumns+k.columns, k.columns
	active := `deactivated_at IS NULL AND $3::timestamptz IS NOT NULL` // without an interval any instant will do
	if k.interval != nil {
		written += `, holds`
		active = `deactivated_at IS NULL AND holds @> $3::timestamptz`
	}
	rival := `false`
	if k.rival != "" {
		rival = k.rival
	}
	own := strings.Count(written, ",") + 1
	values, key := arguments(ownArgument, own), arguments(ownArgument+own, 5)

	// Who is deactivated has no rivals.
	rivals := `rival AS (
		SELECT 1 FROM ` + k.table + ` WHERE tenant_id = $1 AND patient_id = $2 AND id <> $3 AND deactivated_at IS NULL
			AND $6::timestamptz IS NULL AND ` + rival + `)`
	kept := `kept AS (INSERT INTO ` + audit.Table + ` SELECT $7::json FROM c)`
	outcome := ` SELECT EXISTS (SELECT FROM there) AS found, EXISTS (SELECT FROM rival) AS rival, EXISTS (SELECT FROM c) AS stored`
	create := `
	WITH there AS (` + livePatient + `), ` + rivals + `, c AS (
		INSERT INTO ` + k.table + ` (tenant_id, ` + childColumns + written + `)
		SELECT $1, $3, $2, $4, $5::timestamptz, $5, $6, ` + values + ` WHERE EXISTS (SELECT FROM there) AND NOT EXISTS (SELECT FROM rival)
		RETURNING 1
	), ` + kept
	within := ` FROM ` + k.table + ` WHERE tenant_id = $1 AND patient_id = $2 AND EXISTS (` + livePatient + `) AND `
	which := `($4::boolean IS NULL OR (` + active + `) = $4)`

	return &Children[N, P]{store: s, kind: k, sql: statements{
		create: create + outcome,
		createOnce: create + `, once AS (
		INSERT INTO ` + idempotency.Table + ` SELECT $1, ` + key + `, $3::text FROM c)` + outcome,
		several: k.several(),
		save: `
	WITH there AS (SELECT 1 FROM ` + k.table + ` WHERE ` + childKey + ` AND version = $4 - 1
		AND EXISTS (` + livePatient + `)), ` + rivals + `, c AS (
		UPDATE ` + k.table + ` SET version = $4, updated_at = $5, deactivated_at = $6, (` + written + `) = ROW(` + values + `)
		WHERE ` + childKey + ` AND version = $4 - 1 AND EXISTS (SELECT FROM there) AND NOT EXISTS (SELECT FROM rival)
		RETURNING 1
	), ` + kept + outcome,
		read:   `SELECT ` + shown + within + `id = $3 AND deactivated_at IS NULL`,
		list:   `SELECT ` + shown + within + which + ` AND id > $5 ORDER BY id OFFSET $6 LIMIT $7`,
		active: `SELECT ` + shown + within + active + ` ORDER BY id LIMIT $4`,
		items:  `SELECT id, ` + k.item + ` AS type, created_at` + within + active + ` ORDER BY id LIMIT $4`,
		count: `SELECT (SELECT count(*) FROM ` + k.table + ` WHERE tenant_id = $1 AND patient_id = $2 AND ` + which + `)
			FROM patient WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`,
	}}
}

// arguments is a list of so many arguments of a statement, the first of which is numbered first.
func arguments(first, number int) string {
	list := make([]string, number)
	for i := range list {
		list[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(list, ", ")
}

// write is the arguments of one.
func (c *Children[N, P]) write(tenant string, child N, e audit.Entry) []any {
	base := P(&child).Base()
	args := []any{tenant, base.PatientID, base.ID, base.Version, base.UpdatedAt, base.DeactivatedAt, audit.List(e)}
	args = append(args, c.kind.values(child)...)
	if c.kind.interval != nil {
		args = append(args, holds(c.kind.interval(child)))
	}
	return args
}

// holds is what an interval means. PostgreSQL makes one of equal bounds empty: it never holds and meets no other.
func holds(i patient.Interval) pgtype.Range[pgtype.Timestamptz] {
	r := pgtype.Range[pgtype.Timestamptz]{LowerType: pgtype.Unbounded, UpperType: pgtype.Unbounded, Valid: true}
	if i.From.Given() {
		r.Lower, r.LowerType = pgtype.Timestamptz{Time: i.From.At, Valid: true}, pgtype.Inclusive
	}
	if i.Until.Given() {
		r.Upper, r.UpperType = pgtype.Timestamptz{Time: i.Until.At, Valid: true}, pgtype.Exclusive
	}
	return r
}

// outcome is what became of a write.
type outcome struct {
	Found  bool `db:"found"` // the patient or, of a change, the child at the version that was read
	Rival  bool `db:"rival"` // another child forbids it
	Stored bool `db:"stored"`
}

// lock makes the batch wait for its turn where its child may have rivals.
func (c *Children[N, P]) lock(b *pg.Batch, tenant string, patientID int64) {
	if c.kind.rival != "" {
		b.Exec(lockChildren, c.kind.table, tenant, strconv.FormatInt(patientID, 10))
	}
}

// Create is patient.ChildStore's: one trip and one commit.
func (c *Children[N, P]) Create(
	ctx context.Context, child N, by principal.Principal, key idempotency.Key, status int, answer []byte, e audit.Entry,
) (bool, *idempotency.Record, error) {
	b := pg.Tenant(by.TenantID)
	key.Lock(b)
	c.lock(b, by.TenantID, P(&child).Base().PatientID)
	query, args := c.sql.create, c.write(by.TenantID, child, e)
	if key.Given() {
		query, args = c.sql.createOnce, append(args, key.Credential, key.Value, key.Hash, int32(status), answer) //nolint:gosec // an HTTP status
	}
	var done *outcome
	pg.Row(b, &done, query, args...)
	if err := c.store.db.Send(ctx, b); err != nil {
		repeat, err := key.Repeat(ctx, c.store.db, err)
		return repeat != nil, repeat, err
	}
	switch {
	case done.Stored:
		return true, nil, nil
	case !done.Found:
		return false, nil, c.store.seen(ctx, e, false)
	}
	// The rival may be what the key itself created.
	if repeat, err := key.Earlier(ctx, c.store.db); repeat != nil || err != nil {
		return true, repeat, err
	}
	return true, nil, c.refused(ctx, e)
}

// refused keeps that a child has a rival, and gives the fault of it.
func (c *Children[N, P]) refused(ctx context.Context, e audit.Entry) error {
	if err := c.store.seen(ctx, e, false); err != nil {
		return err
	}
	return c.kind.taken()
}

// Save is patient.ChildStore's: one trip and one commit.
func (c *Children[N, P]) Save(ctx context.Context, tenant string, after N, e audit.Entry) (bool, error) {
	b := pg.Tenant(tenant)
	c.lock(b, tenant, P(&after).Base().PatientID)
	var done *outcome
	pg.Row(b, &done, c.sql.save, c.write(tenant, after, e)...)
	if err := c.store.db.Send(ctx, b); err != nil {
		return false, err
	}
	if done.Found && done.Rival {
		return false, c.refused(ctx, e)
	}
	return done.Stored, nil
}

// Read is patient.ChildStore's.
func (c *Children[N, P]) Read(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*N, error) {
	found, err := c.find(ctx, tenant, patientID, id)
	if err != nil {
		return nil, err
	}
	return found, c.store.seen(ctx, e, found != nil)
}

// Find is patient.ChildStore's.
func (c *Children[N, P]) Find(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*N, error) {
	found, err := c.find(ctx, tenant, patientID, id)
	if err != nil || found != nil {
		return found, err
	}
	return nil, c.store.seen(ctx, e, false)
}

func (c *Children[N, P]) find(ctx context.Context, tenant string, patientID int64, id string) (*N, error) {
	var found *N
	b := pg.Tenant(tenant)
	pg.Row(b, &found, c.sql.read, tenant, patientID, id)
	return found, c.store.db.Send(ctx, b)
}

// Keep is patient.ChildStore's.
func (c *Children[N, P]) Keep(ctx context.Context, e audit.Entry) error { return c.store.Keep(ctx, e) }

// List is patient.ChildStore's: one trip.
func (c *Children[N, P]) List(
	ctx context.Context, tenant string, patientID int64, which patient.Which, now time.Time, part page.Request, e audit.Entry,
) ([]N, int64, bool, error) {
	after := uuid.Nil.String()
	if part.After != "" {
		id, err := uuid.Parse(part.After)
		if err != nil {
			return nil, 0, false, invalidCursor()
		}
		after = id.String()
	}
	total, list := missing, []N(nil)
	b := pg.Tenant(tenant)
	pg.Rows(b, &list, c.sql.list, tenant, patientID, now, wanted(which), after, part.Offset(), part.Size+1)
	c.queueCount(b, &total, tenant, patientID, which, now)
	if err := c.store.db.Send(ctx, b); err != nil {
		return nil, 0, false, err
	}
	found := total != missing
	return list, max(total, 0), found, c.store.seen(ctx, e, found)
}

// wanted is what a list wants to know of each child: that it is active, that it is not, or nothing.
func wanted(which patient.Which) *bool {
	active := which == patient.ActiveOnly
	if which == patient.All {
		return nil
	}
	return &active
}

// missing is the number of children of a patient that is deleted or not there.
const missing int64 = -1

// queueActive adds to a batch the first of a patient's active children, so many at most.
func (c *Children[N, P]) queueActive(b *pg.Batch, into *[]N, tenant string, patientID int64, now time.Time, most int) {
	pg.Rows(b, into, c.sql.active, tenant, patientID, now, most)
}

// queueCount adds to a batch how many of a patient's children there are; into stays as it is when there is no such
// patient.
func (c *Children[N, P]) queueCount(b *pg.Batch, into *int64, tenant string, patientID int64, which patient.Which, now time.Time) {
	pg.Value(b, into, c.sql.count, tenant, patientID, now, wanted(which))
}
