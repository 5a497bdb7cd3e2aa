package identity

import (
	"context"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Myself is a user as they see themselves.
type Myself struct {
	User

	Active      *Membership // in the tenant that the credential is for; nil when the user is no member there
	Memberships []Membership
}

// person gives whoever stands behind the caller's credential.
func (p *People) person(ctx context.Context) (principal.Principal, error) {
	by, err := principal.Require(ctx, 0)
	if err != nil {
		return by, err
	}
	if by.UserID == "" {
		return by, fault.New(fault.Denied, "no_user", "No person stands behind the credential.")
	}
	return by, nil
}

// signedIn gives a caller whose credential is a person's access token.
func (p *People) signedIn(ctx context.Context) (principal.Principal, error) {
	by, err := p.person(ctx)
	if err == nil && by.Kind != principal.Session {
		err = fault.New(fault.Denied, "no_session", "Only somebody who is signed in can do this.")
	}
	return by, err
}

// Myself gives the person behind the caller's credential; behind an API key that is who made it.
func (p *People) Myself(ctx context.Context) (Myself, error) {
	by, err := p.person(ctx)
	if err != nil {
		return Myself{}, err
	}
	u, err := p.Users.FindUser(ctx, by.UserID)
	if err != nil {
		return Myself{}, err
	}
	if u == nil {
		return Myself{}, fault.New(fault.Denied, "no_user", "No person stands behind the credential.")
	}
	all, err := p.Organizations.Memberships(ctx, u.ID)
	if err != nil {
		return Myself{}, err
	}
	if by.Kind == principal.Session {
		confined, err := p.Families.Confined(ctx, by.UserID, by.CredentialID)
		if err != nil {
			return Myself{}, err
		}
		if confined { // nobody there may know of the user's other organizations
			all = slices.DeleteFunc(all, func(m Membership) bool { return m.TenantID != by.TenantID })
		}
	}
	me := Myself{User: *u, Memberships: all}
	if at := slices.IndexFunc(all, func(m Membership) bool { return m.TenantID == by.TenantID }); at >= 0 {
		me.Active = &all[at]
	}
	return me, nil
}

// SwitchTenant lets the tokens that the caller's session is given from now on be another tenant's. With revoke the ones
// that it has end at once; without, they live on for their own tenant.
func (p *People) SwitchTenant(ctx context.Context, tenantID string, revoke bool) (Membership, error) {
	by, err := p.signedIn(ctx)
	if err != nil {
		return Membership{}, err
	}
	m, err := p.membership(ctx, by.UserID, tenantID)
	if err != nil {
		return Membership{}, err
	}
	done, err := p.Families.SwitchFamily(ctx, by.UserID, by.CredentialID, tenantID, revoke)
	if err == nil && !done {
		err = fault.New(fault.Denied, "no_session", "The session has ended, or is not one that goes on.")
	}
	p.Nudge()
	return m, err
}

// ExchangeDraft is a switch of tenants with new tokens in the answer. Nil members were not given.
type ExchangeDraft struct {
	TenantID     *string
	UserID       *string
	RefreshToken *string
	Revoke       bool
}

// ExchangeTenant gives the caller tokens for another tenant in place of a refresh token.
func (p *People) ExchangeTenant(ctx context.Context, d ExchangeDraft, further func(...fault.Field) error) (Exchanged, error) {
	by, err := p.signedIn(ctx)
	if err != nil {
		return Exchanged{}, err
	}
	var faults []fault.Field
	faults, _ = required(faults, "tenantId", d.TenantID)
	faults, _ = required(faults, "userId", d.UserID)
	faults, _ = required(faults, "refreshToken", d.RefreshToken)
	if err := further(faults...); err != nil {
		return Exchanged{}, err
	}
	if *d.UserID != by.UserID {
		return Exchanged{}, fault.New(fault.Denied, "another_user", "One can switch for oneself alone.")
	}
	if _, err := p.membership(ctx, by.UserID, *d.TenantID); err != nil {
		return Exchanged{}, err
	}
	x, err := p.Families.Exchange(ctx, Exchange{
		UserID: by.UserID, ClientID: by.ClientID, TenantID: *d.TenantID, RefreshToken: *d.RefreshToken, Revoke: d.Revoke,
	})
	p.Nudge()
	return x, err
}

// Logout ends the caller's session: the access token, what could refresh it, and the browser's session that it came from.
func (p *People) Logout(ctx context.Context) error {
	by, err := p.signedIn(ctx)
	if err != nil {
		return err
	}
	_, err = p.Families.EndFamily(ctx, by.UserID, by.CredentialID, true)
	p.Nudge()
	return err
}
