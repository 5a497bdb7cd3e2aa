package page

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// invitationPage is the data of the page that a mailed invitation leads to.
type invitationPage struct {
	identity.Offer

	Form           form
	ID, Identifier string
	SignIn         string // where to sign in and come back
	Invalid        bool
	Known          bool // somebody has an account with the address: they sign in
}

// invitation spends nothing: mail scanners follow links.
func (s *Server) invitation(ctx context.Context, v *visit) (reply, error) {
	p := invitationOf(v.request.PathValue("id"), v.request.PathValue("identifier"))
	return s.offer(ctx, p, false)
}

// offer shows the invitation, if it holds.
func (s *Server) offer(ctx context.Context, p invitationPage, again bool) (reply, error) {
	var err error
	if p.Offer, err = s.o.People.Offered(ctx, p.ID, p.Identifier); fault.Is(err, fault.Invalid) {
		return noOffer(), nil
	} else if err != nil {
		return reply{}, err
	}
	r := show("invitation", "Join "+p.Organization, p)
	if again {
		r = wrong(r)
	}
	return r, nil
}

func noOffer() reply {
	return wrong(show("invitation", "This invitation can’t be used", invitationPage{Invalid: true}))
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
		return s.offer(ctx, p, true)
	case fault.Is(err, fault.NotFound), fault.Is(err, fault.Invalid) && len(fault.Of(err).Fields) == 0:
		return noOffer(), nil
	}
	if err := p.Form.refuse(err); err != nil {
		return reply{}, err
	}
	return s.offer(ctx, p, true)
}
