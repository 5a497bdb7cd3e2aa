package oauth

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// storage is our stores in fosite's eyes. What fosite calls a token's signature is its name (strategy.go), and the id
// of a request that was read back is its token's name too, since that is what a revocation needs.
type storage struct{ o Options }

var (
	_ fosite.Storage                = storage{}
	_ oauth2.CoreStorage            = storage{}
	_ oauth2.TokenRevocationStorage = storage{}
)

// CreateAccessTokenSession keeps a token that was just issued.
func (s storage) CreateAccessTokenSession(ctx context.Context, signature string, r fosite.Requester) error {
	asking, ok := r.GetClient().(*client)
	if !ok {
		return errForeign
	}
	hash, err := hex.DecodeString(signature)
	if err != nil {
		return fmt.Errorf("token name: %w", err)
	}
	id, err := s.o.NewID()
	if err != nil {
		return err
	}
	now := s.o.Now().UTC()
	return unavailable(s.o.Tokens.KeepToken(ctx, identity.AccessToken{
		Hash: hash, ID: id.String(), TenantID: asking.TenantID, ClientID: asking.ID, Scope: r.GetGrantedScopes(),
		Environment: s.o.Environment, IssuedAt: now, ExpiresAt: now.Add(identity.AccessTokenLifetime).Truncate(time.Millisecond),
	}))
}

var errForeign = errors.New("a client that is not ours")

// GetAccessTokenSession reads a token back.
func (s storage) GetAccessTokenSession(ctx context.Context, signature string, _ fosite.Session) (fosite.Requester, error) {
	hash, err := hex.DecodeString(signature)
	if err != nil {
		return nil, fosite.ErrNotFound
	}
	token, owner, err := s.o.Tokens.FindToken(ctx, hash)
	if err != nil {
		return nil, unavailable(err)
	}
	if token == nil || !token.Live(s.o.Environment, s.o.Now()) {
		return nil, fosite.ErrNotFound
	}
	return &fosite.Request{
		ID: signature, RequestedAt: token.IssuedAt, Client: &client{Client: *owner},
		RequestedScope: token.Scope, GrantedScope: token.Scope, Session: &session{expires: token.ExpiresAt},
	}, nil
}

// RevokeAccessToken ends the token that a request read back is named after.
func (s storage) RevokeAccessToken(ctx context.Context, requestID string) error {
	hash, err := hex.DecodeString(requestID)
	if err != nil {
		return fosite.ErrNotFound
	}
	token, _, err := s.o.Tokens.FindToken(ctx, hash)
	if err != nil || token == nil {
		return unavailable(err)
	}
	if err := s.o.Tokens.RevokeToken(ctx, token.TenantID, hash); err != nil {
		return unavailable(err)
	}
	s.o.Nudge()
	return nil
}

// DeleteAccessTokenSession is RevokeAccessToken by the token's name.
func (s storage) DeleteAccessTokenSession(ctx context.Context, signature string) error {
	return s.RevokeAccessToken(ctx, signature)
}

// GetClient is never asked: authenticate finds clients, and no handler that is composed looks one up again.
func (s storage) GetClient(context.Context, string) (fosite.Client, error) {
	return nil, fosite.ErrNotFound
}

// What follows belongs to grants that are not composed yet. Reading finds nothing, writing fails.

var errNotComposed = errors.New("this grant is not composed")

func (s storage) ClientAssertionJWTValid(context.Context, string) error { return errNotComposed }

func (s storage) SetClientAssertionJWT(context.Context, string, time.Time) error {
	return errNotComposed
}

func (s storage) CreateAuthorizeCodeSession(context.Context, string, fosite.Requester) error {
	return errNotComposed
}

func (s storage) GetAuthorizeCodeSession(context.Context, string, fosite.Session) (fosite.Requester, error) {
	return nil, fosite.ErrNotFound
}

func (s storage) InvalidateAuthorizeCodeSession(context.Context, string) error { return errNotComposed }

func (s storage) CreateRefreshTokenSession(context.Context, string, string, fosite.Requester) error {
	return errNotComposed
}

func (s storage) GetRefreshTokenSession(context.Context, string, fosite.Session) (fosite.Requester, error) {
	return nil, fosite.ErrNotFound
}

func (s storage) DeleteRefreshTokenSession(context.Context, string) error  { return errNotComposed }
func (s storage) RotateRefreshToken(context.Context, string, string) error { return errNotComposed }
func (s storage) RevokeRefreshToken(context.Context, string) error         { return nil }
