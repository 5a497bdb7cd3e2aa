package page

import (
	"context"
	"net/http"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func (s *Server) home(_ context.Context, v *visit) (reply, error) {
	if v.signIn != nil {
		return goTo(accountPath), nil
	}
	return goTo("/sign-in"), nil
}

// signUpPage is the data of the sign-up page.
type signUpPage struct {
	Form   form
	Closed bool // in production, people come by invitation
}

func (s *Server) signUpForm(context.Context, *visit) (reply, error) {
	return show("sign-up", "Create your account", signUpPage{Closed: s.o.Environment == config.Production}), nil
}

func (s *Server) signUp(ctx context.Context, v *visit) (reply, error) {
	f := typed(v, "firstName", "lastName", "organizationName", "email")
	password := v.form.Get("password")
	_, err := s.o.People.Register(ctx, identity.RegisterDraft{
		Email: v.given("email"), Password: &password, FirstName: v.given("firstName"), LastName: v.given("lastName"),
		OrganizationName: v.given("organizationName"),
	}, collect)
	switch {
	case err == nil:
		return s.checkMail(v, f.Values["email"], "Check your inbox",
			"We sent you a message with a link. Open it within 24 hours to finish creating your account."), nil
	case fault.Is(err, fault.Denied):
		return show("sign-up", "Create your account", signUpPage{Closed: true}), nil
	}
	if err := f.refuse(err); err != nil {
		return reply{}, err
	}
	return wrong(show("sign-up", "Create your account", signUpPage{Form: f})), nil
}

// wrong is a page whose form was refused.
func wrong(r reply) reply {
	r.status = http.StatusBadRequest
	return r
}

// mailPage is the data of the page that sends people to their inbox.
type mailPage struct{ Email, Text string }

// checkMail shows the page in the answer to the form: an address has no place in a URL. Sending the form again does no
// harm, as an address is registered once.
func (s *Server) checkMail(_ *visit, email, title, text string) reply {
	return show("check-mail", title, mailPage{Email: email, Text: text})
}

// linkPage is the data of a page that a mailed link leads to.
type linkPage struct {
	Form               form
	UserID, Identifier string
	Invalid            bool
}

// verifyEmailForm spends nothing: mail scanners follow links.
func (s *Server) verifyEmailForm(_ context.Context, v *visit) (reply, error) {
	return show("verify-email", "Confirm your address", linkOf(v)), nil
}

func linkOf(v *visit) linkPage {
	return linkPage{UserID: v.request.PathValue("userId"), Identifier: v.request.PathValue("identifier")}
}

func (s *Server) verifyEmail(ctx context.Context, v *visit) (reply, error) {
	err := s.o.People.VerifyEmail(ctx, v.form.Get("userId"), v.form.Get("identifier"))
	if fault.Is(err, fault.Invalid) {
		return wrong(show("verify-email", "This link can’t be used", linkPage{Invalid: true})), nil
	}
	if err != nil {
		return reply{}, err
	}
	return goTo("/sign-in?done=verified"), nil
}

// forgotPage is the data of the page that asks whose password is forgotten.
type forgotPage struct{ Form form }

func (s *Server) forgotForm(context.Context, *visit) (reply, error) {
	return show("forgot-password", "Reset your password", forgotPage{}), nil
}

// forgot answers alike whether or not somebody has the address.
func (s *Server) forgot(ctx context.Context, v *visit) (reply, error) {
	f := typed(v, "email")
	if f.Values["email"] == "" {
		f.fault("email", "is required")
		return wrong(show("forgot-password", "Reset your password", forgotPage{f})), nil
	}
	err := s.o.People.RequestReset(ctx, f.Values["email"])
	if err != nil {
		if err := f.refuse(err); err != nil {
			return reply{}, err
		}
		return wrong(show("forgot-password", "Reset your password", forgotPage{f})), nil
	}
	return s.checkMail(v, f.Values["email"], "Check your inbox",
		"If an account has this address, a message with a link is on its way. Open it within an hour to choose a new password."), nil
}

func (s *Server) resetForm(_ context.Context, v *visit) (reply, error) {
	return show("reset-password", "Choose a new password", linkOf(v)), nil
}

func (s *Server) reset(ctx context.Context, v *visit) (reply, error) {
	link := linkPage{UserID: v.form.Get("userId"), Identifier: v.form.Get("identifier")}
	err := s.o.People.ResetPassword(ctx, link.UserID, link.Identifier, v.form.Get("password"), collect)
	if err == nil {
		// Whoever reads the user's mail may try passwords here, however many strangers guessed wrong elsewhere.
		device, err := s.o.People.NewDevice(link.UserID)
		if err != nil {
			return reply{}, err
		}
		s.remember(v, identity.Entered{Device: device})
		if v.signIn != nil { // every session of the user has ended, this one too if it was theirs
			v.cookies = append(v.cookies, s.gone(signInCookie))
		}
		return goTo("/sign-in?done=reset"), nil
	}
	if fault.Is(err, fault.Invalid) && len(fault.Of(err).Fields) == 0 {
		link.Invalid = true
		return wrong(show("reset-password", "This link can’t be used", link)), nil
	}
	if err := link.Form.refuse(err); err != nil {
		return reply{}, err
	}
	renameField(&link.Form, "newPassword", "password")
	return wrong(show("reset-password", "Choose a new password", link)), nil
}

// renameField lets a verb's name for a field be the page's.
func renameField(f *form, from, to string) {
	for i := range f.Faults {
		if f.Faults[i].Field == from {
			f.Faults[i].Field = to
		}
	}
}
