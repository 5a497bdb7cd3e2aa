package page

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

// afterField stands in an authorization request that waits for somebody to sign in anew: the time that the new sign-in
// must not be older than. It is ours and not the client's; whoever makes one up gets what leaving prompt away gets.
const afterField = "signed_in_after"

// authorize decides who signs in, at which organization, how strongly, and whether they have to be asked; then it asks or
// goes on.
func (s *Server) authorize(ctx context.Context, v *visit) (reply, error) {
	parameters := v.request.URL.Query()
	a, answer, err := s.begin(ctx, parameters)
	if a == nil {
		return answer, err
	}
	place, several, answer, err := s.ready(ctx, v, a, parameters)
	if place == nil {
		return answer, err
	}
	return s.consent(ctx, v, a, *place, several, parameters)
}

// begin reads the request; without an authorization, the answer stands for it.
func (s *Server) begin(ctx context.Context, parameters url.Values) (*oauth.Authorization, reply, error) {
	a, refused, err := s.o.OAuth.BeginAuthorize(ctx, parameters)
	switch {
	case fault.Is(err, fault.Unavailable):
		return nil, reply{}, err
	case err != nil:
		return nil, unusable(err), nil
	case refused != nil:
		return nil, fromOAuth(*refused), nil
	}
	return a, reply{}, nil
}

// unusable is the page of a request that cannot be answered to its client: where it says that it comes from is not known.
func unusable(err error) reply {
	text := "The application sent an address or a name that is not registered here. Go back to it and try again, or ask who runs it."
	if f := fault.Of(err); f.Kind == fault.Invalid && f.Detail != "" {
		text = f.Detail
	}
	r := show("error", "This sign-in link can’t be used", trouble{Status: http.StatusBadRequest, Heading: "This sign-in link can’t be used", Text: text})
	r.status = http.StatusBadRequest
	return r
}

func fromOAuth(r oauth.Response) reply {
	if to := r.Header["Location"]; to != "" {
		return goTo(to)
	}
	out := raw(r.Status, r.Header["Content-Type"], r.Body)
	return out
}

// ready brings the visitor to where only consent is missing, and gives their place in the organization, and whether they
// could choose another. Without a place, the answer is what has to be done first.
func (s *Server) ready(ctx context.Context, v *visit, a *oauth.Authorization, parameters url.Values) (place *identity.Membership, several bool, answer reply, err error) {
	silent := slices.Contains(strings.Fields(a.Prompt), "none")
	needs := func(code string, otherwise func() (reply, error)) (*identity.Membership, bool, reply, error) {
		if silent { // the client wants an answer and no page
			return nil, false, fromOAuth(s.o.OAuth.Deny(ctx, a, code)), nil
		}
		answer, err := otherwise()
		return nil, false, answer, err
	}
	if v.signIn == nil || (a.TenantID != "" && !v.signIn.Admits(a.TenantID)) || stale(*v.signIn, a, parameters.Get(afterField), s.o.Now()) {
		return needs("login_required", func() (reply, error) { return s.signInFor(v, a, parameters), nil })
	}
	memberships, err := s.o.People.Memberships(ctx, v.user.ID)
	if err != nil {
		return nil, false, reply{}, err
	}
	place, several = placeOf(memberships, a.TenantID, v.signIn.TenantID)
	if place != nil && !v.signIn.Admits(place.TenantID) {
		place = nil // the one organization whose provider proved them has them no more
	}
	switch {
	case place == nil && several:
		return needs("interaction_required", func() (reply, error) {
			return goTo(withContinue("/choose-organization", authorizeAddress(parameters))), nil
		})
	case place == nil:
		return needs("access_denied", func() (reply, error) { return s.outsider(a, parameters), nil })
	case place.MFARequired && !v.signIn.Strong():
		return needs("interaction_required", func() (reply, error) { return s.prove(ctx, v, authorizeAddress(parameters)) })
	}
	return place, several, reply{}, nil
}

