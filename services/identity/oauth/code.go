package oauth

import (
	"context"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// keepCode stores a code that was just made. Done is false when the pushed request that it was asked by is spent.
func (s *Server) keepCode(ctx context.Context, hash []byte, a *Authorization, d Decision) (bool, error) {
	family, err := s.o.NewID()
	if err != nil {
		return false, err
	}
	now := s.instant()
	code := identity.IssuedCode{
		Hash: hash, FamilyID: family.String(), ClientID: a.Client.ID, RedirectURI: a.asked, Challenge: a.challenge,
		UserID: d.UserID, TenantID: d.TenantID, Confined: d.Confined, Strong: d.Strong, Agent: d.Agent, Scope: d.Scopes,
		Environment: s.o.Environment, CreatedAt: now, ExpiresAt: now.Add(identity.CodeLifetime),
	}
	if d.SignInID != "" {
		code.SignInID = &d.SignInID
	}
	return s.o.Grants.KeepCode(ctx, code, a.pushed)
}

// presentCode judges a code that a client came with. One that was spent a while ago was copied, so what it began ends
// (RFC 6749 §4.1.2); one that was spent this moment was sent twice. Another client's brings nothing about.
func (s *Server) presentCode(ctx context.Context, hash []byte, clientID string) (*identity.IssuedCode, error) {
	code, err := s.o.Grants.FindCode(ctx, hash)
	if err != nil {
		return nil, unavailable(err)
	}
	if code == nil || !code.Live(s.o.Environment, s.o.Now()) || code.ClientID != clientID {
		return nil, fosite.ErrNotFound
	}
	if code.SpentAt == nil {
		return code, nil
	}
	if s.instant().Sub(*code.SpentAt) > identity.GraceOfReuse {
		if err := s.reused(ctx, code.UserID, code.FamilyID, code.TenantID); err != nil {
			return nil, unavailable(err)
		}
	}
	return nil, fosite.ErrNotFound
}

// redeem spends the code for the tokens of a new family. Done is false when another request was first.
func (s *Server) redeem(ctx context.Context, code identity.IssuedCode, access, refresh string) (bool, error) {
	fresh, err := s.newAccess(hashOf(access))
	if err != nil {
		return false, err
	}
	return s.o.Grants.RedeemCode(ctx, identity.Redemption{
		Code: code, Access: fresh, Refresh: s.newRefresh(refresh),
		Entry: s.entry(ctx, code.UserID, code.FamilyID, identity.AuditTokenGrant).In(code.TenantID), Now: s.instant(),
	})
}
