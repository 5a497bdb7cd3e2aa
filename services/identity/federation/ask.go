package federation

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const (
	longestSubject = 255 // OpenID Connect Core §2
	longestEmail   = 254
	longestCode    = 4096
	// An ID token is as fresh as the exchange that gave it. Clocks may differ by so much.
	skew = 5 * time.Minute
)

// person is somebody as a provider knows them.
type person struct {
	subject string
	claims  addressClaims
	more    func(context.Context) (addressClaims, error) // asks for claims that the ID token left out
}

type addressClaims struct {
	Email    string  `json:"email"`
	Verified lenient `json:"email_verified"`
}

// lenient is a boolean that some providers write as a text.
type lenient bool

// UnmarshalJSON is json.Unmarshaler's.
func (l *lenient) UnmarshalJSON(raw []byte) error {
	*l = string(raw) == "true" || string(raw) == `"true"`
	return nil
}

// ask redeems the code at the provider that the state was made for, whatever else the answer says, and checks who it
// vouches for.
func (s *Service) ask(ctx context.Context, p identity.IdentityProvider, j journey, query url.Values) (person, error) {
	k, err := s.providers.get(ctx, p.Issuer)
	if err != nil {
		return person{}, away(err)
	}
	if err := named(p.Issuer, k.namesIss, query); err != nil {
		return person{}, err
	}
	if query.Has("error") {
		return person{}, refused(query.Get("error"))
	}
	code, ok := only(query, "code")
	if !ok || len(code) > longestCode {
		return person{}, errDistrust(errors.New("no code"))
	}
	clientSecret, err := s.Sealer.Open(p.SecretSealed, purpose(p))
	if err != nil {
		return person{}, err
	}
	ctx = oidc.ClientContext(ctx, s.client)
	client := s.oauth(p, k, string(clientSecret))
	token, err := client.Exchange(ctx, code, oauth2.VerifierOption(j.Verifier))
	if err != nil {
		return person{}, redeemed(err)
	}
	return s.verify(ctx, p, k, j.Nonce, token)
}

// named checks who an answer says it is from (RFC 9207 §2.4): one that names another provider, or does not name itself
// though it said it would, was mixed up by somebody.
func named(issuer string, promised bool, query url.Values) error {
	if !query.Has("iss") && !promised {
		return nil
	}
	if iss, ok := only(query, "iss"); !ok || iss != issuer {
		return errDistrust(errors.New("the answer is of another issuer"))
	}
	return nil
}

// verify believes what OpenID Connect Core §3.1.3.7 lets a client believe.
func (s *Service) verify(ctx context.Context, p identity.IdentityProvider, k *known, nonce string, token *oauth2.Token) (person, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return person{}, errDistrust(errors.New("no ID token"))
	}
	keys := &watched{keys: k.keys}
	verifier := oidc.NewVerifier(p.Issuer, keys, &oidc.Config{ClientID: p.ClientID, SupportedSigningAlgs: algorithms(), Now: s.Now})
	id, err := verifier.Verify(ctx, raw)
	switch {
	case keys.away != nil:
		return person{}, away(keys.away)
	case err != nil:
		return person{}, errDistrust(errors.New("the ID token does not hold"))
	}
	var claims struct {
		addressClaims
		Party string `json:"azp"`
	}
	if id.Claims(&claims) != nil {
		return person{}, errDistrust(errors.New("the ID token's claims cannot be read"))
	}
	now := s.Now()
	switch {
	case id.Nonce != nonce:
		return person{}, errDistrust(errors.New("another nonce"))
	case claims.Party != p.ClientID && (claims.Party != "" || len(id.Audience) > 1):
		return person{}, errDistrust(errors.New("another authorized party"))
	case id.IssuedAt.After(now.Add(skew)) || id.IssuedAt.Before(now.Add(-skew)):
		return person{}, errDistrust(errors.New("not issued now"))
	case id.Subject == "" || len(id.Subject) > longestSubject:
		return person{}, errDistrust(errors.New("no subject"))
	case id.AccessTokenHash != "" && id.VerifyAccessToken(token.AccessToken) != nil:
		return person{}, errDistrust(errors.New("another access token"))
	}
	return person{subject: id.Subject, claims: claims.addressClaims, more: func(ctx context.Context) (addressClaims, error) {
		return s.userInfo(ctx, k, id.Subject, token)
	}}, nil
}

// userInfo asks for the claims of scope email where a provider keeps them (OpenID Connect Core §5.4).
func (s *Service) userInfo(ctx context.Context, k *known, subject string, token *oauth2.Token) (addressClaims, error) {
	var claims addressClaims
	if !k.userInfo {
		return claims, nil
	}
	info, err := k.provider.UserInfo(oidc.ClientContext(ctx, s.client), oauth2.StaticTokenSource(token))
	if err != nil {
		return claims, away(errors.New("no answer of the user info endpoint"))
	}
	if info.Subject != subject || info.Claims(&claims) != nil {
		return claims, errDistrust(errors.New("user info of somebody else"))
	}
	return claims, nil
}

// address gives the person's e-mail address, if the provider says that it is verified.
func (w person) address(ctx context.Context) (string, error) {
	claims := w.claims
	if claims.Email == "" {
		var err error
		if claims, err = w.more(ctx); err != nil {
			return "", err
		}
	}
	if claims.Email == "" || len(claims.Email) > longestEmail || !bool(claims.Verified) {
		return "", fault.New(fault.Denied, "email_unverified", "Your organization's sign-in service has not verified your e-mail address. Ask your administrator.")
	}
	return claims.Email, nil
}

// refused reads an error of RFC 6749 §4.1.2.1. Its description is the provider's text and is shown to nobody.
func refused(code string) error {
	if slices.Contains([]string{"temporarily_unavailable", "server_error"}, code) {
		return away(errors.New("the provider answered " + code))
	}
	return fault.New(fault.Denied, "provider_refused", "Your organization's sign-in service did not let you in.")
}

// redeemed says why a code got no token. What the provider wrote stays with it.
func redeemed(err error) error {
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok && answer.Response != nil {
		status := answer.Response.StatusCode
		cause := errors.New("the token endpoint answered " + strconv.Itoa(status))
		if status >= 500 || status == 429 {
			return away(cause)
		}
		return errDistrust(cause)
	}
	if errors.Is(err, context.Canceled) {
		return err
	}
	return away(errors.New("the token endpoint did not answer"))
}

// errDistrust is the one answer to every proof that does not hold.
func errDistrust(cause error) error {
	return fault.Because(cause, fault.Denied, "provider_distrusted", "Your organization's sign-in service sent an answer that does not hold. Please begin again.")
}