// signInFor leads to the sign-in page and back to the request.
func (s *Server) signInFor(v *visit, a *oauth.Authorization, parameters url.Values) reply {
	again := ""
	if v.signIn != nil {
		parameters = with(parameters, afterField, strconv.FormatInt(s.o.Now().Unix(), 10))
		again = "1"
	}
	return goTo(withContinue("/sign-in", authorizeAddress(parameters), "again", again, "tenantId", a.TenantID))
}

// prove asks somebody who is signed in for a second factor.
func (s *Server) prove(ctx context.Context, v *visit, onward string) (reply, error) {
	c, err := s.o.People.StepUp(ctx, *v.signIn, v.caller)
	if err != nil {
		return reply{}, err
	}
	return goTo(withContinue("/sign-in/second-factor", onward, "challenge", c.ID)), nil
}

// stale reports a sign-in that is older than the client takes (OpenID Connect Core §3.1.2.1 for the parameters' meaning).
func stale(in identity.SignIn, a *oauth.Authorization, after string, now time.Time) bool {
	prompts := strings.Fields(a.Prompt)
	anew := slices.Contains(prompts, "login") || slices.Contains(prompts, "select_account")
	if a.MaxAge != nil && now.Sub(in.CreatedAt) > time.Duration(*a.MaxAge)*time.Second {
		anew = true
	}
	if !anew {
		return false
	}
	seconds, err := strconv.ParseInt(after, 10, 64)
	return err != nil || in.CreatedAt.Before(time.Unix(seconds, 0))
}

// placeOf finds the organization to stand in: the one that the client asks for, the one chosen before, or the only one.
// Several reports that there are some to choose from.
func placeOf(memberships []identity.Membership, asked string, chosen *string) (place *identity.Membership, several bool) {
	find := func(id string) *identity.Membership {
		i := slices.IndexFunc(memberships, func(m identity.Membership) bool { return m.TenantID == id })
		if i < 0 {
			return nil
		}
		return &memberships[i]
	}
	switch {
	case asked != "":
		return find(asked), false
	case len(memberships) == 1:
		return &memberships[0], false
	case chosen != nil:
		return find(*chosen), len(memberships) > 1
	}
	return nil, len(memberships) > 1
}

// consentPage is the data of the consent page.
type consentPage struct {
	Client, Host, Organization, OrganizationID, Email string
	Local                                             bool // the application runs on this device
	Scopes                                            []string
	Hidden                                            []pair
	Change                                            string // where to choose another organization; "" when there is one
	Outsider                                          bool
}

type pair struct{ Name, Value string }

// consent goes on at once for what was allowed before, and asks otherwise.
func (s *Server) consent(ctx context.Context, v *visit, a *oauth.Authorization, place identity.Membership, several bool, parameters url.Values) (reply, error) {
	prompts := strings.Fields(a.Prompt)
	allowed, err := s.o.Consents.Consented(ctx, v.user.ID, a.Client.ID)
	if err != nil {
		return reply{}, err
	}
	remembered := len(allowed) > 0 && !slices.ContainsFunc(a.Scopes, func(scope string) bool { return !slices.Contains(allowed, scope) })
	switch {
	case remembered && !slices.Contains(prompts, "consent"):
		return s.grant(ctx, v, a, place)
	case slices.Contains(prompts, "none"):
		return fromOAuth(s.o.OAuth.Deny(ctx, a, "consent_required")), nil
	}
	p := consentPage{
		Client: a.Client.Name, Organization: place.Name, OrganizationID: place.TenantID, Email: v.user.Email, Scopes: a.Scopes,
		Hidden: hidden(parameters),
	}
	if several {
		p.Change = withContinue("/choose-organization", authorizeAddress(parameters))
	}
	p.Host, p.Local = destination(a.RedirectURI)
	r := show("consent", "Allow access", p)
	r.formTo = formTarget(a)
	return r, nil
}

