package identity

import (
	"cmp"
	"context"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

// Browser gives who a browser is signed in as; nil, nil when nobody is.
func (p *People) Browser(ctx context.Context, cookie string) (*SignIn, *User, error) {
	if cookie == "" {
		return nil, nil, nil
	}
	return p.SignIns.FindSignIn(ctx, cookieHash(cookie), p.Settings.Environment, p.Settings.SignInIdle, p.now())
}

// SignOut ends the browser's session.
func (p *People) SignOut(ctx context.Context, s SignIn) error {
	_, err := p.SignIns.EndSignIn(ctx, s.UserID, s.ID, s.within(p.entry(ctx, s.UserID, s.ID, AuditSignOut)))
	return err
}

// Memberships gives the tenants that a user belongs to. Of somebody who has just registered there may be none yet.
func (p *People) Memberships(ctx context.Context, userID string) ([]Membership, error) {
	return p.Organizations.Memberships(ctx, userID)
}

// membership gives the user's place in a tenant, or a fault of kind Denied.
func (p *People) membership(ctx context.Context, userID, tenantID string) (Membership, error) {
	all, err := p.Organizations.Memberships(ctx, userID)
	if err != nil {
		return Membership{}, err
	}
	at := slices.IndexFunc(all, func(m Membership) bool { return m.TenantID == tenantID })
	if at < 0 {
		return Membership{}, fault.New(fault.Denied, "not_a_member", "You are not a member of this organization.")
	}
	return all[at], nil
}

// ChooseTenant notes the organization that the user goes on in.
func (p *People) ChooseTenant(ctx context.Context, s SignIn, tenantID string) error {
	if !s.Admits(tenantID) {
		return Confined()
	}
	if _, err := p.membership(ctx, s.UserID, tenantID); err != nil {
		return err
	}
	return p.SignIns.ChooseTenant(ctx, s.UserID, s.ID, tenantID)
}

// Sessions gives the places where the user is signed in, the last used first.
func (p *People) Sessions(ctx context.Context, s SignIn) ([]Session, error) {
	browsers, err := p.SignIns.SignInsOf(ctx, s.UserID, p.Settings.SignInIdle, p.now())
	if err != nil {
		return nil, err
	}
	list, err := p.Families.FamiliesOf(ctx, s.UserID)
	if err != nil {
		return nil, err
	}
	for _, b := range browsers {
		session := Session{ID: b.ID, Agent: b.Agent, CreatedAt: b.CreatedAt, SeenAt: b.SeenAt, Current: b.ID == s.ID}
		if b.TenantID != nil {
			session.TenantID = *b.TenantID
		}
		list = append(list, session)
	}
	slices.SortStableFunc(list, func(a, b Session) int { return cmp.Compare(b.SeenAt.UnixMilli(), a.SeenAt.UnixMilli()) })
	return list, nil
}

// EndSession ends one of the user's sessions, here or at an application.
func (p *People) EndSession(ctx context.Context, s SignIn, id string) error {
	none := fault.New(fault.NotFound, "session_not_found", "There is no such session.")
	if !ValidID(id) {
		return none
	}
	if s.Federated() && id != s.ID {
		return Confined()
	}
	done, err := p.SignIns.EndSignIn(ctx, s.UserID, id, s.within(p.entry(ctx, s.UserID, s.ID, AuditSessionEnd)))
	if err != nil || done {
		return err
	}
	if done, err = p.Families.EndFamily(ctx, s.UserID, id, false); err == nil && !done {
		err = none
	}
	return err
}

// EndAllSessions ends the user's sessions everywhere, this one too: all or none.
func (p *People) EndAllSessions(ctx context.Context, s SignIn) error {
	if s.Federated() {
		return Confined()
	}
	if err := p.SignIns.EndEverything(ctx, s.UserID, p.now(), p.entry(ctx, s.UserID, s.ID, AuditSignOutAll)); err != nil {
		return err
	}
	p.Nudge()
	return nil
}

// UpdateProfile writes a user's name.
func (p *People) UpdateProfile(ctx context.Context, userID, firstName, lastName string) error {
	faults, _ := clean(nil, "firstName", &firstName, body.NameLength)
	if faults, _ = clean(faults, "lastName", &lastName, body.NameLength); len(faults) > 0 {
		return fault.InvalidFields(faults)
	}
	done, err := p.Users.UpdateName(ctx, userID, firstName, lastName)
	if err == nil && !done {
		err = fault.New(fault.NotFound, "user_not_found", "There is no such user.")
	}
	return err
}
