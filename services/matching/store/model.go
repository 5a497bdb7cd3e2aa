package store

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
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

var errStored = errors.New("a stored model is none any more")

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
	var faults []fault
	if m.Weights, faults = linkage.ParseModel(r.Weights); len(faults) > 0 {
		return nil, errStored
	}
	return m, nil
}
