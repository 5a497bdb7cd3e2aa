package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// instant is now, cut to what the wire and the database show.
func (s *Server) instant() time.Time { return s.o.Now().UTC().Truncate(time.Millisecond) }

// newAccess is an access token that is about to be kept.
func (s *Server) newAccess(hash []byte) (identity.NewToken, error) {
	id, err := s.o.NewID()
	return identity.NewToken{Hash: hash, ID: id.String(), ExpiresAt: s.instant().Add(identity.AccessTokenLifetime)}, err
}

// newRefresh is a refresh token that is about to be kept; none of "".
func (s *Server) newRefresh(token string) identity.NewToken {
	if token == "" {
		return identity.NewToken{}
	}
	return identity.NewToken{Hash: hashOf(token), ExpiresAt: s.instant().Add(identity.RefreshTokenLifetime)}
}

// entry tells of what a user does with a sign-in at a client.
func (s *Server) entry(ctx context.Context, user, family, action string) audit.Entry {
	return identity.EntryBy(ctx, s.o.Now(), s.o.NewID, user, family, action)
}

var (
	_ identity.Families      = (*Server)(nil)
	_ identity.FamilyStarter = (*Server)(nil)
)

// Start begins a family for a user who proved otherwise who they are, and gives its first tokens.
func (s *Server) Start(ctx context.Context, d identity.FamilyDraft) (identity.Tokens, error) {
	c, err := s.o.Clients.FindClient(ctx, d.ClientID)
	if err != nil {
		return identity.Tokens{}, err
	}
	if c == nil {
		return identity.Tokens{}, identity.InvalidGrant()
	}
	if d.Scope == nil {
		if d.Scope, err = s.scopes(ctx, *c); err != nil {
			return identity.Tokens{}, err
		}
	}
	if err := s.member(ctx, d.TenantID, d.UserID, d.Strong); err != nil {
		return identity.Tokens{}, err
	}
	id, err := s.o.NewID()
	if err != nil {
		return identity.Tokens{}, err
	}
	now := s.instant()
	family := identity.TokenFamily{
		ID: id.String(), UserID: d.UserID, ClientID: c.ID, TenantID: d.TenantID, Confined: d.Confined, Strong: d.Strong,
		Scope: d.Scope, Environment: s.o.Environment, SignInID: d.SignInID, Agent: d.Agent, CreatedAt: now, UsedAt: now,
	}
	access, refresh, err := s.pair(ctx, *c)
	if err != nil {
		return identity.Tokens{}, err
	}
	fresh, err := s.newAccess(hashOf(access))
	if err != nil {
		return identity.Tokens{}, err
	}
	err = s.o.Grants.StartFamily(ctx, family, fresh, s.newRefresh(refresh), s.entry(ctx, family.UserID, family.ID, identity.AuditTokenGrant).In(family.TenantID))
	if err != nil {
		return identity.Tokens{}, err
	}
	return identity.Tokens{
		AccessToken: access, RefreshToken: refresh, Scope: family.Scope, ExpiresAt: fresh.ExpiresAt,
		FamilyID: family.ID, UserID: family.UserID, TenantID: family.TenantID,
	}, nil
}

// pair makes an access token, and a refresh token for a client that can refresh.
func (s *Server) pair(ctx context.Context, c identity.Client) (access, refresh string, err error) {
	if access, _, err = s.core.generate(ctx); err != nil || !c.May(identity.RefreshToken) {
		return access, "", err
	}
	refresh, _, err = s.core.generate(ctx)
	return access, refresh, err
}

// errNotMember is the fault of a user who does not belong to a tenant, or not any more.
func errNotMember() error {
	return fault.New(fault.Denied, "not_a_member", "The user is not a member of the organization.")
}

// errWeak is the fault of a sign-in that a password alone stands behind, in an organization that requires more.
func errWeak() error {
	return fault.New(fault.Denied, "mfa_required", "The organization requires a second factor: sign in anew, for that organization.")
}

// member is nil when the user belongs to the tenant now, else errNotMember, and when the sign-in is as strong as the
// tenant requires, else errWeak.
func (s *Server) member(ctx context.Context, tenant, user string, strong bool) error {
	if !identity.ValidID(tenant) || !identity.ValidID(user) {
		return errNotMember()
	}
	standing, err := s.o.Tenants.MemberStanding(ctx, tenant, user)
	if fault.Is(err, fault.NotFound) || (err == nil && standing.Environment != s.o.Environment) {
		return errNotMember()
	}
	if err == nil && standing.MFARequired && !strong {
		return errWeak()
	}
	return err
}

