package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

var (
	_ identity.PeopleStore     = (*Store)(nil)
	_ identity.LinkStore       = (*Store)(nil)
	_ identity.SignInStore     = (*Store)(nil)
	_ identity.InvitationStore = (*Store)(nil)
)

// asUser begins a batch that row-level security holds to one user.
func asUser(id string) *pg.Batch {
	b := pg.Global()
	b.Exec(`SELECT set_config('app.user_id', $1, true)`, id)
	return b
}

// send queues a letter, unless it is none.
func send(b *pg.Batch, l identity.Letter) {
	if l.ID != "" {
		outbox.Enqueue(b, outbox.Message{Kind: identity.LetterEffect, Payload: l})
	}
}

const (
	userColumns = `id, environment, email, email_verified_at, password_hash, first_name, last_name, created_at`

	selectUserByEmail = `SELECT ` + userColumns + ` FROM user_account WHERE environment = $1 AND email_key = $2`
	selectUsers       = `SELECT ` + userColumns + ` FROM user_account WHERE id = ANY ($1)`
)

// FindUser is identity.PeopleStore's.
func (s *Store) FindUser(ctx context.Context, id string) (*identity.User, error) {
	var found *identity.User
	b := pg.Global()
	pg.Row(b, &found, selectUser, id)
	err := s.DB.Send(ctx, b)
	return found, err
}

// FindUserByEmail is identity.PeopleStore's.
func (s *Store) FindUserByEmail(ctx context.Context, environment, email string) (*identity.User, error) {
	var found *identity.User
	b := pg.Global()
	pg.Row(b, &found, selectUserByEmail, environment, identity.EmailKey(email))
	err := s.DB.Send(ctx, b)
	return found, err
}

// FindUsers is identity.PeopleStore's.
func (s *Store) FindUsers(ctx context.Context, ids []string) ([]identity.User, error) {
	var list []identity.User
	b := pg.Global()
	pg.Rows(b, &list, selectUsers, ids)
	err := s.DB.Send(ctx, b)
	return list, err
}

// addUser fails on an address that is taken, and with it the batch.
const addUser = `
	INSERT INTO user_account (id, environment, email, email_key, email_verified_at, password_hash, first_name, last_name, created_at)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

func add(b *pg.Batch, u identity.User) {
	b.Exec(addUser, u.ID, u.Environment, u.Email, identity.EmailKey(u.Email), u.EmailVerifiedAt, u.PasswordHash, u.FirstName, u.LastName, u.CreatedAt)
}

const emailTaken = "user_account_email"

// Register is identity.PeopleStore's.
func (s *Store) Register(ctx context.Context, u identity.User, link identity.Link, organization identity.NewTenant, letter identity.Letter, e audit.Entry) (bool, error) {
	b := asUser(u.ID)
	add(b, u)
	keep(b, link)
	outbox.Enqueue(b, outbox.Message{Kind: identity.TenantEffect, Payload: organization})
	send(b, letter)
	tell(b, e)
	err := s.DB.Send(ctx, b)
	if pg.Violates(err, emailTaken) {
		return false, nil
	}
	return err == nil, err
}

const takeOver = `
	UPDATE user_account SET password_hash = $2, first_name = $3, last_name = $4
	WHERE id = $1 AND email_verified_at IS NULL`

// RegisterAgain is identity.PeopleStore's.
func (s *Store) RegisterAgain(ctx context.Context, u identity.User, link identity.Link, letter identity.Letter, e audit.Entry) error {
	b := asUser(u.ID)
	b.Exec(takeOver, u.ID, u.PasswordHash, u.FirstName, u.LastName)
	keep(b, link)
	send(b, letter)
	tell(b, e)
	return s.DB.Send(ctx, b)
}

// UpdateName is identity.PeopleStore's.
func (s *Store) UpdateName(ctx context.Context, id, first, last string) (bool, error) {
	var touched int64
	b := pg.Global()
	b.Affected(&touched, `UPDATE user_account SET first_name = $2, last_name = $3 WHERE id = $1`, id, first, last)
	err := s.DB.Send(ctx, b)
	return touched == 1, err
}

// SendLetter is identity.PeopleStore's.
func (s *Store) SendLetter(ctx context.Context, letter identity.Letter) error {
	b := pg.Global()
	b.Exec(`SELECT 1`) // a trip is a trip, whether or not there is a letter
	send(b, letter)
	return s.DB.Send(ctx, b)
}

const (
	// setPassword makes the batch fail where its conditions do not hold: a division by zero.
	setPassword = `
		WITH changed AS (
			UPDATE user_account SET password_hash = $2, email_verified_at = CASE WHEN $3 THEN coalesce(email_verified_at, $4) ELSE email_verified_at END
			WHERE id = $1 RETURNING 1)
		SELECT 1 / count(*) FROM changed`
	endSignIns  = `DELETE FROM sign_in WHERE user_id = $1 AND ($2::uuid IS NULL OR id <> $2)`
	endAllLinks = `DELETE FROM mailed_link WHERE user_id = $1`
)

// ChangePassword is identity.PeopleStore's.
func (s *Store) ChangePassword(ctx context.Context, c identity.PasswordChange) (bool, error) {
	b := asUser(c.UserID)
	if c.Link != nil {
		b.Exec(spendLink, c.UserID, c.Link.Purpose, c.Link.Hash, c.Now)
	}
	b.Exec(setPassword, c.UserID, c.Hash, c.Link != nil, c.Now)
	b.Exec(endAllLinks, c.UserID)
	b.Exec(endChallenges, c.UserID)
	b.Exec(endSignIns, c.UserID, c.Keep)
	endFamilies(b, c.UserID, c.Now)
	revoke(b, session.Revocation{User: c.UserID})
	send(b, c.Letter)
	tell(b, c.Entry)
	err := s.DB.Send(ctx, b)
	if pg.HasCode(err, pg.DivisionByZero) {
		return false, nil
	}
	return err == nil, err
}
