package page

import (
	"context"
	"net/http"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// signInPage is the data of the sign-in page.
type signInPage struct {
	Form      form
	Continue  string
	Client    string // the application that somebody signs in for
	TenantID  string // the organization whose own provider may know them
	Federated string
	SignUp    string
	Closed    bool
}

// signInForm is also where somebody comes who is signed in, but has to prove it anew.
func (s *Server) signInForm(ctx context.Context, v *visit) (reply, error) {
	if v.signIn != nil && v.query("again") == "" {
		return goTo(v.onward()), nil
	}
	if to, err := s.elsewhere(ctx, v); err != nil || to != "" {
		return goTo(to), err
	}
	f := form{Values: map[string]string{}}
	if v.user != nil {
		f.Values["email"] = v.user.Email
	}
	return s.signInReply(ctx, v, f)
}

func (s *Server) signInReply(ctx context.Context, v *visit, f form) (reply, error) {
	onward := v.onward()
	p := signInPage{Form: f, Continue: onward}
	asked, err := s.askedBy(ctx, onward)
	if err != nil {
		return reply{}, err
	}
	if asked != nil {
		p.Client, p.TenantID = asked.Client.Name, asked.TenantID
		if f.Values["email"] == "" && asked.LoginHint != "" && len(asked.LoginHint) <= longestHint {
			f.Values["email"] = asked.LoginHint
		}
	}
	p.Federated = withContinue("/sign-in/federated", onward, "tenantId", p.TenantID)
	r := show("sign-in", "Sign in", p)
	r.formTo = formTarget(asked)
	return r, nil
}

const longestHint = 254

func (s *Server) signInWith(ctx context.Context, v *visit) (reply, error) {
	f := typed(v, "email")
	password := v.form.Get("password")
	if f.Values["email"] == "" {
		f.fault("email", "is required")
	}
	if password == "" {
		f.fault("password", "is required")
	}
	if !f.Wrong() {
		entered, err := s.o.People.SignIn(ctx, v.caller, f.Values["email"], password)
		if err == nil {
			return s.entered(v, entered)
		}
		switch {
		case fault.Is(err, fault.Unauthenticated), fault.Is(err, fault.Invalid):
			f.Notice = "The e-mail address and the password don’t go together."
		case fault.Is(err, fault.Denied): // who knows the password may know what is missing
			f.Notice = fault.Of(err).Detail
		case fault.Is(err, fault.RateLimited):
			r, again := s.signInReply(ctx, v, slowDown(f))
			r.status, r.header = http.StatusTooManyRequests, later(fault.Of(err))
			return r, again
		default:
			return reply{}, err
		}
	}
	r, err := s.signInReply(ctx, v, f)
	r.status = http.StatusBadRequest
	return r, err
}

func slowDown(f form) form {
	f.Notice = "There were too many tries. Please wait a moment before the next one."
	return f
}

// entered goes on after somebody proved who they are: inside, or to the second factor.
func (s *Server) entered(v *visit, e identity.Entered) (reply, error) {
	s.remember(v, identity.Entered{Device: e.Device})
	if e.Challenge != nil {
		return goTo(withContinue("/sign-in/second-factor", v.onward(), "challenge", e.Challenge.ID)), nil
	}
	s.enter(v, identity.Entered{Cookie: e.Cookie})
	return goTo(v.onward()), nil
}

// factorPage is the data of the second factor's page.
type factorPage struct {
	Form                         form
	Challenge, Continue          string
	App, Mail, Recovery, Passkey bool
	Code                         bool // the form asks for a code of the app's or a mailed one
	WithRecovery                 bool // the form asks for a recovery code
	Other                        string
}

func (s *Server) secondFactorForm(ctx context.Context, v *visit) (reply, error) {
	return s.factorReply(ctx, v, v.query("challenge"), v.query("with") == identity.AnswerRecovery, form{})
}

func (s *Server) factorReply(ctx context.Context, v *visit, id string, recovery bool, f form) (reply, error) {
	c, err := s.o.People.Challenge(ctx, id)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) {
		r := show("error", "This sign-in has expired", trouble{
			Heading: "This sign-in has expired", Again: withContinue("/sign-in", v.onward()),
			Text: "It took too long, or there were too many tries. Please sign in again.",
		})
		r.status = http.StatusBadRequest
		return r, nil
	}
	if err != nil {
		return reply{}, err
	}
	p := factorPage{Form: f, Challenge: id, Continue: v.onward()}
	for _, method := range c.Methods {
		switch method {
		case identity.AnswerTOTP:
			p.App = true
		case identity.AnswerMail:
			p.Mail = true
		case identity.AnswerRecovery:
			p.Recovery = true
		case identity.AnswerPasskey:
			p.Passkey = true
		}
	}
	p.Code = p.App || p.Mail
	p.WithRecovery = p.Recovery && (recovery || !p.Code)
	p.Other = withContinue("/sign-in/second-factor", p.Continue, "challenge", id)
	if !p.WithRecovery {
		p.Other += "&with=" + identity.AnswerRecovery
	}
	asked, err := s.askedBy(ctx, p.Continue)
	if err != nil {
		return reply{}, err
	}
	r := show("second-factor", "Confirm it’s you", p)
	r.formTo = formTarget(asked)
	return r, nil
}

func (s *Server) secondFactor(ctx context.Context, v *visit) (reply, error) {
	id, code := v.form.Get("challenge"), strings.TrimSpace(v.form.Get("code"))
	recovery := v.form.Get("with") == identity.AnswerRecovery
	f := form{}
	if code == "" {
		f.fault("code", "is required")
	} else {
		entered, err := s.o.People.AnswerChallenge(ctx, v.caller, id, code)
		switch {
		case err == nil:
			return s.entered(v, entered)
		case fault.Is(err, fault.RateLimited):
			r, again := s.factorReply(ctx, v, id, recovery, slowDown(f))
			if r.page == "second-factor" {
				r.status, r.header = http.StatusTooManyRequests, later(fault.Of(err))
			}
			return r, again
		case fault.Is(err, fault.Unauthenticated), fault.Is(err, fault.Invalid), fault.Is(err, fault.NotFound):
			f.fault("code", "is not right, or is used up")
		default:
			return reply{}, err
		}
	}
	r, err := s.factorReply(ctx, v, id, recovery, f)
	r.status = http.StatusBadRequest
	return r, err
}

// sendCode mails a code. It says the same whatever comes of it.
func (s *Server) sendCode(ctx context.Context, v *visit) (reply, error) {
	id := v.form.Get("challenge")
	if err := s.o.People.SendCode(ctx, id); err != nil {
		return reply{}, err
	}
	return goTo(withContinue("/sign-in/second-factor", v.onward(), "challenge", id, "done", "sent")), nil
}

func (s *Server) signOutForm(_ context.Context, v *visit) (reply, error) {
	if v.signIn == nil {
		return goTo("/sign-in"), nil
	}
	return show("sign-out", "Sign out", nil), nil
}

func (s *Server) signOut(ctx context.Context, v *visit) (reply, error) {
	if v.signIn != nil {
		if err := s.o.People.SignOut(ctx, *v.signIn); err != nil {
			return reply{}, err
		}
	}
	return s.signedOut(v), nil
}

func (s *Server) signedOut(v *visit) reply {
	v.cookies = append(v.cookies, s.gone(signInCookie))
	return goTo("/sign-in?done=signed-out")
}
