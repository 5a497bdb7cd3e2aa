package oauth

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// Authorization is an authorization request that holds: what a client asks a person for.
type Authorization struct {
	Client      identity.Client
	Scopes      []string
	TenantID    string // the organization that the client asks for; "" when it leaves the choice
	LoginHint   string
	Prompt      string // "", none, login, consent, or login and consent
	MaxAge      *int   // seconds since the person proved who they are
	RedirectURI string
	State       string

	asked     string // redirect_uri as it came; "" when it did not
	challenge string
	pushed    []byte // the hash of the pushed request that it came by
	form      url.Values
	client    *client
}

// Decision is what a person who is signed in decided.
type Decision struct {
	UserID   string
	TenantID string
	Confined bool // the sign-in holds for that tenant alone
	Strong   bool // more than a password stands behind the sign-in
	SignInID string
	Agent    string
	Scopes   []string
}

// BeginAuthorize reads an authorization request, its query or its form. Of three answers one is not nil: the request; a
// redirect that tells the client what is wrong; or a fault for a page, when the client or the redirect URI is what does
// not hold, and nobody may be sent anywhere.
func (s *Server) BeginAuthorize(ctx context.Context, parameters url.Values) (*Authorization, *Response, error) {
	form, repeated := single(parameters)
	if repeated["client_id"] || repeated["redirect_uri"] || repeated["request_uri"] {
		return nil, nil, notShown("invalid_request", "The request says the same thing twice.")
	}
	var pushed []byte
	if uri := form.Get("request_uri"); uri != "" {
		stored, hash, err := s.beginPushed(ctx, uri, form.Get("client_id"))
		if err != nil {
			return nil, nil, err
		}
		// What was pushed is all that counts (RFC 9126 §4).
		form, pushed, repeated = stored, hash, nil
	}
	found, err := s.o.Clients.FindClient(ctx, form.Get("client_id"))
	if err != nil {
		return nil, nil, err
	}
	if found == nil || !found.May(identity.AuthorizationCode) {
		return nil, nil, notShown("invalid_client", "The application is not known here.")
	}
	a, code, err := s.validate(ctx, form, repeated, *found)
	switch {
	case err != nil:
		return nil, nil, err
	case code != "":
		return nil, s.back(a.RedirectURI, a.State, code), nil
	}
	a.pushed = pushed
	return a, nil, nil
}

// notShown is the fault of a request whose sender cannot be told by a redirect.
func notShown(code, detail string) error { return fault.New(fault.Invalid, code, detail) }

// Grant gives the client a code for what the person decided, and sends the browser back. The error is an outage: the
// person may try again.
func (s *Server) Grant(ctx context.Context, a *Authorization, d Decision) (Response, error) {
	if !within(d.Scopes, a.Scopes) || len(d.Scopes) == 0 {
		return s.Deny(ctx, a, "access_denied"), nil
	}
	if a.TenantID != "" && a.TenantID != d.TenantID {
		return s.Deny(ctx, a, "access_denied"), nil
	}
	if err := s.member(ctx, d.TenantID, d.UserID, d.Strong); fault.Is(err, fault.Denied) {
		return s.Deny(ctx, a, "access_denied"), nil
	} else if err != nil {
		return Response{}, err
	}
	x := &exchange{form: a.form, client: a.client, authorization: a, decision: d}
	ctx = x.in(ctx)
	requester, err := s.provider.NewAuthorizeRequest(ctx, provideQuery(ctx, a.form))
	if err != nil {
		return Response{}, err
	}
	for _, scope := range d.Scopes {
		requester.GrantScope(scope)
	}
	response, err := s.provider.NewAuthorizeResponse(ctx, requester, &session{})
	switch {
	case errors.Is(x.decided, errPushedGone):
		return *s.back(a.RedirectURI, a.State, "invalid_request"), nil
	case fault.Is(x.decided, fault.Unauthenticated):
		return *s.back(a.RedirectURI, a.State, "login_required"), nil
	case err != nil:
		return Response{}, unavailable(err)
	}
	return s.redirect(a.RedirectURI, a.State, url.Values{"code": {response.GetParameters().Get("code")}}), nil
}

// Deny sends the browser back with an error: access_denied, login_required, consent_required, interaction_required or
// server_error.
func (s *Server) Deny(_ context.Context, a *Authorization, code string) Response {
	return *s.back(a.RedirectURI, a.State, code)
}

// Consented gives the scopes that the person has granted the client before.
func (s *Server) Consented(ctx context.Context, user, client string) ([]string, error) {
	return s.o.Consents.Consented(ctx, user, client)
}

// Consent remembers that the person grants the client scopes.
func (s *Server) Consent(ctx context.Context, user, client string, scopes []string) error {
	return s.o.Consents.Consent(ctx, user, client, scopes, s.instant(), s.entry(ctx, user, "", identity.AuditConsent))
}

// provideQuery makes what fosite takes for an authorization request. It wants a state, which RFC 6749 only recommends;
// it is given one where there is none, and the answer is not made of it.
func provideQuery(ctx context.Context, form url.Values) *http.Request {
	if form.Get("state") == "" {
		form = maps.Clone(form)
		form.Set("state", "there is none")
	}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{RawQuery: form.Encode()}, Header: http.Header{}, Form: form}
	return r.WithContext(ctx)
}

// single takes an empty parameter for absent, and finds those that are said twice (RFC 6749 §3.1).
func single(parameters url.Values) (form url.Values, repeated map[string]bool) {
	form, repeated = url.Values{}, map[string]bool{}
	for name, values := range parameters {
		switch {
		case len(values) > 1:
			repeated[name] = true
		case len(values) == 1 && values[0] != "":
			form.Set(name, values[0])
		}
	}
	return form, repeated
}
