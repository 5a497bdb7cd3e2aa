package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

var (
	_ attachment.ContentStore = (*Store)(nil)
	_ attachment.Intents      = (*Store)(nil)
)

// The payload is not read: it may be long, and is not asked for.
const open = `
	SELECT ` + columns + `, NULL AS payload, false AS payload_omitted FROM document
	WHERE tenant_id = $1 AND patient_id = $2 AND id = $3 AND deactivated_at IS NULL`

// Open is attachment.ContentStore's.
func (s *Store) Open(ctx context.Context, tenant string, patientID int64, id string, e audit.Entry) (*attachment.Document, error) {
	var found *attachment.Document
	b := pg.Tenant(tenant)
	pg.Row(b, &found, open, tenant, patientID, id)
	if err := s.db.Send(ctx, b); err != nil {
		return nil, err
	}
	return found, s.seen(ctx, e, found != nil && found.HasContent())
}

// An intent outlives every upload, by far.
const intend = `INSERT INTO blob_upload (blob_key, started_at, expires_at) VALUES ($1, now(), now() + interval '1 hour')`

// Intend is attachment.ContentStore's.
func (s *Store) Intend(ctx context.Context, blob string) error {
	b := pg.Global()
	b.Exec(intend, blob)
	return s.db.Send(ctx, b)
}

const (
	// lockIntent waits for a collector that is claiming the intent, and keeps others from it.
	lockIntent = `SELECT FROM blob_upload WHERE blob_key = $1 FOR UPDATE`

	// attach makes the blob content and ends its intent, and keeps the entry, or does none of it.
	attach = `
	WITH intent AS MATERIALIZED (
		SELECT 1 FROM blob_upload WHERE blob_key = $4 AND claimed_until IS NULL
	), change AS (
		UPDATE document SET
			blob_key = $4, content_size = $5, content_sha256 = $6, encryption_key_id = $7, uploaded_at = $8, updated_at = $8,
			version = version + 1
		WHERE tenant_id = $1 AND patient_id = $2 AND id = $3 AND deactivated_at IS NULL AND blob_key IS NULL
			AND (declared_size IS NULL OR declared_size = $5)
			AND EXISTS (SELECT FROM intent)
		RETURNING ` + columns + `, payload
	), fulfilled AS (
		DELETE FROM blob_upload WHERE blob_key = $4 AND EXISTS (SELECT FROM change)
	), kept AS (
		INSERT INTO ` + audit.Table + ` SELECT $9 WHERE EXISTS (SELECT FROM change)
	)
	SELECT ` + columns + `, payload, false AS payload_omitted FROM change`
)

// Complete is attachment.ContentStore's. The document, the end of the intent and the entry are one transaction: the blob
// is content, or it will be collected.
func (s *Store) Complete(
	ctx context.Context, tenant string, patientID int64, id string, c attachment.Content, e audit.Entry,
) (*attachment.Document, error) {
	var complete *attachment.Document
	b := pg.Tenant(tenant)
	b.Exec(lockIntent, c.BlobKey)
	pg.Row(b, &complete, attach, tenant, patientID, id, c.BlobKey, c.Size, c.SHA256, c.EncryptionKeyID, c.UploadedAt, audit.List(e))
	if err := s.db.Send(ctx, b); err != nil {
		return nil, err
	}
	return complete, nil
}

// Forget is attachment.ContentStore's.
func (s *Store) Forget(ctx context.Context, blob string) error {
	b := pg.Global()
	b.Exec(`DELETE FROM blob_upload WHERE blob_key = $1`, blob)
	return s.db.Send(ctx, b)
}

// The keys are gathered into an array, once: as a plain subquery they could be looked for again for each row, and more be
// claimed than the limit.
const claim = `
	UPDATE blob_upload SET claimed_until = now() + $2::interval
	WHERE blob_key = ANY (ARRAY(
		SELECT blob_key FROM blob_upload
		WHERE expires_at <= now() AND (claimed_until IS NULL OR claimed_until <= now())
		ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
	RETURNING blob_key`

// Claim is attachment.Intents's.
func (s *Store) Claim(ctx context.Context, atMost int, lease time.Duration) ([]string, error) {
	var claimed []struct{ BlobKey string }
	b := pg.Global()
	pg.Rows(b, &claimed, claim, atMost, lease)
	err := s.db.Send(ctx, b)
	names := make([]string, len(claimed))
	for i, c := range claimed {
		names[i] = c.BlobKey
	}
	return names, err
}
