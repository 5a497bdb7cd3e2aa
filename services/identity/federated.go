package identity

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// SignInFederated begins a session for a member whom their organization's own provider has proved, in that organization
// alone (SignIn.Admits). The browser gets no proof of having been here before: only who knew the password has earned it.
func (p *People) SignInFederated(ctx context.Context, c Caller, userID, tenantID string) (Entered, error) {
	u, err := p.Users.FindUser(ctx, userID)
	if err != nil {
		return Entered{}, err
	}
	if u == nil || u.Environment != p.Settings.Environment || u.EmailVerifiedAt == nil {
		return Entered{}, wrongCredentials()
	}
	id, err := p.newID()
	if err != nil {
		return Entered{}, err
	}
	cookie, hash, err := p.newCookie()
	if err != nil {
		return Entered{}, err
	}
	now := p.now()
	s := SignIn{
		ID: id, UserID: u.ID, TenantID: &tenantID, Methods: []string{ByFederated}, Agent: clip(c.Agent),
		CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(p.Settings.SignInFor),
	}
	done, err := p.SignIns.KeepSignIn(ctx, s, hash, u.PasswordHash, s.within(p.entry(ctx, u.ID, s.ID, auditSignInSuccess)))
	if err != nil {
		return Entered{}, err
	}
	if !done {
		return Entered{}, wrongCredentials()
	}
	return Entered{SignIn: s, Cookie: cookie}, nil
}

// Unconfined is nil for a session that the user's own account may be changed by, else Confined.
func (p *People) Unconfined(ctx context.Context, by principal.Principal) error {
	confined, err := p.Families.Confined(ctx, by.UserID, by.CredentialID)
	if err == nil && confined {
		return Confined()
	}
	return err
}

// Confined is the fault of a federated sign-in that is used for more than its organization.
func Confined() *fault.Error {
	return fault.New(fault.Denied, "confined", "You signed in through your organization, which holds for that organization alone. Sign in with your own password for this.")
}
