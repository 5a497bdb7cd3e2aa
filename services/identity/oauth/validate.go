package oauth

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

const (
	challengeMethod = "S256"
	shortestState   = 8 // fosite's MinParameterEntropy: what is shorter can be guessed
	longestText     = 2000
)

// challengeForm is a SHA-256 in unpadded base64url (RFC 7636 §4.2).
var challengeForm = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// validate judges an authorization request of a client. A code is what to tell the client, at the redirect URI of the
// authorization; an error is for a page.
func (s *Server) validate(ctx context.Context, form url.Values, repeated map[string]bool, c identity.Client) (*Authorization, string, error) {
	asked := form.Get("redirect_uri")
	a := &Authorization{Client: c, asked: asked, RedirectURI: asked, form: form}
	if asked == "" && len(c.RedirectURIs) == 1 {
		a.RedirectURI = c.RedirectURIs[0]
	} else if !slices.ContainsFunc(c.RedirectURIs, func(registered string) bool { return matches(registered, asked) }) {
		return nil, "", notShown("invalid_redirect_uri", "The application asked for an answer at an address that it did not register.")
	}
	if state := form.Get("state"); len(state) <= longestText && utf8.ValidString(state) {
		a.State = state // an answer repeats it, even one that says that it is too short
	}
	if len(repeated) > 0 {
		return a, "invalid_request", nil
	}
	for _, judge := range []func(url.Values) string{a.readProtocol, a.readPerson} {
		if code := judge(form); code != "" {
			return a, code, nil
		}
	}
	scopes, err := s.scopes(ctx, c)
	if err != nil {
		return nil, "", err
	}
	if a.Scopes = strings.Fields(form.Get("scope")); len(a.Scopes) == 0 {
		a.Scopes = scopes
	}
	if !within(a.Scopes, scopes) {
		return a, "invalid_scope", nil
	}
	a.client = &client{Client: c, scopes: scopes, redirect: a.RedirectURI}
	return a, s.secondOpinion(ctx, a), nil
}

// readProtocol reads what the protocol is about.
func (a *Authorization) readProtocol(form url.Values) string {
	mode := form.Get("response_mode")
	a.challenge = form.Get("code_challenge")
	switch {
	case form.Get("request") != "":
		return "request_not_supported"
	case form.Get("response_type") == "":
		return "invalid_request"
	case form.Get("response_type") != "code":
		return "unsupported_response_type"
	case mode != "" && mode != "query":
		return "invalid_request"
	case form.Get("state") != a.State, a.State != "" && len(a.State) < shortestState:
		return "invalid_request"
	case !challengeForm.MatchString(a.challenge), form.Get("code_challenge_method") != challengeMethod:
		return "invalid_request" // RFC 7636 §4.4.1; "plain" is the default, so S256 has to be said
	}
	return ""
}

// readPerson reads what concerns the person who is to sign in.
func (a *Authorization) readPerson(form url.Values) string {
	a.TenantID, a.LoginHint = form.Get("tenantId"), form.Get("login_hint")
	if (a.TenantID != "" && !identity.ValidID(a.TenantID)) || len(a.LoginHint) > longestText || !utf8.ValidString(a.LoginHint) {
		return "invalid_request"
	}
	prompts := strings.Fields(form.Get("prompt"))
	slices.Sort(prompts)
	prompts = slices.Compact(prompts)
	a.Prompt = strings.Join(prompts, " ")
	if !within(prompts, []string{"none", "login", "consent"}) || (len(prompts) > 1 && slices.Contains(prompts, "none")) {
		return "invalid_request"
	}
	if text := form.Get("max_age"); text != "" {
		age, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return "invalid_request"
		}
		seconds := int(age)
		a.MaxAge = &seconds
	}
	return ""
}

// secondOpinion lets fosite judge what we find right.
func (s *Server) secondOpinion(ctx context.Context, a *Authorization) string {
	x := &exchange{form: a.form, client: a.client}
	ctx = x.in(ctx)
	if _, err := s.provider.NewAuthorizeRequest(ctx, provideQuery(ctx, a.form)); err != nil {
		return fosite.ErrorToRFC6749Error(err).ErrorField
	}
	return ""
}
