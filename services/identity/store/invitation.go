package store

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const (
	invitationColumns = `id, tenant_id, email, role_ids::text[] AS role_ids, environment, hash, created_at, expires_at`

	forgetInvitation = `DELETE FROM invitation WHERE tenant_id = $1 AND email_key = $2`
	insertInvitation = `
		INSERT INTO invitation (tenant_id, id, email, email_key, role_ids, environment, hash, created_at, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
)

// Invite is identity.InvitationStore's.
func (s *Store) Invite(ctx context.Context, i identity.Invitation, letter identity.Letter, key idempotency.Key, answer []byte, e audit.Entry) (*idempotency.Record, error) {
	b := pg.Tenant(i.TenantID)
	key.Lock(b)
	key.Keep(b, statusCreated, answer, i.ID)
	b.Exec(forgetInvitation, i.TenantID, identity.EmailKey(i.Email))
	b.Exec(insertInvitation, i.TenantID, i.ID, i.Email, identity.EmailKey(i.Email), i.RoleIDs, i.Environment, i.Hash, i.CreatedAt, i.ExpiresAt)
	send(b, letter)
	tell(b, e)
	if err := s.DB.Send(ctx, b); err != nil {
		return key.Repeat(ctx, s.DB, err)
	}
	return nil, nil //nolint:nilnil // no repeat
}

const (
	listInvitations = `
		SELECT ` + invitationColumns + ` FROM invitation
		WHERE tenant_id = $1 AND expires_at > $2 AND ($3::uuid IS NULL OR id > $3)
		ORDER BY id LIMIT $4 OFFSET $5`
	countInvitations = `SELECT count(*) FROM invitation WHERE tenant_id = $1 AND expires_at > $2`
)

// ListInvitations is identity.InvitationStore's.
func (s *Store) ListInvitations(ctx context.Context, tenant string, part page.Request, now time.Time) ([]identity.Invitation, int64, error) {
	var list []identity.Invitation
	var total int64
	b := pg.Tenant(tenant)
	pg.Value(b, &total, countInvitations, tenant, now)
	pg.Rows(b, &list, listInvitations, tenant, now, cursor(part.After), part.Size+1, part.Offset())
	err := s.DB.Send(ctx, b)
	return list, total, err
}

// DeleteInvitation is identity.InvitationStore's.
func (s *Store) DeleteInvitation(ctx context.Context, tenant, id string, e audit.Entry) (bool, error) {
	var gone int64
	b := pg.Tenant(tenant)
	audit.Change(b, &gone, e, `DELETE FROM invitation WHERE tenant_id = $1 AND id = $2`, tenant, id)
	err := s.DB.Send(ctx, b)
	return gone == 1, err
}

const selectInvitation = `SELECT ` + invitationColumns + ` FROM invitation WHERE hash = $1 AND id = $2 AND expires_at > $3`

// FindInvitation is identity.InvitationStore's.
func (s *Store) FindInvitation(ctx context.Context, id string, hash []byte, now time.Time) (*identity.Invitation, error) {
	var found *identity.Invitation
	b := pg.Global()
	b.Exec(seeIssued, hex.EncodeToString(hash))
	pg.Row(b, &found, selectInvitation, hash, id, now)
	err := s.DB.Send(ctx, b)
	return found, err
}

// spendInvitation makes the batch fail where the invitation is gone: a division by zero.
const spendInvitation = `
	WITH spent AS (DELETE FROM invitation WHERE tenant_id = $1 AND id = $2 AND hash = $3 RETURNING 1)
	SELECT 1 / count(*) FROM spent`

// addProved also takes over the account of who registered the address and never proved it.
const addProved = addUser + `
	ON CONFLICT (id) DO UPDATE SET email_verified_at = excluded.email_verified_at, password_hash = excluded.password_hash,
		first_name = excluded.first_name, last_name = excluded.last_name
	WHERE user_account.email_verified_at IS NULL`

// Accept is identity.InvitationStore's.
func (s *Store) Accept(ctx context.Context, i identity.Invitation, userID string, roleIDs []string, newcomer *identity.User, e audit.Entry) (bool, error) {
	b := pg.Tenant(i.TenantID)
	b.Exec(spendInvitation, i.TenantID, i.ID, i.Hash)
	if n := newcomer; n != nil {
		b.Exec(addProved, n.ID, n.Environment, n.Email, identity.EmailKey(n.Email), n.EmailVerifiedAt, n.PasswordHash, n.FirstName, n.LastName, n.CreatedAt)
	}
	outbox.Enqueue(b, outbox.Message{
		Kind: identity.MemberEffect, Payload: identity.NewMember{TenantID: i.TenantID, UserID: userID, RoleIDs: roleIDs},
	})
	tell(b, e)
	err := s.DB.Send(ctx, b)
	if pg.HasCode(err, pg.DivisionByZero) || pg.Violates(err, emailTaken) {
		return false, nil
	}
	return err == nil, err
}
