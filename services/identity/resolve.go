package identity

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
)

func parseID(text string) (uuid.UUID, error) { return uuid.Parse(text) }

// unknown is the one answer to every token that is nobody's, whatever is the matter with it.
func unknown() error {
	return fault.New(fault.NotFound, "unknown_credential", "The credential is not known, or not valid any more.")
}

// Resolve says whose credential a token is, for a program of the mesh. Permissions are what the credential's roles
// permit now.
func (s *Service) Resolve(ctx context.Context, token string) (principal.Principal, error) {
	if _, err := principal.RequireService(ctx); err != nil {
		return principal.Principal{}, err
	}
	if secret.LooksLikeAPIKey(token) {
		return s.resolveKey(ctx, token)
	}
	return s.resolveToken(ctx, token)
}

func (s *Service) resolveKey(ctx context.Context, token string) (principal.Principal, error) {
	raw, ok := secret.ParseAPIKey(token)
	if !ok || raw.Environment != secret.KeyEnvironment(s.Environment) {
		return principal.Principal{}, unknown()
	}
	id := raw.ID.String()
	k, err := s.Keys.FindKey(ctx, id)
	if err != nil {
		return principal.Principal{}, err
	}
	now := s.Now()
	if k == nil || !s.Hasher.Matches(k.SecretHash, raw.Secret) || !k.Live(s.Environment, now) {
		return principal.Principal{}, unknown()
	}
	p := principal.Principal{TenantID: k.TenantID, CredentialID: id, Kind: principal.APIKey}
	if k.UserID != nil {
		p.UserID = *k.UserID
	}
	if k.ClientID != nil {
		p.ClientID = *k.ClientID
	}
	if k.ExpiresAt != nil {
		p.ExpiresAt = *k.ExpiresAt
	}
	if p, err = s.stand(ctx, p, k.RoleIDs); err != nil {
		return principal.Principal{}, err
	}
	s.Uses.Note(k.TenantID, id, now)
	return p, nil
}

func (s *Service) resolveToken(ctx context.Context, token string) (principal.Principal, error) {
	if !s.Genuine(token) {
		return principal.Principal{}, unknown()
	}
	hash := sha256.Sum256([]byte(token))
	t, c, err := s.Tokens.FindToken(ctx, hash[:])
	if err != nil {
		return principal.Principal{}, err
	}
	if t == nil || !t.Live(s.Environment, s.Now()) {
		return principal.Principal{}, unknown()
	}
	if c == nil {
		c = s.Configured(t.ClientID)
	}
	if c == nil || c.Environment != s.Environment {
		return principal.Principal{}, unknown() // a token is worth nothing without its client
	}
	p := principal.Principal{
		TenantID: t.TenantID, ClientID: t.ClientID, CredentialID: t.ID, Kind: principal.Client,
		ExpiresAt: t.ExpiresAt.Truncate(time.Millisecond),
	}
	if t.UserID != nil && t.FamilyID != nil {
		p.Kind, p.UserID, p.CredentialID = principal.Session, *t.UserID, *t.FamilyID
		standing, err := s.Tenants.MemberStanding(ctx, p.TenantID, p.UserID)
		if err == nil && standing.MFARequired && !t.Strong {
			return principal.Principal{}, unknown() // the tenant requires more by now than its user proved
		}
		if p, err = s.standAs(p, standing, err); err != nil {
			return principal.Principal{}, err
		}
		p.Permissions &= principal.ParsePermissions(t.Scope)
		return p, nil
	}
	if c.TenantID != t.TenantID {
		return principal.Principal{}, unknown()
	}
	if p, err = s.stand(ctx, p, c.RoleIDs); err != nil {
		return principal.Principal{}, err
	}
	p.Permissions = c.Permissions(p.Permissions) & principal.ParsePermissions(t.Scope)
	return p, nil
}

// stand completes a principal by what its tenant and roles are worth now.
func (s *Service) stand(ctx context.Context, p principal.Principal, roleIDs []string) (principal.Principal, error) {
	standing, err := s.Tenants.Standing(ctx, p.TenantID, roleIDs)
	return s.standAs(p, standing, err)
}

// standAs completes a principal by a standing, or says that there is none.
func (s *Service) standAs(p principal.Principal, standing Standing, err error) (principal.Principal, error) {
	if fault.Is(err, fault.NotFound) || (err == nil && standing.Environment != s.Environment) {
		return principal.Principal{}, unknown()
	}
	p.Permissions, p.Plan = standing.Permissions, standing.Plan
	p.Environment, p.AgreementAccepted = standing.Environment, standing.AgreementAccepted
	return p, err
}
