package store

import (
	"context"
	"errors"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const (
	insertUser = `
		INSERT INTO user_account (id, environment, email, email_key, email_verified_at, password_hash, first_name, last_name, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (id) DO NOTHING`
	selectUser = `
		SELECT id, environment, email, email_verified_at, password_hash, first_name, last_name, created_at
		FROM user_account WHERE id = $1`
)

// CreateUser is identity.UserStore's.
func (s *Store) CreateUser(ctx context.Context, u identity.User) (identity.User, error) {
	var stored *identity.User
	b := pg.Global()
	b.Exec(insertUser, u.ID, u.Environment, u.Email, identity.EmailKey(u.Email), u.EmailVerifiedAt, u.PasswordHash, u.FirstName, u.LastName, u.CreatedAt)
	pg.Row(b, &stored, selectUser, u.ID)
	switch err := s.DB.Send(ctx, b); {
	case pg.Violates(err, "user_account_email"):
		return identity.User{}, fault.New(fault.Conflict, "email_taken", "The e-mail address belongs to another user.")
	case err != nil:
		return identity.User{}, err
	case stored == nil:
		return identity.User{}, errors.New("a user just stored is not there") //nolint:err113 // cannot be
	}
	return *stored, nil
}
