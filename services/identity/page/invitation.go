package page

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// invitationPage is the data of the page that a mailed invitation leads to.
type invitationPage struct {
	Form           form
	ID, Identifier string
	SignIn         string // where to sign in and come back
	Invalid        bool
	Known          bool // somebody has an account with the address: they sign in
}

// invitation spends nothing: mail scanners follow links.
func (s *Server) invitation(_ context.Context, v *visit) (reply, error) {
	return show("invitation", "Join an organization", invitationOf(v.request.PathValue("id"), v.request.PathValue("identifier"))), nil
}

func invitationOf(id, identifier string) invitationPage {
	return invitationPage{ID: id, Identifier: identifier, SignIn: withContinue("/sign-in", local("/invitation/"+id+"/"+identifier))}
}

// acceptInvitation makes a member of who is signed in, or of a newcomer, who tells their name and chooses a password.
func (s *Server) acceptInvitation(ctx context.Context, v *visit) (reply, error) {
	p := invitationOf(v.form.Get("id"), v.form.Get("identifier"))
	p.Form = typed(v, "firstName", "lastName")
	draft := identity.RegisterDraft{}
	if v.signIn == nil {
		password := v.form.Get("password")
		draft.FirstName, draft.LastName, draft.Password = v.given("firstName"), v.given("lastName"), &password
	}
	err := s.o.People.AcceptInvitation(ctx, v.signIn, p.ID, p.Identifier, draft, collect)
	switch {
	case err == nil && v.signIn != nil:
		return goTo(accountPath + "?done=joined"), nil
	case err == nil:
		return goTo("/sign-in?done=joined"), nil
	case fault.Is(err, fault.Conflict) && v.signIn == nil:
		p.Known = true
		return wrong(show("invitation", "Join an organization", p)), nil
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Invalid) && len(fault.Of(err).Fields) == 0:
		return wrong(show("invitation", "This invitation can’t be used", invitationPage{Invalid: true})), nil
	}
	if err := p.Form.refuse(err); err != nil {
		return reply{}, err
	}
	return wrong(show("invitation", "Join an organization", p)), nil
}
