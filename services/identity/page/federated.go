package page

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
)

// Federation signs people in at their organization's own provider.
type Federation interface {
	// Provider gives a tenant's provider; nil when it has none.
	Provider(ctx context.Context, tenantID string) (*identity.IdentityProvider, error)
	Begin(ctx context.Context, tenantID, continuePath, browser string) (address string, err error)
	Finish(ctx context.Context, c identity.Caller, browser, tenantID string, query url.Values) (federation.Finished, error)
	Waiting(ctx context.Context, browser, token string) (federation.LinkNeeded, error)
	Link(ctx context.Context, signIn identity.SignIn, browser, token string) (continuePath string, err error)
}

// The cookies of a federated sign-in: what binds it to the browser, and what a link waits under. They are apart from the
// sign-in's, which changes on the way.
const (
	federationCookie = "federation"
	linkCookie       = "federation-link"

	federatedPath = "/sign-in/federated"
	linkPath      = federatedPath + "/link"
)

// federatedPage is the data of the page that asks for the organization, or leads to its provider.
type federatedPage struct {
	Form     form
	Continue string
	Provider string
	Address  string
}

// elsewhere is where somebody signs in whose organization has its own provider; "" when that is here.
func (s *Server) elsewhere(ctx context.Context, v *visit) (string, error) {
	if v.query("again") != "" || v.query("own") != "" {
		return "", nil
	}
	tenant, onward := v.query("tenantId"), v.onward()
	if tenant == "" {
		asked, err := s.askedBy(ctx, onward)
		if err != nil || asked == nil {
			return "", err
		}
		tenant = asked.TenantID
	}
	if tenant == "" {
		return "", nil
	}
	p, err := s.o.Federation.Provider(ctx, tenant)
	if err != nil || p == nil {
		return "", err
	}
	return withContinue(federatedPath, onward, "tenantId", tenant), nil
}

// federated leads to the organization's provider. Who filled in the form gets a link to follow: browsers hold redirects
// after a form to the page's policy, which cannot name a provider that is not known yet.
func (s *Server) federated(ctx context.Context, v *visit) (reply, error) {
	tenant, onward := strings.TrimSpace(v.query("tenantId")), v.onward()
	p := federatedPage{Form: form{Values: map[string]string{"tenantId": tenant}}, Continue: onward}
	if tenant == "" {
		return show("federated", "Sign in with your organization", p), nil
	}
	found, err := s.o.Federation.Provider(ctx, tenant)
	if err != nil {
		return reply{}, err
	}
	if found == nil {
		p.Form.Notice = "There is no organization with this identifier that signs its members in elsewhere."
		r := show("federated", "Sign in with your organization", p)
		r.status = http.StatusNotFound
		return r, nil
	}
	if v.query("ask") != "" {
		p.Provider, p.Address = found.Name, withContinue(federatedPath, onward, "tenantId", tenant)
		return show("federated", "Sign in with your organization", p), nil
	}
	browser := s.cookie(v.request, federationCookie)
	if browser == "" {
		if browser, err = secret.Random(s.o.Random); err != nil {
			return reply{}, err
		}
		v.cookies = append(v.cookies, s.newCookie(federationCookie, browser))
	}
	to, err := s.o.Federation.Begin(ctx, tenant, onward, browser)
	if err != nil {
		return reply{}, err
	}
	return goTo(to), nil
}

// federatedBack is where a provider sends a browser back to.
func (s *Server) federatedBack(ctx context.Context, v *visit) (reply, error) {
	browser := s.cookie(v.request, federationCookie)
	f, err := s.o.Federation.Finish(ctx, v.caller, browser, v.request.PathValue("tenantId"), v.request.URL.Query())
	switch {
	case fault.Is(err, fault.Denied), fault.Is(err, fault.Invalid), fault.Is(err, fault.Unauthenticated):
		return s.notLetIn(ctx, v, err), nil
	case err != nil:
		return reply{}, err
	case f.Link != nil:
		v.cookies = append(v.cookies, s.newCookie(linkCookie, f.Link.Token))
		r := show("federated-link", "One more step", federatedLink{LinkNeeded: *f.Link, SignIn: proveAgain()})
		return r, nil
	}
	s.enter(v, f.Entered)
	return goTo(local(f.Continue)), nil
}

func (s *Server) notLetIn(ctx context.Context, v *visit, err error) reply {
	r := s.failed(ctx, v, err)
	if t, ok := r.data.(trouble); ok {
		t.Heading, t.Again = "We couldn’t sign you in", "/sign-in?own=1"
		r.data, r.title = t, t.Heading
	}
	return r
}

// proveAgain is the sign-in page for who has to prove the account, even when they are signed in.
func proveAgain() string { return withContinue("/sign-in", linkPath, "again", "1") }

// federatedLink is the data of the page that connects a provider's word with an account.
type federatedLink struct {
	federation.LinkNeeded

	SignIn string // where to prove the account first; "" when that was done
}

func (s *Server) linkForm(ctx context.Context, v *visit) (reply, error) {
	needed, err := s.o.Federation.Waiting(ctx, s.cookie(v.request, federationCookie), s.cookie(v.request, linkCookie))
	if fault.Is(err, fault.Invalid) {
		return s.notLetIn(ctx, v, err), nil
	}
	if err != nil {
		return reply{}, err
	}
	asked, err := s.askedBy(ctx, local(needed.Continue))
	if err != nil {
		return reply{}, err
	}
	r := show("federated-link", "Connect your organization’s sign-in", federatedLink{LinkNeeded: needed})
	r.formTo = formTarget(asked)
	return r, nil
}

// link connects. What the account was proved with may be too old, or too little: then that comes first.
func (s *Server) link(ctx context.Context, v *visit) (reply, error) {
	onward, err := s.o.Federation.Link(ctx, *v.signIn, s.cookie(v.request, federationCookie), s.cookie(v.request, linkCookie))
	switch {
	case err == nil:
		v.cookies = append(v.cookies, s.gone(linkCookie))
		return goTo(local(onward)), nil
	case fault.Is(err, fault.Denied) && fault.Of(err).Code == "proof_required":
		return goTo(proveAgain()), nil
	case fault.Is(err, fault.Denied) && fault.Of(err).Code == "mfa_required":
		c, err := s.o.People.StepUp(ctx, *v.signIn, v.caller)
		if err != nil {
			return reply{}, err
		}
		return goTo(withContinue("/sign-in/second-factor", linkPath, "challenge", c.ID)), nil
	case fault.Is(err, fault.Denied), fault.Is(err, fault.Invalid):
		return s.notLetIn(ctx, v, err), nil
	}
	return reply{}, err
}

// accountOnly reports the pages that change the account itself, on which all its organizations rely. What one of them
// says of somebody is not enough for these.
func accountOnly(path string) bool {
	rest, ok := strings.CutPrefix(path, accountPath+"/")
	return ok && rest != "organization" && rest != "step-up" && rest != "launch" && !strings.HasPrefix(rest, "key")
}
