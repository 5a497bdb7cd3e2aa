package page

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	listing "github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// What a list on the page shows of what there is at most.
const mostShown = 100

// accountPage is the data of the account page.
type accountPage struct {
	Profile, Password, Key form
	Memberships            []identity.Membership
	Here                   *identity.Membership
	Sessions               []identity.Session
	Factors                identity.Factors
	Applications           []shownApplication
	ManagesKeys            bool
	StepUp                 bool // the organization requires a second factor that this sign-in lacks
	Roles                  []identity.Role
	Keys                   []shownKey
	MoreKeys               int64
	Once                   string // makes the form for a key do so once
	Agreement              bool   // somebody has to accept it, and this one may
	Waiting                bool   // somebody has to accept it, and this one may not
}

// shownKey is an API key as the page shows it.
type shownKey struct {
	identity.APIKey

	Roles []string
}

func (s *Server) account(ctx context.Context, v *visit) (reply, error) {
	return s.accountReply(ctx, v, accountPage{})
}

// accountReply fills the page in round the forms that it is given.
func (s *Server) accountReply(ctx context.Context, v *visit, p accountPage) (reply, error) {
	if p.Profile.Values == nil {
		p.Profile.Values = map[string]string{"firstName": v.user.FirstName, "lastName": v.user.LastName}
	}
	p.Profile.ID, p.Password.ID, p.Key.ID = "profile", "password", "key"
	var err error
	if p.Memberships, err = s.o.People.Memberships(ctx, v.user.ID); err != nil {
		return reply{}, err
	}
	if p.Sessions, err = s.o.People.Sessions(ctx, *v.signIn); err != nil {
		return reply{}, err
	}
	slices.SortStableFunc(p.Sessions, func(a, b identity.Session) int { // this browser first
		switch {
		case a.Current == b.Current:
			return 0
		case a.Current:
			return -1
		}
		return 1
	})
	for i := range p.Sessions {
		p.Sessions[i].Agent = agentName(p.Sessions[i])
	}
	if p.Factors, err = s.o.People.Factors(ctx, v.user.ID); err != nil {
		return reply{}, err
	}
	if v.signIn.Federated() {
		p.narrow(*v.signIn)
	}
	if p.Here = here(*v.signIn, p.Memberships); p.Here != nil {
		p.StepUp = p.Here.MFARequired && !v.signIn.Strong()
		owes := s.o.Environment == config.Production && !p.Here.AgreementAccepted
		p.Agreement = owes && p.Here.Permissions.Has(principal.TenantAdmin)
		p.Waiting = owes && !p.Agreement
		if !p.StepUp {
			if err := s.listApplications(s.as(ctx, v, *p.Here), &p); err != nil {
				return reply{}, err
			}
		}
		if p.ManagesKeys = p.Here.Permissions.Has(principal.KeyManage) && !p.StepUp; p.ManagesKeys {
			if err := s.listKeys(s.as(ctx, v, *p.Here), &p); err != nil {
				return reply{}, err
			}
		}
	}
	r := show("account", "Your account", p)
	if p.Profile.Wrong() || p.Password.Wrong() || p.Key.Wrong() {
		r.status = http.StatusBadRequest
	}
	return r, nil
}

// narrow leaves what the organization whose provider proved somebody may know of them: nothing of the others.
func (p *accountPage) narrow(in identity.SignIn) {
	p.Memberships = slices.DeleteFunc(slices.Clone(p.Memberships), func(m identity.Membership) bool { return !in.Admits(m.TenantID) })
	p.Sessions = slices.DeleteFunc(slices.Clone(p.Sessions), func(x identity.Session) bool { return !x.Current })
	p.Factors = identity.Factors{}
}

