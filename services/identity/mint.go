package identity

import (
	"context"
	"encoding/hex"
	"errors"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
)

// Minted is a new key with what is shown once.
type Minted struct {
	APIKey

	Roles []Role
	Token string
}

// Prefix is the part of a key that may be shown.
func (k APIKey) Prefix() string {
	raw := secret.APIKey{Environment: secret.KeyEnvironment(k.Environment)}
	if id, err := parseID(k.ID); err == nil {
		raw.ID = id
	}
	return raw.Prefix()
}

// MintKey makes a key with roles that stand for no more than the caller may do. Further are faults of the request that
// were found before.
func (s *Service) MintKey(ctx context.Context, d KeyDraft, key idempotency.Key, further func(...fault.Field) error) (Minted, error) {
	by, err := principal.Require(ctx, principal.KeyManage)
	if err != nil {
		return Minted{}, err
	}
	now := s.now()
	faults := d.faults(now)
	all, err := s.Tenants.Roles(ctx)
	if err != nil {
		return Minted{}, err
	}
	roles, unknown := pick(all, d.RoleIDs)
	if err := further(append(faults, unknown...)...); err != nil {
		return Minted{}, err
	}
	if !by.Permissions.Has(permitted(roles)) {
		return Minted{}, fault.New(fault.Denied, "permission_denied", "A key can be given only what the caller may do.")
	}
	expires, _ := d.expiry(now)
	minted, err := s.newKey(d.Name, roles, now)
	if err != nil {
		return Minted{}, err
	}
	minted.TenantID, minted.ExpiresAt = by.TenantID, expires
	if minted.UserID = given(by.UserID); minted.UserID == nil { // whichever application a person made it with, it is theirs
		minted.ClientID = given(by.ClientID)
	}
	repeat, err := s.Keys.CreateKey(ctx, minted.APIKey, key, s.entry(ctx, minted.TenantID, auditTokenMint))
	if err != nil {
		return Minted{}, err
	}
	return minted, created(repeat)
}

func given(id string) *string {
	if id == "" {
		return nil
	}
	return &id
}

// created is nil, or, for a repeat, the fault that names what the first request made: its secret is not shown again.
func created(repeat *idempotency.Record) error {
	if repeat == nil {
		return nil
	}
	f := fault.New(fault.Conflict, "already_created", "The Idempotency-Key created this before; its secret is shown once only.")
	f.Extra = map[string]any{"id": repeat.ResourceID}
	return f
}

// newKey makes a key that belongs to nobody yet.
func (s *Service) newKey(name string, roles []Role, now time.Time) (Minted, error) {
	id, err := s.NewID()
	if err != nil {
		return Minted{}, err
	}
	raw, err := secret.NewAPIKey(s.Random, s.Environment, id)
	if err != nil {
		return Minted{}, err
	}
	token := raw.String()
	sealed, err := s.Sealer.Seal([]byte(session.HashOf(token).String()), keyPurpose(id.String()))
	if err != nil {
		return Minted{}, err
	}
	k := APIKey{
		ID: id.String(), Name: name, RoleIDs: roleIDs(roles), Environment: s.Environment,
		SecretHash: s.Hasher.Hash(raw.Secret), SessionSealed: sealed, CreatedAt: now,
	}
	return Minted{APIKey: k, Roles: roles, Token: token}, nil
}

func keyPurpose(id string) string { return "api_key/" + id }

// KeyList is a page of keys, and the roles to name them by.
type KeyList struct {
	Keys  []APIKey
	Roles []Role
	Total int64
}

// ListKeys gives a page of the caller's tenant's keys.
func (s *Service) ListKeys(ctx context.Context, part page.Request) (KeyList, error) {
	by, err := principal.Require(ctx, principal.KeyManage)
	if err != nil {
		return KeyList{}, err
	}
	roles, err := s.Tenants.Roles(ctx)
	if err != nil {
		return KeyList{}, err
	}
	keys, total, err := s.Keys.ListKeys(ctx, by.TenantID, part)
	return KeyList{Keys: keys, Roles: roles, Total: total}, err
}

// RevokeKey ends a key of the caller's tenant.
func (s *Service) RevokeKey(ctx context.Context, id string) error {
	by, err := principal.Require(ctx, principal.KeyManage)
	if err != nil {
		return err
	}
	none := fault.New(fault.NotFound, "key_not_found", "There is no such key.")
	if !ValidID(id) {
		return none
	}
	k, err := s.Keys.FindKey(ctx, id)
	if err != nil {
		return err
	}
	if k == nil || k.RevokedAt != nil || k.TenantID != by.TenantID || k.Environment != s.Environment {
		return none
	}
	name, err := s.Sealer.Open(k.SessionSealed, keyPurpose(id))
	if err != nil {
		return err
	}
	if _, err := hex.DecodeString(string(name)); err != nil {
		return errors.New("a key's session name is not hexadecimal") //nolint:err113 // a defect, for the log alone
	}
	done, err := s.Keys.RevokeKey(ctx, by.TenantID, id, string(name), s.now(), s.entry(ctx, by.TenantID, auditKeyRevoke))
	if err != nil {
		return err
	}
	if !done {
		return none
	}
	s.Nudge()
	return nil
}
