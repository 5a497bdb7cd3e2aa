package page

import (
	"context"
	"net/http"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// choosePage is the data of the page that asks for which organization somebody works.
type choosePage struct {
	Form        form
	Memberships []identity.Membership
	Chosen      string
	Continue    string
}

func (s *Server) chooseForm(ctx context.Context, v *visit) (reply, error) {
	return s.chooseReply(ctx, v, form{})
}

func (s *Server) chooseReply(ctx context.Context, v *visit, f form) (reply, error) {
	memberships, err := s.o.People.Memberships(ctx, v.user.ID)
	if err != nil {
		return reply{}, err
	}
	p := choosePage{Form: f, Memberships: memberships, Continue: v.onward()}
	if v.signIn.TenantID != nil {
		p.Chosen = *v.signIn.TenantID
	}
	asked, err := s.askedBy(ctx, p.Continue)
	if err != nil {
		return reply{}, err
	}
	r := show("choose-organization", "Choose an organization", p)
	r.formTo = formTarget(asked)
	return r, nil
}

func (s *Server) choose(ctx context.Context, v *visit) (reply, error) {
	f := form{}
	id := v.form.Get("tenantId")
	if id == "" {
		f.fault("tenantId", "has to be chosen")
	} else if err := s.o.People.ChooseTenant(ctx, *v.signIn, id); err == nil {
		return goTo(v.onward()), nil
	} else if !fault.Is(err, fault.Denied) && !fault.Is(err, fault.Invalid) && !fault.Is(err, fault.NotFound) {
		return reply{}, err
	} else {
		f.Notice = "You are not a member of that organization."
	}
	r, err := s.chooseReply(ctx, v, f)
	r.status = http.StatusBadRequest
	return r, err
}

// here is the organization that somebody works in on the account pages: the chosen one, else the first.
func here(in identity.SignIn, memberships []identity.Membership) *identity.Membership {
	if place, _ := placeOf(memberships, "", in.TenantID); place != nil && in.Admits(place.TenantID) {
		return place
	}
	if len(memberships) > 0 && in.Admits(memberships[0].TenantID) {
		return &memberships[0]
	}
	return nil
}

// as is the context in which the visitor asks the verbs of their organization.
func (s *Server) as(ctx context.Context, v *visit, m identity.Membership) context.Context {
	return principal.With(ctx, principal.Principal{
		Kind: principal.Session, UserID: v.user.ID, TenantID: m.TenantID, CredentialID: v.signIn.ID, Permissions: m.Permissions,
		Plan: m.Plan, Environment: m.Environment, AgreementAccepted: m.AgreementAccepted, ExpiresAt: v.signIn.ExpiresAt,
	})
}

// inside finds the visitor's organization and the context to act in it. Nobody acts where a second factor is required by
// a password alone.
func (s *Server) inside(ctx context.Context, v *visit) (context.Context, *identity.Membership, error) {
	memberships, err := s.o.People.Memberships(ctx, v.user.ID)
	if err != nil {
		return nil, nil, err
	}
	m := here(*v.signIn, memberships)
	if m == nil {
		return nil, nil, fault.New(fault.Denied, "no_organization", "You belong to no organization yet.")
	}
	if m.MFARequired && !v.signIn.Strong() {
		return nil, nil, fault.New(fault.Denied, "mfa_required", m.Name+" requires a second factor. Confirm it’s you first.")
	}
	return s.as(ctx, v, *m), m, nil
}

// stepUp lets somebody prove more than their password, where their organization requires it.
func (s *Server) stepUp(ctx context.Context, v *visit) (reply, error) {
	return s.prove(ctx, v, v.onward())
}
