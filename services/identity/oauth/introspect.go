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
	asking, err := s.authenticate(ctx, provide(ctx, form, authorization), form)
	if err != nil {
		return s.refuse(ctx, err, authorization != "")
	}
	token := form.Get("token")
	if !s.Genuine(token) {
		return answer(http.StatusOK, introspection{})
	}
	_, found, err := s.provider.IntrospectToken(ctx, token, fosite.AccessToken, &session{})
	switch {
	case fault.Is(err, fault.Unavailable), errors.Is(err, fosite.ErrTemporarilyUnavailable):
		return s.refuse(ctx, fosite.ErrTemporarilyUnavailable, false)
	case err != nil || found.GetClient().GetID() != asking.GetID():
		return answer(http.StatusOK, introspection{})
	}
	owner, ok := found.GetClient().(*client)
	if !ok {
		return answer(http.StatusOK, introspection{})
	}
	return answer(http.StatusOK, introspection{
		Active: true, Scope: strings.Join(found.GetGrantedScopes(), " "), ClientID: owner.ID, TokenType: "Bearer",
		ExpiresAt: found.GetSession().GetExpiresAt(fosite.AccessToken).Unix(), IssuedAt: found.GetRequestedAt().Unix(),
		Subject: owner.ID, Issuer: s.o.Issuer, TenantID: owner.TenantID,
	})
}
