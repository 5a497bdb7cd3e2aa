package oauth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// introspection is what is said about a token (RFC 7662 §2.2).
type introspection struct {
	Active    bool   `json:"active"`
	Scope     string `json:"scope,omitempty"`
	ClientID  string `json:"client_id,omitempty"`
	TokenType string `json:"token_type,omitempty"`
	ExpiresAt int64  `json:"exp,omitempty"`
	IssuedAt  int64  `json:"iat,omitempty"`
	Subject   string `json:"sub,omitempty"`
	Issuer    string `json:"iss,omitempty"`
	TenantID  string `json:"tenantId,omitempty"`
}

// signedType is the media type of an answer that is signed (RFC 9701).
const signedType = "application/token-introspection+jwt"

// Introspect is the introspection endpoint. A client learns about tokens that were issued to it and no others: fosite
// would tell any client about any token.
func (s *Server) Introspect(ctx context.Context, in Request) Response {
	form, authorization, err := read(in)
	if err != nil {
		return s.refuse(ctx, err, len(in.Authorization) > 0)
	}
	if form.Get("token") == "" {
		return s.refuse(ctx, fosite.ErrInvalidRequest, false)
	}
	x := &exchange{purpose: toIntrospect, form: form}
	ctx = x.in(ctx)
	asking, err := s.authenticate(ctx, provide(ctx, form, authorization), form)
	if err == nil && asking.IsPublic() {
		err = fosite.ErrInvalidClient // RFC 7662 §2.1: who asks has to prove who it is
	}
	if err != nil {
		return s.refuse(ctx, err, authorization != "")
	}
	about, err := s.about(ctx, form.Get("token"), fosite.TokenType(form.Get("token_type_hint")), asking.GetID())
	if err != nil {
		return s.refuse(ctx, err, false)
	}
	if !strings.Contains(in.Accept, signedType) {
		return answer(http.StatusOK, about)
	}
	signed, err := s.signIntrospection(ctx, asking.GetID(), about)
	if err != nil {
		return s.refuse(ctx, unavailable(err), false)
	}
	return Response{Status: http.StatusOK, Body: signed, Header: map[string]string{
		"Content-Type": signedType, "Cache-Control": "no-store", "Pragma": "no-cache",
	}}
}

// about tells a client about a token. Whatever is not its own, or of no use, is the same to it.
func (s *Server) about(ctx context.Context, token string, hint fosite.TokenType, asking string) (introspection, error) {
	if !s.Genuine(token) {
		return introspection{}, nil
	}
	_, found, err := s.provider.IntrospectToken(ctx, token, hint, &session{})
	switch {
	case fault.Is(err, fault.Unavailable), errors.Is(err, fosite.ErrTemporarilyUnavailable):
		return introspection{}, fosite.ErrTemporarilyUnavailable
	case err != nil:
		return introspection{}, nil //nolint:nilerr // a token that is nobody's is an answer
	case found.GetClient().GetID() != asking:
		return introspection{}, nil
	}
	is, ok := found.GetSession().(*session)
	if !ok {
		return introspection{}, nil
	}
	if is.subject != asking {
		if err := s.member(ctx, is.tenant, is.subject, is.strong); fault.Is(err, fault.Denied) {
			return introspection{}, nil
		} else if err != nil {
			return introspection{}, unavailable(err)
		}
	}
	about := introspection{
		Active: true, Scope: strings.Join(found.GetGrantedScopes(), " "), ClientID: asking, TokenType: "Bearer",
		ExpiresAt: is.expires.Unix(), IssuedAt: found.GetRequestedAt().Unix(), Subject: is.subject, Issuer: s.o.Issuer, TenantID: is.tenant,
	}
	if is.refresh {
		about.TokenType = "" // it opens nothing by itself
	}
	return about, nil
}

// signedIntrospection are the claims of a signed answer (RFC 9701 §5).
type signedIntrospection struct {
	Issuer   string        `json:"iss"`
	Audience string        `json:"aud"`
	IssuedAt int64         `json:"iat"`
	About    introspection `json:"token_introspection"`
}

func (s *Server) signIntrospection(ctx context.Context, asking string, about introspection) ([]byte, error) {
	return s.o.Keys.Sign(ctx, "token-introspection+jwt", signedIntrospection{
		Issuer: s.o.Issuer, Audience: asking, IssuedAt: s.o.Now().Unix(), About: about,
	})
}
