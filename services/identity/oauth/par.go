package oauth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const pushedPrefix = "urn:ietf:params:oauth:request_uri:"

var errPushedGone = errors.New("the pushed request is spent, or has expired")

// pushedAnswer is RFC 9126 §2.2.
type pushedAnswer struct {
	RequestURI string `json:"request_uri"`
	ExpiresIn  int64  `json:"expires_in"`
}

// requested are the parameters of an authorization request, as opposed to those by which its client authenticates.
//
//nolint:gochecknoglobals // a constant list
var requested = [...]string{
	"client_id", "response_type", "response_mode", "redirect_uri", "scope", "state", "code_challenge", "code_challenge_method",
	"tenantId", "prompt", "max_age", "login_hint", "request",
}

// Push is the pushed authorization request endpoint (RFC 9126).
func (s *Server) Push(ctx context.Context, in Request) Response {
	form, authorization, err := read(in)
	if err != nil {
		return s.refuse(ctx, err, len(in.Authorization) > 0)
	}
	x := &exchange{form: form}
	ctx = x.in(ctx)
	if _, err := s.authenticate(ctx, provide(ctx, form, authorization), form); err != nil {
		return s.refuse(ctx, err, authorization != "")
	}
	asking := x.client.Client
	switch {
	case form.Get("request_uri") != "":
		return s.refuse(ctx, fosite.ErrInvalidRequest, false)
	case !asking.May(identity.AuthorizationCode):
		return s.refuse(ctx, fosite.ErrUnauthorizedClient, false)
	}
	kept := url.Values{}
	for _, name := range requested {
		if value := form.Get(name); value != "" {
			kept.Set(name, value)
		}
	}
	kept.Set("client_id", asking.ID)
	_, code, err := s.validate(ctx, kept, nil, asking)
	switch {
	case fault.Is(err, fault.Invalid):
		return s.refuseAs(ctx, "invalid_request")
	case err != nil:
		return s.refuse(ctx, unavailable(err), false)
	case code != "":
		return s.refuseAs(ctx, code)
	}
	random, _, err := s.core.generate(ctx)
	if err != nil {
		return s.refuse(ctx, err, false)
	}
	now := s.instant()
	err = s.o.Pushed.Push(ctx, identity.PushedRequest{
		Hash: hashOf(random), ClientID: asking.ID, Parameters: kept.Encode(), ExpiresAt: now.Add(identity.PushedLifetime),
	}, now)
	if err != nil {
		return s.refuse(ctx, unavailable(err), false)
	}
	return answer(http.StatusCreated, pushedAnswer{
		RequestURI: pushedPrefix + random, ExpiresIn: int64(identity.PushedLifetime.Seconds()),
	})
}

// beginPushed gives the parameters of a pushed request, and the hash that Grant spends it by.
func (s *Server) beginPushed(ctx context.Context, uri, clientID string) (url.Values, []byte, error) {
	gone := notShown("invalid_request_uri", "The application's request has expired, or was used before. Start again from the application.")
	random, ok := strings.CutPrefix(uri, pushedPrefix)
	if !ok || !s.Genuine(random) {
		return nil, nil, gone
	}
	hash, now := hashOf(random), s.instant()
	found, err := s.o.Pushed.BeginPushed(ctx, hash, now, now.Add(identity.BegunLifetime))
	if err != nil {
		return nil, nil, err
	}
	if found == nil || found.ClientID != clientID {
		return nil, nil, gone
	}
	form, err := url.ParseQuery(found.Parameters)
	return form, hash, err
}
