package store

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching"
)

var _ matching.ModelStore = (*Store)(nil)

// activationRow is an entry of the log.
type activationRow struct {
	Number  int64     `db:"number"`
	Version int64     `db:"version"`
	Below   *int64    `db:"below"`
	At      time.Time `db:"at"`
	ByType  string    `db:"by_type"`
	ByID    string    `db:"by_id"`
}

func (r *activationRow) activation() *matching.Activation {
	if r == nil {
		return nil
	}
	return &matching.Activation{
		Number: r.Number, Version: r.Version, Below: r.Below, At: r.At.UTC(), By: principal.Actor{Type: r.ByType, ID: r.ByID},
	}
}

// modelRow is a version with its latest activation.
type modelRow struct {
	Version       int64      `db:"version"`
	Name          string     `db:"name"`
	Description   string     `db:"description"`
	Parent        *int64     `db:"parent"`
	Training      []byte     `db:"training"`
	Weights       []byte     `db:"weights"`
	CreatedAt     time.Time  `db:"created_at"`
	CreatedByType string     `db:"created_by_type"`
	CreatedByID   string     `db:"created_by_id"`
	Number        *int64     `db:"number"`
	Below         *int64     `db:"below"`
	At            *time.Time `db:"at"`
	ByType        *string    `db:"by_type"`
	ByID          *string    `db:"by_id"`
}

func (r *modelRow) model() (*matching.Model, error) {
	m := &matching.Model{
		Version: r.Version, Name: r.Name, Description: r.Description, Parent: r.Parent, Training: r.Training,
		CreatedAt: r.CreatedAt.UTC(), CreatedBy: principal.Actor{Type: r.CreatedByType, ID: r.CreatedByID},
	}
	if r.Number != nil {
		row := activationRow{*r.Number, r.Version, r.Below, *r.At, *r.ByType, *r.ByID}
		m.Activated = row.activation()
	}
	if r.Weights == nil {
		return m, nil
	}
	var faults []fault.Field
	if m.Weights, faults = matching.ReadWeights(r.Weights); len(faults) > 0 {
		return nil, fmt.Errorf("version %d: %w: %s", r.Version, matching.ErrStored, faults[0].Field)
	}
	return m, nil
}

const (
	state = `
	SELECT a.number, a.version, a.below, a.at, a.by_type, a.by_id FROM model_activation a
	WHERE a.tenant_id = $1 ORDER BY a.number DESC LIMIT 1`
	below = `
	SELECT b.number, b.version, b.below, b.at, b.by_type, b.by_id FROM model_activation b
	WHERE b.tenant_id = $1 AND b.number = (
		SELECT a.below FROM model_activation a WHERE a.tenant_id = $1 ORDER BY a.number DESC LIMIT 1)`
	latest = `SELECT coalesce(max(version), 0) FROM model WHERE tenant_id = $1`
)

// queueState queues what a state is made of.
func queueState(b *pg.Batch, tenant string) (read func() matching.Standing) {
	var s matching.Standing
	var current, before *activationRow
	pg.Row(b, &current, state, tenant)
	pg.Row(b, &before, below, tenant)
	pg.Value(b, &s.Latest, latest, tenant)
	return func() matching.Standing {
		s.Current, s.Below = current.activation(), before.activation()
		return s
	}
}

// Standing is matching.ModelStore's.
func (s *Store) Standing(ctx context.Context, tenant string) (matching.Standing, error) {
	b := pg.Snapshot(tenant)
	read := queueState(b, tenant)
	if err := s.db.Send(ctx, b); err != nil {
		return matching.Standing{}, err
	}
	return read(), nil
}

