package store

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

var _ identity.PushedStore = (*Store)(nil)

const (
	push = `INSERT INTO pushed_request (hash, client_id, parameters, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)`
	// beginPushed moves the end on once, so that a page that is loaded again gains nothing.
	beginPushed = `
		UPDATE pushed_request SET begun = true, expires_at = CASE WHEN begun THEN expires_at ELSE $3 END
		WHERE hash = $1 AND expires_at > $2
		RETURNING hash, client_id, parameters, expires_at`
)

// Push is identity.PushedStore's.
func (s *Store) Push(ctx context.Context, r identity.PushedRequest, now time.Time) error {
	b := presented(r.Hash)
	b.Exec(push, r.Hash, r.ClientID, r.Parameters, now, r.ExpiresAt)
	return s.DB.Send(ctx, b)
}

// BeginPushed is identity.PushedStore's.
func (s *Store) BeginPushed(ctx context.Context, hash []byte, now, until time.Time) (*identity.PushedRequest, error) {
	var found *identity.PushedRequest
	b := presented(hash)
	pg.Row(b, &found, beginPushed, hash, now, until)
	err := s.DB.Send(ctx, b)
	return found, err
}