// outsider is the page of somebody who is no member where the client wants them to be.
func (s *Server) outsider(a *oauth.Authorization, parameters url.Values) reply {
	p := consentPage{Client: a.Client.Name, Outsider: true, Hidden: hidden(parameters)}
	p.Host, p.Local = destination(a.RedirectURI)
	r := show("consent", "You are not a member", p)
	r.status, r.formTo = http.StatusForbidden, formTarget(a)
	return r
}

// decide is the consent page's form. The request is read and judged anew: nothing that the form says of it is trusted.
func (s *Server) decide(ctx context.Context, v *visit) (reply, error) {
	parameters := url.Values{}
	for name, values := range v.form {
		if name != tokenField && name != "decision" && name != "organization" {
			parameters[name] = values
		}
	}
	if v.asksToAuthorize() {
		return goTo(authorizeAddress(parameters)), nil
	}
	a, answer, err := s.begin(ctx, parameters)
	if a == nil {
		return answer, err
	}
	if v.form.Get("decision") != "allow" {
		return fromOAuth(s.o.OAuth.Deny(ctx, a, "access_denied")), nil
	}
	place, _, answer, err := s.ready(ctx, v, a, parameters)
	if place == nil {
		return answer, err
	}
	if place.TenantID != v.form.Get("organization") { // chosen anew in another window: what was shown is not what would be
		return goTo(authorizeAddress(parameters)), nil
	}
	if err := s.o.Consents.Consent(ctx, v.user.ID, a.Client.ID, a.Scopes); err != nil {
		return reply{}, err
	}
	return s.grant(ctx, v, a, *place)
}

func (s *Server) grant(ctx context.Context, v *visit, a *oauth.Authorization, place identity.Membership) (reply, error) {
	r, err := s.o.OAuth.Grant(ctx, a, oauth.Decision{
		UserID: v.user.ID, TenantID: place.TenantID, Confined: v.signIn.Federated(), Strong: v.signIn.Strong(), SignInID: v.signIn.ID,
		Agent: v.signIn.Agent, Scopes: a.Scopes,
	})
	if err != nil {
		return reply{}, err
	}
	return fromOAuth(r), nil
}

// askedBy is the authorization request that somebody signs in for; nil when there is none that holds.
func (s *Server) askedBy(ctx context.Context, onward string) (*oauth.Authorization, error) {
	query, ok := strings.CutPrefix(onward, authorizePath+"?")
	if !ok {
		return nil, nil //nolint:nilnil // nothing is asked
	}
	parameters, err := url.ParseQuery(query)
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // the page itself will tell
	}
	a, _, err := s.o.OAuth.BeginAuthorize(ctx, parameters)
	if fault.Is(err, fault.Unavailable) {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // the page itself will tell
	}
	return a, nil
}

// formTarget is where a form may end up beyond ourselves: at the client that asks. Browsers hold the redirects that follow
// a form to the page's form-action. What CSP cannot spell, an IPv6 address, is allowed by its scheme.
func formTarget(a *oauth.Authorization) string {
	if a == nil {
		return ""
	}
	u, err := url.Parse(a.RedirectURI)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || strings.ContainsAny(u.Host, ";, '\"\\") {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); ip != nil && u.Hostname() != "127.0.0.1" {
		return u.Scheme + ":"
	}
	return u.Scheme + "://" + u.Host
}

// destination says to whom a redirect leads.
func destination(redirect string) (host string, local bool) {
	u, err := url.Parse(redirect)
	if err != nil {
		return "", false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Host, ip != nil && ip.IsLoopback()
}

// authorizeAddress is the request as an address of ours.
func authorizeAddress(parameters url.Values) string { return authorizePath + "?" + parameters.Encode() }

func with(parameters url.Values, name, value string) url.Values {
	out := url.Values{}
	for n, values := range parameters {
		out[n] = values
	}
	out.Set(name, value)
	return out
}

// hidden are the request's parameters as a form carries them, in an order that does not change.
func hidden(parameters url.Values) []pair {
	var out []pair
	names := make([]string, 0, len(parameters))
	for name := range parameters {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range parameters[name] {
			out = append(out, pair{name, value})
		}
	}
	return out
}