const createModel = `
	INSERT INTO model (tenant_id, version, name, description, parent, training, weights, created_at, created_by_type, created_by_id)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

// CreateModel is matching.ModelStore's, in one trip and one commit.
func (s *Store) CreateModel(
	ctx context.Context, tenant string, m matching.Model, key idempotency.Key, status int, answer []byte, e audit.Entry,
) (*idempotency.Record, bool, error) {
	weights, err := json.Marshal(m.Weights)
	if err != nil {
		return nil, false, fmt.Errorf("store a model: %w", err)
	}
	b := pg.Tenant(tenant)
	key.Lock(b)
	b.Exec(createModel, tenant, m.Version, m.Name, m.Description, m.Parent, string(m.Training), string(weights), m.CreatedAt,
		m.CreatedBy.Type, m.CreatedBy.ID)
	key.Keep(b, int32(status), answer, strconv.FormatInt(m.Version, 10)) //nolint:gosec // a status of HTTP
	audit.Keep(b, e)
	return s.saved(ctx, b, key, "model_pkey")
}

// saved sends the batch of a change. What another change took first is not saved, which is no error.
func (s *Store) saved(ctx context.Context, b *pg.Batch, key idempotency.Key, taken string) (*idempotency.Record, bool, error) {
	err := s.db.Send(ctx, b)
	if err == nil {
		return nil, true, nil
	}
	if pg.Violates(err, taken) {
		return nil, false, nil
	}
	repeat, err := key.Repeat(ctx, s.db, err)
	return repeat, false, err
}

const (
	modelColumns = `
	m.version, m.name, m.description, m.parent, m.training, m.created_at, m.created_by_type, m.created_by_id,
	a.number, a.below, a.at, a.by_type, a.by_id`
	lastActivation = `
	LEFT JOIN LATERAL (
		SELECT number, below, at, by_type, by_id FROM model_activation
		WHERE tenant_id = $1 AND version = m.version ORDER BY number DESC LIMIT 1) a ON true`
	readModel = `
	SELECT ` + modelColumns + `, m.weights FROM model m` + lastActivation + `
	WHERE m.tenant_id = $1 AND m.version = $2`
	readDefault = `
	SELECT number, version, below, at, by_type, by_id FROM model_activation
	WHERE tenant_id = $1 AND version = $2 ORDER BY number DESC LIMIT 1`
	listModels = `
	SELECT ` + modelColumns + `, NULL AS weights FROM model m` + lastActivation + `
	WHERE m.tenant_id = $1 AND m.version > $2 ORDER BY m.version OFFSET $3 LIMIT $4`
	countModels = `SELECT count(*) FROM model WHERE tenant_id = $1`
)

// ReadModel is matching.ModelStore's, in one trip.
func (s *Store) ReadModel(ctx context.Context, tenant string, version int64) (*matching.Model, matching.Standing, error) {
	var row *modelRow
	var activation *activationRow
	b := pg.Snapshot(tenant)
	read := queueState(b, tenant)
	if version == matching.DefaultVersion {
		pg.Row(b, &activation, readDefault, tenant, version)
	} else {
		pg.Row(b, &row, readModel, tenant, version)
	}
	if err := s.db.Send(ctx, b); err != nil {
		return nil, matching.Standing{}, err
	}
	switch {
	case activation != nil:
		return &matching.Model{Activated: activation.activation()}, read(), nil
	case row == nil:
		return nil, read(), nil
	}
	m, err := row.model()
	return m, read(), err
}

// ListModels is matching.ModelStore's, in one trip.
func (s *Store) ListModels(ctx context.Context, tenant string, above, offset int64, most int) ([]matching.Model, int64, matching.Standing, error) {
	var rows []modelRow
	var total int64
	b := pg.Snapshot(tenant)
	read := queueState(b, tenant)
	pg.Rows(b, &rows, listModels, tenant, above, offset, most)
	pg.Value(b, &total, countModels, tenant)
	if err := s.db.Send(ctx, b); err != nil {
		return nil, 0, matching.Standing{}, err
	}
	list := make([]matching.Model, len(rows))
	for i := range rows {
		m, err := rows[i].model()
		if err != nil {
			return nil, 0, matching.Standing{}, err
		}
		list[i] = *m
	}
	return list, total, read(), nil
}

const activate = `
	INSERT INTO model_activation (tenant_id, number, version, below, at, by_type, by_id) VALUES ($1, $2, $3, $4, $5, $6, $7)`

// Activate is matching.ModelStore's, in one trip and one commit.
func (s *Store) Activate(
	ctx context.Context, tenant string, a matching.Activation, key idempotency.Key, status int, answer []byte, e audit.Entry,
) (*idempotency.Record, bool, error) {
	b := pg.Tenant(tenant)
	key.Lock(b)
	b.Exec(activate, tenant, a.Number, a.Version, a.Below, a.At, a.By.Type, a.By.ID)
	key.Keep(b, int32(status), answer, strconv.FormatInt(a.Version, 10)) //nolint:gosec // a status of HTTP
	audit.Keep(b, e)
	return s.saved(ctx, b, key, "model_activation_pkey")
}

// Earlier is matching.ModelStore's.
func (s *Store) Earlier(ctx context.Context, key idempotency.Key) (*idempotency.Record, error) {
	return key.Earlier(ctx, s.db)
}

// choiceRow is the number of a tenant's latest activation.
type choiceRow struct {
	TenantID string `db:"tenant_id"`
	Number   int64  `db:"number"`
}

const choices = `SELECT tenant_id::text, number FROM model_choices($1) WHERE number IS NOT NULL`

// Choices is matching.ModelStore's, in one trip.
func (s *Store) Choices(ctx context.Context, tenants []string) (map[string]int64, error) {
	var rows []choiceRow
	b := pg.Global()
	pg.Rows(b, &rows, choices, tenants)
	if err := s.db.Send(ctx, b); err != nil {
		return nil, err
	}
	numbers := make(map[string]int64, len(rows))
	for _, row := range rows {
		numbers[row.TenantID] = row.Number
	}
	return numbers, nil
}

// SweepKeys deletes expired idempotency keys until ctx ends.
func (s *Store) SweepKeys(ctx context.Context, log *slog.Logger) error {
	return idempotency.Sweep(ctx, s.db, func(err error) { log.WarnContext(ctx, "sweep idempotency keys", "error", err.Error()) })
}
