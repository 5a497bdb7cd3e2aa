package store

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

// columns are those of a document but its payload, which not every statement reads.
const columns = `
	id, patient_id, type, content_type, filename, title, declared_size, blob_key, content_size, content_sha256,
	encryption_key_id, uploaded_at, version, created_at, updated_at, deactivated_at`

const create = `
	INSERT INTO document (
		tenant_id, patient_id, id, type, content_type, filename, title, folded, declared_size, payload, version, created_at, updated_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12)`

// Create stores a document with all that belongs to it in one trip and one commit.
func (s *Store) Create(
	ctx context.Context, tenant string, d attachment.Document, key idempotency.Key, status int, answer []byte, e audit.Entry,
) (*idempotency.Record, error) {
	b := pg.Tenant(tenant)
	key.Lock(b)
	b.Exec(create, tenant, d.PatientID, d.ID, d.Type, d.ContentType, d.Filename, d.Title, d.Folded(), d.DeclaredSize, d.Payload,
		d.Version, d.CreatedAt)
	key.Keep(b, int32(status), answer, d.ID) //nolint:gosec // a status of HTTP
	audit.Keep(b, e)
	if err := s.db.Send(ctx, b); err != nil {
		return key.Repeat(ctx, s.db, err)
	}
	return nil, nil //nolint:nilnil // no repeat is an answer
}

const read = `
	SELECT ` + columns + `, payload, false AS payload_omitted FROM document
	WHERE tenant_id = $1 AND patient_id = $2 AND id = $3 AND deactivated_at IS NULL`

// Read gives a document by primary key, and keeps before that whether there was one.
func (s *Store) Read(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*attachment.Document, error) {
	found, err := s.read(ctx, tenant, patientID, id)
	if err != nil {
		return nil, err
	}
	return found, s.seen(ctx, e, found != nil)
}

// Find is attachment.Store's.
func (s *Store) Find(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*attachment.Document, error) {
	found, err := s.read(ctx, tenant, patientID, id)
	if err != nil || found != nil {
		return found, err
	}
	return nil, s.seen(ctx, e, false)
}

func (s *Store) read(ctx context.Context, tenant string, patientID int64, id string) (*attachment.Document, error) {
	var found *attachment.Document
	b := pg.Tenant(tenant)
	pg.Row(b, &found, read, tenant, patientID, id)
	return found, s.db.Send(ctx, b)
}

// seen keeps what is about to be shown, or that nothing is.
func (s *Store) seen(ctx context.Context, e audit.Entry, found bool) error {
	if !found {
		e = e.Failed()
	}
	return s.ledger.Keep(ctx, e)
}

// Keep is attachment.Store's.
func (s *Store) Keep(ctx context.Context, e audit.Entry) error { return s.ledger.Keep(ctx, e) }

// A payload that did not change is neither sent nor written again.
const save = `
	UPDATE document SET
		type = $5, content_type = $6, filename = $7, title = $8, folded = $9, declared_size = $10,
		payload = CASE WHEN $11 THEN $12 ELSE payload END, version = $4, updated_at = $13, deactivated_at = $14
	WHERE tenant_id = $1 AND patient_id = $2 AND id = $3 AND version = $4 - 1`

// Save writes a changed document over the version before, in one trip and one commit.
func (s *Store) Save(ctx context.Context, tenant string, before, after attachment.Document, e audit.Entry) (bool, error) {
	another := !bytes.Equal(before.Payload, after.Payload) || (before.Payload == nil) != (after.Payload == nil)
	var payload []byte
	if another {
		payload = after.Payload
	}
	var saved int64
	b := pg.Tenant(tenant)
	audit.Change(b, &saved, e, save, tenant, after.PatientID, after.ID, after.Version, after.Type, after.ContentType, after.Filename,
		after.Title, after.Folded(), after.DeclaredSize, another, payload, after.UpdatedAt, after.DeactivatedAt)
	err := s.db.Send(ctx, b)
	return saved == 1, err
}

// One part of a patient's documents: where they are the same, a list and its number agree.
const matching = `
	FROM document WHERE tenant_id = $1 AND patient_id = $2 AND ($3 = '' OR type = $3)
		AND ($4::timestamptz IS NULL OR created_at >= $4) AND strpos(folded, $5) > 0
		AND ($6::boolean IS NULL OR (deactivated_at IS NULL) = $6)`

const count = `SELECT count(*)` + matching

// The page is cut first. Then the payloads are summed up by their lengths, which stand beside them: those past the sum,
// and that of the entry past the page, are not fetched from where PostgreSQL keeps what is long.
const search = `
	SELECT ` + columns + `,
		CASE WHEN shown THEN payload END AS payload, $10 > 0 AND payload_bytes > 0 AND NOT shown AS payload_omitted
	FROM (
		SELECT *, sum(payload_bytes) OVER ordered <= $10 AND row_number() OVER ordered < $9 AS shown
		FROM (SELECT ` + columns + `, payload, payload_bytes` + matching + ` AND id > $7 ORDER BY id OFFSET $8 LIMIT $9) AS cut
		WINDOW ordered AS (ORDER BY id)
	) AS summed
	ORDER BY id`

// Search is attachment.Store's, in one trip.
func (s *Store) Search(
	ctx context.Context, tenant string, patientID int64, f attachment.Filter, part page.Request, e audit.Entry,
) ([]attachment.Document, int64, error) {
	found, total, err := s.list(ctx, tenant, patientID, f, part, attachment.MostPayload)
	if err != nil {
		return nil, 0, err
	}
	return found, total, s.seen(ctx, e, true)
}

// Echo is attachment.Store's, in one trip.
func (s *Store) Echo(ctx context.Context, tenant string, patientID int64, part page.Request, payloads bool) ([]attachment.Document, int64, error) {
	budget := int64(0)
	if payloads {
		budget = attachment.MostPayload
	}
	return s.list(ctx, tenant, patientID, attachment.Filter{}, part, budget)
}

func (s *Store) list(
	ctx context.Context, tenant string, patientID int64, f attachment.Filter, part page.Request, budget int64,
) ([]attachment.Document, int64, error) {
	after := part.After
	if after == "" {
		after = uuid.Nil.String()
	}
	var createdAfter *time.Time
	if !f.CreatedAfter.IsZero() {
		createdAfter = &f.CreatedAfter
	}
	which := []any{tenant, patientID, f.Type, createdAfter, f.Text, active(f.Which)}
	var found []attachment.Document
	var total int64
	b := pg.Tenant(tenant)
	pg.Rows(b, &found, search, append(which[:len(which):len(which)], after, part.Offset(), part.Size+1, budget)...)
	pg.Value(b, &total, count, which...)
	err := s.db.Send(ctx, b)
	return found, total, err
}

// active is what deactivated_at must say; nil: anything.
func active(which attachment.Which) *bool {
	if which == attachment.All {
		return nil
	}
	only := which == attachment.ActiveOnly
	return &only
}
