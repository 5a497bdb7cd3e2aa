package oauth

import (
	"context"
	"slices"
	"strings"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// errNarrow is the fault of a refresh that asks for more than was granted.
func errNarrow() error {
	return fault.New(fault.Invalid, "invalid_scope", "The scope is more than was granted.")
}

// presented is a refresh token that somebody came with.
type presented struct {
	hash     []byte
	clientID string
	userID   string // "" when who asks is not known
	scope    []string
	tenantID *string
}

// held is what holds of it: the token may be turned into the next pair, or, for a repeat, is answered as before.
type held struct {
	token  identity.IssuedRefresh
	scope  []string
	repeat *identity.Tokens
}

// findRefresh gives a token, spent or not, of a sign-in that goes on; nil for others.
func (s *Server) findRefresh(ctx context.Context, hash []byte) (*identity.IssuedRefresh, error) {
	found, err := s.o.Grants.FindRefresh(ctx, hash)
	if err != nil || found == nil || !found.Live(s.o.Environment, s.o.Now()) {
		return nil, err
	}
	return found, nil
}

// present judges a refresh token. One that was spent longer ago than a lost answer explains was copied: which of the two
// holders is the thief cannot be told, so the family ends (RFC 9700 §4.14.2). Whoever presents another client's, or
// another user's, brings nothing about.
func (s *Server) present(ctx context.Context, p presented) (held, error) {
	found, err := s.findRefresh(ctx, p.hash)
	if err != nil {
		return held{}, err
	}
	if found == nil || found.Family.ClientID != p.clientID || (p.userID != "" && found.Family.UserID != p.userID) {
		return held{}, identity.InvalidGrant()
	}
	if found.SpentAt != nil && s.instant().Sub(*found.SpentAt) > identity.GraceOfReuse {
		if err := s.reused(ctx, found.Family.UserID, found.Family.ID, found.Family.TenantID); err != nil {
			return held{}, err
		}
		return held{}, identity.InvalidGrant()
	}
	h := held{token: *found, scope: found.Family.Scope}
	if len(p.scope) > 0 {
		if h.scope = p.scope; !within(p.scope, found.Family.Scope) {
			return held{}, errNarrow()
		}
	}
	tenant := found.Family.TenantID
	if p.tenantID != nil {
		tenant = *p.tenantID
	}
	if !found.Family.Admits(tenant) {
		return held{}, identity.Confined()
	}
	if found.SpentAt != nil {
		before, err := s.openSuccessor(*found)
		if err != nil {
			return held{}, err
		}
		if p.tenantID != nil && before.TenantID != tenant {
			return held{}, identity.InvalidGrant()
		}
		h.repeat = &before
	}
	if err := s.member(ctx, tenant, found.Family.UserID, found.Family.Strong); err != nil {
		if p.tenantID == nil && fault.Is(err, fault.Denied) {
			err = identity.InvalidGrant()
		}
		return held{}, err
	}
	return h, nil
}

// within reports whether every one of the scopes is among the granted.
func within(scopes, granted []string) bool {
	return !slices.ContainsFunc(scopes, func(scope string) bool { return !slices.Contains(granted, scope) })
}

// presentIn is present for a request on its way through fosite.
func (s *Server) presentIn(ctx context.Context, x *exchange, hash []byte) (*identity.IssuedRefresh, error) {
	if x.client == nil {
		return nil, fosite.ErrNotFound
	}
	h, err := s.present(ctx, presented{hash: hash, clientID: x.client.ID, scope: strings.Fields(x.form.Get("scope"))})
	switch {
	case err != nil:
		return nil, x.decide(protocol(err))
	case h.repeat != nil:
		x.repeat = h.repeat
		return nil, fosite.ErrNotFound // there is nothing left for fosite to do
	}
	x.old, x.scope = &h.token, h.scope
	return &h.token, nil
}

// protocol is one of our faults as fosite knows it.
func protocol(err error) error {
	switch fault.Of(err).Code {
	case "invalid_grant":
		return fosite.ErrInvalidGrant
	case "invalid_scope":
		return fosite.ErrInvalidScope
	}
	return unavailable(err)
}

// turn is what a refresh token is turned into.
type turn struct {
	scope    []string
	tenantID *string
	revoke   bool
	access   string
	refresh  string
}

// rotate spends the token for the next pair. Done is false when another request was first.
func (s *Server) rotate(ctx context.Context, old identity.IssuedRefresh, t turn) (identity.Tokens, bool, error) {
	access, err := s.newAccess(hashOf(t.access))
	if err != nil {
		return identity.Tokens{}, false, err
	}
	tenant := old.Family.TenantID
	if t.tenantID != nil {
		tenant = *t.tenantID
	}
	sealed, err := s.sealSuccessor(old.Hash, successor{
		Access: t.access, Refresh: t.refresh, Scope: t.scope, Expires: access.ExpiresAt, TenantID: tenant,
	})
	if err != nil {
		return identity.Tokens{}, false, err
	}
	var moved audit.Entry
	if t.tenantID != nil {
		moved = s.entry(ctx, old.Family.UserID, old.Family.ID, identity.AuditTenantSwitch).In(tenant)
	}
	tenant, done, err := s.o.Grants.Rotate(ctx, identity.Rotation{
		Hash: old.Hash, Family: old.Family, TenantID: t.tenantID, Scope: t.scope, RevokeAccess: t.revoke,
		Access: access, Refresh: s.newRefresh(t.refresh), SuccessorSealed: sealed,
		Entry: moved, Now: s.instant(),
	})
	if err != nil || !done {
		return identity.Tokens{}, false, err
	}
	if t.revoke {
		s.o.Nudge()
	}
	return identity.Tokens{
		AccessToken: t.access, RefreshToken: t.refresh, Scope: t.scope, ExpiresAt: access.ExpiresAt,
		FamilyID: old.Family.ID, UserID: old.Family.UserID, TenantID: tenant,
	}, true, nil
}

// Exchange turns a refresh token into the next pair of its family, perhaps in another tenant. Faults: Invalid
// (invalid_grant) for a token that does not hold or is not the user's, Denied (not_a_member,
// mfa_required) for a tenant that is not, or that requires more of a sign-in.
func (s *Server) Exchange(ctx context.Context, x identity.Exchange) (identity.Exchanged, error) {
	if !s.Genuine(x.RefreshToken) {
		return identity.Exchanged{}, identity.InvalidGrant()
	}
	p := presented{hash: hashOf(x.RefreshToken), clientID: x.ClientID, userID: x.UserID}
	if x.TenantID != "" {
		p.tenantID = &x.TenantID
	}
	for range 2 { // who was not first finds the first's answer
		tokens, done, err := s.exchange(ctx, p, x.Revoke)
		if err != nil || done {
			return s.exchanged(tokens), err
		}
	}
	return identity.Exchanged{}, identity.InvalidGrant()
}

func (s *Server) exchange(ctx context.Context, p presented, revoke bool) (identity.Tokens, bool, error) {
	h, err := s.present(ctx, p)
	if err != nil {
		return identity.Tokens{}, false, err
	}
	if h.repeat != nil {
		return *h.repeat, true, nil
	}
	next := turn{scope: h.scope, tenantID: p.tenantID, revoke: revoke}
	if next.access, _, err = s.core.generate(ctx); err != nil {
		return identity.Tokens{}, false, err
	}
	if next.refresh, _, err = s.core.generate(ctx); err != nil {
		return identity.Tokens{}, false, err
	}
	return s.rotate(ctx, h.token, next)
}

func (s *Server) exchanged(t identity.Tokens) identity.Exchanged {
	return identity.Exchanged{
		AccessToken: t.AccessToken, RefreshToken: t.RefreshToken, Scope: t.Scope, ExpiresIn: max(0, t.ExpiresAt.Sub(s.instant())),
	}
}
