package store

import (
	"context"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

const columns = `
	id, first_name, middle_name, last_name, prefix, suffix, dob, sex_at_birth, gender, race, ethnicity, gender_identity,
	preferred_language, ssn_last4, deceased, deceased_date, deceased_source, deceased_note, deceased_updated_at, version,
	created_at, updated_at, deleted_at`

const (
	// lockPlan lets the creates of one tenant on a limited plan go one by one, so that none slips past the limit. Other
	// plans never take it.
	lockPlan = `SELECT pg_advisory_xact_lock(hashtextextended('patient-plan' || $1, 0))`

	createParts = `
	WITH p AS (
		INSERT INTO patient (
			tenant_id, first_name, middle_name, last_name, prefix, suffix, dob, sex_at_birth, gender, race, ethnicity,
			gender_identity, preferred_language, ssn_last4, version, created_at, updated_at)
		SELECT $1, $2, $3, $4, $5, $6, $7::date, $8, $9, $10, $11, $12, $13, $14, 1, $15::timestamptz, $15
		WHERE $16::bigint = 0 OR $16 > (SELECT coalesce(sum(delta), 0) FROM patient_count WHERE tenant_id = $1)
		RETURNING id
	), history AS (
		INSERT INTO patient_history (tenant_id, patient_id, version, changed_at, actor_type, actor_id, credential_id, change, fields)
		SELECT $1, id, 1, $15, $17, $18, $19, $20, $21 FROM p
	), counted AS (
		INSERT INTO patient_count (tenant_id, delta) SELECT $1, 1 FROM p
	), kept AS (
		INSERT INTO ` + audit.Table + ` SELECT jsonb_set($22, '{0,patientId}', to_jsonb(id))::json FROM p
	)`
	create     = createParts + ` SELECT id FROM p`
	createOnce = createParts + `, once AS (
		INSERT INTO ` + idempotency.Table + ` SELECT $1, $23, $24, $25, $26, $27, id::text FROM p
	) SELECT id FROM p`
)

// Create stores a patient with all that belongs to it in one trip and one commit.
func (s *Store) Create(
	ctx context.Context, p patient.Patient, by principal.Principal, limit int, key idempotency.Key, answer []byte,
	e audit.Entry,
) (int64, *idempotency.Record, error) {
	b := pg.Tenant(by.TenantID)
	key.Lock(b)
	if limit > 0 {
		b.Exec(lockPlan, by.TenantID)
	}
	actor := by.Actor()
	args := []any{
		by.TenantID, p.FirstName, p.MiddleName, p.LastName, p.Prefix, p.Suffix, p.DOB, p.SexAtBirth, p.Gender, p.Race,
		p.Ethnicity, p.GenderIdentity, p.PreferredLanguage, p.SSNLast4, p.CreatedAt, limit,
		actor.Type, actor.ID, by.CredentialID, patient.Created, patient.Diff(patient.Patient{}, p),
		audit.List(e),
	}
	query := create
	if key.Given() {
		query = createOnce
		args = append(args, key.Credential, key.Value, key.Hash, int32(200), answer)
	}
	var id int64
	pg.Value(b, &id, query, args...)
	if err := s.db.Send(ctx, b); err != nil || id == 0 {
		return s.notCreated(ctx, key, limit, err)
	}
	s.countMayBeLong(by.TenantID)
	return id, nil, nil
}

// notCreated decides a create that stored nothing: a repeat of an earlier one, whose answer stands when the plan is full
// by now, or a fault.
func (s *Store) notCreated(ctx context.Context, key idempotency.Key, limit int, err error) (int64, *idempotency.Record, error) {
	var repeat *idempotency.Record
	if err != nil {
		repeat, err = key.Repeat(ctx, s.db, err)
	} else if repeat, err = key.Earlier(ctx, s.db); repeat == nil && err == nil {
		err = planLimit(limit)
	}
	if repeat == nil {
		return 0, nil, err
	}
	id, err := strconv.ParseInt(repeat.ResourceID, 10, 64)
	return id, repeat, err
}

func planLimit(limit int) error {
	f := fault.New(fault.PlanLimit, "plan_limit_reached", "The plan's limit of "+strconv.Itoa(limit)+" patients is reached.")
	f.Extra = map[string]any{"limit": limit}
	return f
}

const (
	read   = `SELECT ` + columns + ` FROM patient WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL`
	isLive = `SELECT EXISTS (SELECT FROM patient WHERE tenant_id = $1 AND id = $2 AND deleted_at IS NULL)`
	find   = `SELECT ` + columns + ` FROM patient WHERE tenant_id = $1 AND id = $2 AND (deleted_at IS NULL OR $3)`
)

// Read gives a patient by primary key, and keeps before that whether there was one.
func (s *Store) Read(ctx context.Context, tenant string, id int64, e audit.Entry) (*patient.Patient, error) {
	var found *patient.Patient
	b := pg.Tenant(tenant)
	pg.Row(b, &found, read, tenant, id)
	if err := s.db.Send(ctx, b); err != nil {
		return nil, err
	}
	return found, s.seen(ctx, e, found != nil)
}

// Live is patient.Store's.
func (s *Store) Live(ctx context.Context, tenant string, id int64) (bool, error) {
	var found bool
	b := pg.Tenant(tenant)
	pg.Value(b, &found, isLive, tenant, id)
	return found, s.db.Send(ctx, b)
}

// Find is patient.Store's.
func (s *Store) Find(ctx context.Context, tenant string, id int64, deleted bool, e audit.Entry) (*patient.Patient, error) {
	var found *patient.Patient
	b := pg.Tenant(tenant)
	pg.Row(b, &found, find, tenant, id, deleted)
	if err := s.db.Send(ctx, b); err != nil || found != nil {
		return found, err
	}
	return nil, s.seen(ctx, e, false)
}

// seen keeps what is about to be shown, or that nothing is.
func (s *Store) seen(ctx context.Context, e audit.Entry, found bool) error {
	if !found {
		e = e.Failed()
	}
	return s.ledger.Keep(ctx, e)
}

// Keep is patient.Store's.
func (s *Store) Keep(ctx context.Context, e audit.Entry) error { return s.ledger.Keep(ctx, e) }

const save = `
	WITH p AS (
		UPDATE patient SET
			first_name = $4, middle_name = $5, last_name = $6, prefix = $7, suffix = $8, dob = $9, sex_at_birth = $10,
			gender = $11, race = $12, ethnicity = $13, gender_identity = $14, preferred_language = $15, ssn_last4 = $16,
			deceased = $17, deceased_date = $18, deceased_source = $19, deceased_note = $20, deceased_updated_at = $21,
			version = $3, updated_at = $22, deleted_at = $23
		WHERE tenant_id = $1 AND id = $2 AND version = $3 - 1
			AND ($29::bigint = 0 OR $29 > (SELECT coalesce(sum(delta), 0) FROM patient_count WHERE tenant_id = $1))
		RETURNING id
	), history AS (
		INSERT INTO patient_history (tenant_id, patient_id, version, changed_at, actor_type, actor_id, credential_id, change, fields)
		SELECT $1, id, $3, $22, $24, $25, $26, $27, $28 FROM p
	), counted AS (
		INSERT INTO patient_count (tenant_id, delta) SELECT $1, $30::bigint FROM p WHERE $30 <> 0
	), kept AS (
		INSERT INTO ` + audit.Table + ` SELECT $31 FROM p
	)
	SELECT count(*) FROM p`

// unmoved tells whether a patient still is at the version that was read.
const unmoved = `SELECT version = $3 - 1 FROM patient WHERE tenant_id = $1 AND id = $2`

const countLive = `SELECT coalesce(sum(delta), 0)::bigint AS total, count(*) AS rows FROM patient_count WHERE tenant_id = $1`

// Save writes a changed patient over the version before, with its history, in one trip and one commit.
func (s *Store) Save(ctx context.Context, after patient.Patient, change patient.Change, limit int) (bool, error) {
	tenant, actor, d := change.By.TenantID, change.By.Actor(), after.Deceased
	b := pg.Tenant(tenant)
	var live *count
	var current bool
	if limit > 0 {
		b.Exec(lockPlan, tenant)
		pg.Row(b, &live, countLive, tenant)
		pg.Value(b, &current, unmoved, tenant, after.ID, after.Version)
	}
	var saved int64
	pg.Value(b, &saved, save, tenant, after.ID, after.Version, after.FirstName, after.MiddleName, after.LastName, after.Prefix,
		after.Suffix, after.DOB, after.SexAtBirth, after.Gender, after.Race, after.Ethnicity, after.GenderIdentity,
		after.PreferredLanguage, after.SSNLast4, d.Deceased, d.Date, d.Source, d.Note, d.UpdatedAt, after.UpdatedAt,
		after.DeletedAt, actor.Type, actor.ID, change.By.CredentialID, change.What, change.Fields, limit, change.Count,
		audit.List(change.Entry))
	if err := s.db.Send(ctx, b); err != nil {
		return false, err
	}
	if saved == 0 && current && live.Total >= int64(limit) { // else another change came first, perhaps the same one
		return false, planLimit(limit)
	}
	return saved == 1, nil
}

// The ids of the page come from the index alone; only the page's own rows are fetched, however deep it lies.
const list = `
	SELECT ` + columns + ` FROM patient WHERE tenant_id = $1 AND id = ANY (ARRAY(
		SELECT id FROM patient WHERE tenant_id = $1 AND deleted_at IS NULL AND id > $2 ORDER BY id OFFSET $3 LIMIT $4))
	ORDER BY id`

// List gives a page and the exact number of patients in one trip.
func (s *Store) List(ctx context.Context, tenant string, part page.Request, e audit.Entry) ([]patient.Patient, int64, error) {
	after, err := cursor(part, 0)
	if err != nil {
		return nil, 0, err
	}
	var found []patient.Patient
	var live *count
	b := pg.Tenant(tenant)
	pg.Rows(b, &found, list, tenant, after, part.Offset(), part.Size+1)
	pg.Row(b, &live, countLive, tenant)
	if err := s.db.Send(ctx, b); err != nil {
		return nil, 0, err
	}
	if live.Rows > longCount {
		s.rollUpSoon(tenant)
	}
	return found, live.Total, s.seen(ctx, e, true)
}

// cursor is the id after which a page begins; start where the request came without one.
func cursor(part page.Request, start int64) (int64, error) {
	if part.After == "" {
		return start, nil
	}
	id, err := strconv.ParseInt(part.After, 10, 64)
	if err != nil {
		return 0, invalidCursor()
	}
	return id, nil
}

func invalidCursor() error {
	return fault.InvalidFields([]fault.Field{{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"}})
}