func (s *Server) listKeys(ctx context.Context, p *accountPage) error {
	found, err := s.o.Keys.ListKeys(ctx, listing.Request{Size: mostShown})
	if err != nil {
		return err
	}
	shown := found.Keys[:min(len(found.Keys), mostShown)]
	p.MoreKeys = found.Total - int64(len(shown))
	for _, k := range shown {
		p.Keys = append(p.Keys, shownKey{APIKey: k, Roles: roleNames(found.Roles, k.RoleIDs)})
	}
	p.Roles = grantable(found.Roles, p.Here.Permissions)
	p.Once, err = s.once()
	return err
}

func roleNames(roles []identity.Role, ids []string) []string {
	var names []string
	for _, r := range roles {
		if slices.Contains(ids, r.ID) {
			names = append(names, r.Name)
		}
	}
	return names
}

// grantable are the roles that stand for no more than what somebody may do.
func grantable(roles []identity.Role, may principal.Permission) []identity.Role {
	var out []identity.Role
	for _, r := range roles {
		if may.Has(r.Permissions) {
			out = append(out, r)
		}
	}
	return out
}

func (s *Server) updateProfile(ctx context.Context, v *visit) (reply, error) {
	f := typed(v, "firstName", "lastName")
	for _, name := range []string{"firstName", "lastName"} {
		if f.Values[name] == "" {
			f.fault(name, "is required")
		}
	}
	if !f.Wrong() {
		err := s.o.People.UpdateProfile(ctx, v.user.ID, f.Values["firstName"], f.Values["lastName"])
		if err == nil {
			return goTo(accountPath + "?done=profile#profile"), nil
		}
		if err := f.refuse(err); err != nil {
			return reply{}, err
		}
	}
	return s.accountReply(ctx, v, accountPage{Profile: f})
}

func (s *Server) changePassword(ctx context.Context, v *visit) (reply, error) {
	f := form{}
	current, next := v.form.Get("currentPassword"), v.form.Get("newPassword")
	if current == "" {
		f.fault("currentPassword", "is required")
	}
	if next == "" {
		f.fault("newPassword", "is required")
	}
	if !f.Wrong() {
		err := s.o.People.ChangePassword(ctx, *v.signIn, v.caller, current, next, collect)
		switch {
		case err == nil:
			return goTo(accountPath + "?done=password#security"), nil
		case fault.Is(err, fault.Unauthenticated):
			f.fault("currentPassword", "is not right")
		case fault.Is(err, fault.RateLimited):
			f = slowDown(f)
		default:
			if err := f.refuse(err); err != nil {
				return reply{}, err
			}
			renameField(&f, "password", "newPassword")
		}
	}
	return s.accountReply(ctx, v, accountPage{Password: f})
}

func (s *Server) switchOrganization(ctx context.Context, v *visit) (reply, error) {
	if err := s.o.People.ChooseTenant(ctx, *v.signIn, v.form.Get("tenantId")); err != nil {
		return reply{}, err
	}
	return goTo(accountPath + "?done=organization"), nil
}

func (s *Server) endSession(ctx context.Context, v *visit) (reply, error) {
	err := s.o.People.EndSession(ctx, *v.signIn, v.form.Get("id"))
	if err != nil && !fault.Is(err, fault.NotFound) { // one that is gone already is what was wanted
		return reply{}, err
	}
	return goTo(accountPath + "?done=session#sessions"), nil
}

func (s *Server) endAllSessions(ctx context.Context, v *visit) (reply, error) {
	if err := s.o.People.EndAllSessions(ctx, *v.signIn); err != nil {
		return reply{}, err
	}
	return s.signedOut(v), nil
}

// sudoFor is how long after signing in somebody may change what they prove themselves by.
const sudoFor = 30 * time.Minute

// proven sends somebody whose sign-in is old to sign in anew: whoever finds an open browser cannot put in a factor of
// their own, or take one away.
func (s *Server) proven(v *visit) (reply, bool) {
	if s.o.Now().Sub(v.signIn.CreatedAt) < sudoFor {
		return reply{}, true
	}
	if v.body != nil {
		return problem(fault.New(fault.Denied, "sign_in_again", "You signed in a while ago. Sign in again first.")), false
	}
	return goTo("/sign-in?again=1"), false
}