// SwitchFamily lets the family's next refresh mint for another tenant of its user's. With revoke, the access tokens that
// it has end at once. Done is false when the family is not the user's, or has ended.
func (s *Server) SwitchFamily(ctx context.Context, user, family, tenant string, revoke bool) (done bool, err error) {
	if !identity.ValidID(family) {
		return false, nil
	}
	f, err := s.o.Grants.FindFamily(ctx, user, family)
	if err != nil || f == nil {
		return false, err
	}
	if !f.Admits(tenant) {
		return false, identity.Confined()
	}
	if err := s.member(ctx, tenant, user, f.Strong); err != nil {
		return false, err
	}
	done, err = s.o.Grants.MoveFamily(ctx, user, family, tenant, revoke, s.entry(ctx, user, family, identity.AuditTenantSwitch).In(tenant))
	s.o.Nudge()
	return done, err
}

// Confined reports whether one of the user's sign-ins at a client stays in its tenant; so does one that is not there.
func (s *Server) Confined(ctx context.Context, user, family string) (bool, error) {
	if !identity.ValidID(family) {
		return true, nil
	}
	f, err := s.o.Grants.FindFamily(ctx, user, family)
	return f == nil || f.Confined, err
}

// EndFamily ends one of the user's sign-ins at a client, and its tokens everywhere within a second; with withSignIn also
// the browser's session that it came from. Done is false when there is no such family that goes on.
func (s *Server) EndFamily(ctx context.Context, user, family string, withSignIn bool) (done bool, err error) {
	if !identity.ValidID(family) {
		return false, nil
	}
	f, err := s.o.Grants.FindFamily(ctx, user, family)
	if err != nil || f == nil {
		return false, err
	}
	action := identity.AuditSessionEnd
	if withSignIn {
		action = identity.AuditSignOut
	}
	return s.end(ctx, user, family, withSignIn, s.entry(ctx, user, family, action).In(f.TenantID))
}

// reused ends a family of whose tokens somebody else has a copy.
func (s *Server) reused(ctx context.Context, user, family, tenant string) error {
	_, err := s.end(ctx, user, family, false, s.entry(ctx, user, family, identity.AuditTokenReuse).In(tenant).Failed())
	return err
}

func (s *Server) end(ctx context.Context, user, family string, withSignIn bool, e audit.Entry) (done bool, err error) {
	done, err = s.o.Grants.EndFamily(ctx, user, family, withSignIn, s.instant(), e)
	s.o.Nudge()
	return done, err
}

// FamiliesOf lists the user's sign-ins at clients, the last used first.
func (s *Server) FamiliesOf(ctx context.Context, user string) ([]identity.Session, error) {
	families, err := s.o.Grants.FamiliesOf(ctx, user, s.instant())
	if err != nil {
		return nil, err
	}
	list := make([]identity.Session, 0, len(families))
	for _, f := range families {
		if c := s.o.Clients.Configured(f.ClientID); c != nil {
			f.ClientName = c.Name
			if f.SignInID == nil { // a launch, whose agent is the application
				f.ClientName, f.Agent = f.Agent, ""
			}
		}
		list = append(list, identity.Session{
			ID: f.ID, Application: f.ClientName, Agent: f.Agent, TenantID: f.TenantID, CreatedAt: f.CreatedAt, SeenAt: f.UsedAt,
		})
	}
	return list, nil
}

// successor is the pair that took a refresh token's place, sealed beside it.
type successor struct {
	Access   string    `json:"a"`
	Refresh  string    `json:"r"`
	Scope    []string  `json:"s"`
	Expires  time.Time `json:"x"`
	TenantID string    `json:"t"`
}

func successorPurpose(hash []byte) string { return fmt.Sprintf("refresh_token/%x", hash) }

func (s *Server) sealSuccessor(hash []byte, next successor) ([]byte, error) {
	plain, err := json.Marshal(next)
	if err != nil {
		return nil, fmt.Errorf("write successor: %w", err)
	}
	return s.o.Sealer.Seal(plain, successorPurpose(hash))
}

func (s *Server) openSuccessor(t identity.IssuedRefresh) (identity.Tokens, error) {
	plain, err := s.o.Sealer.Open(t.SuccessorSealed, successorPurpose(t.Hash))
	if err != nil {
		return identity.Tokens{}, err
	}
	var next successor
	if err := json.Unmarshal(plain, &next); err != nil {
		return identity.Tokens{}, fmt.Errorf("read successor: %w", err)
	}
	return identity.Tokens{
		AccessToken: next.Access, RefreshToken: next.Refresh, Scope: next.Scope, ExpiresAt: next.Expires,
		FamilyID: t.Family.ID, UserID: t.Family.UserID, TenantID: next.TenantID,
	}, nil
}
