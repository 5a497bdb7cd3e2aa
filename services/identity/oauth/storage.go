package oauth

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/handler/pkce"
	transaction "github.com/ory/fosite/storage"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// storage is our stores in fosite's eyes. What fosite calls a token's signature is its name (strategy.go). The id of a
// request that was read back says what a revocation has to end.
type storage struct{ s *Server }

var (
	_ fosite.Storage                = storage{}
	_ oauth2.CoreStorage            = storage{}
	_ oauth2.TokenRevocationStorage = storage{}
	_ pkce.PKCERequestStorage       = storage{}
	_ transaction.Transactional     = storage{}
)

// How the id of a request that was read back begins: an access token's name follows, or a family's user and id.
const (
	aToken  = "token:"
	aFamily = "family:"
)

var (
	errForeign = errors.New("a client that is not ours")
	errUnasked = errors.New("fosite asked for what it has no use for here")
)

// GetClient gives the client that the request is about, which was found before fosite was asked.
func (t storage) GetClient(ctx context.Context, id string) (fosite.Client, error) {
	if c := during(ctx).client; c != nil && c.ID == id {
		return c, nil
	}
	return nil, fosite.ErrNotFound
}

// Client assertions are checked in assertion.go.

func (t storage) ClientAssertionJWTValid(context.Context, string) error { return errUnasked }

func (t storage) SetClientAssertionJWT(context.Context, string, time.Time) error { return errUnasked }

// BeginTX begins to gather what is to be written.
func (t storage) BeginTX(ctx context.Context) (context.Context, error) {
	during(ctx).gathering = true
	return ctx, nil
}

// Commit writes what was gathered, in one statement that also decides who was first.
func (t storage) Commit(ctx context.Context) error {
	x := during(ctx)
	x.gathering = false
	if x.old != nil {
		_, done, err := t.s.rotate(ctx, *x.old, turn{scope: x.scope, access: x.access, refresh: x.refresh})
		if err == nil && !done {
			x.lost, err = true, fosite.ErrSerializationFailure
		}
		return err
	}
	done, err := t.s.redeem(ctx, *x.code, x.access, x.refresh)
	if err == nil && !done {
		err = x.decide(fosite.ErrInvalidGrant)
	}
	return err
}

// Rollback forgets what was gathered.
func (t storage) Rollback(ctx context.Context) error {
	during(ctx).gathering = false
	return nil
}

// CreateAccessTokenSession keeps a token that was just issued.
func (t storage) CreateAccessTokenSession(ctx context.Context, signature string, r fosite.Requester) error {
	if during(ctx).gathering {
		return nil
	}
	asking, ok := r.GetClient().(*client)
	if !ok {
		return errForeign
	}
	hash, err := hex.DecodeString(signature)
	if err != nil {
		return fmt.Errorf("token name: %w", err)
	}
	fresh, err := t.s.newAccess(hash)
	if err != nil {
		return err
	}
	return unavailable(t.s.o.Tokens.KeepToken(ctx, identity.AccessToken{
		Hash: hash, ID: fresh.ID, TenantID: asking.TenantID, ClientID: asking.ID, Scope: r.GetGrantedScopes(),
		Environment: t.s.o.Environment, IssuedAt: t.s.instant(), ExpiresAt: fresh.ExpiresAt,
	}))
}

// GetAccessTokenSession reads a token back.
func (t storage) GetAccessTokenSession(ctx context.Context, signature string, _ fosite.Session) (fosite.Requester, error) {
	hash, err := hex.DecodeString(signature)
	if err != nil {
		return nil, fosite.ErrNotFound
	}
	token, owner, err := t.s.o.Tokens.FindToken(ctx, hash)
	if err != nil {
		return nil, unavailable(err)
	}
	if token == nil || !token.Live(t.s.o.Environment, t.s.o.Now()) {
		return nil, fosite.ErrNotFound
	}
	if owner == nil {
		owner = t.s.o.Clients.Configured(token.ClientID)
	}
	if owner == nil {
		return nil, fosite.ErrNotFound
	}
	about := &session{expires: token.ExpiresAt, subject: owner.ID, tenant: token.TenantID, strong: token.Strong}
	if token.UserID != nil {
		about.subject = *token.UserID
	}
	return &fosite.Request{
		ID: aToken + token.TenantID + "/" + signature, RequestedAt: token.IssuedAt, Client: &client{Client: *owner},
		RequestedScope: token.Scope, GrantedScope: token.Scope, Session: about,
	}, nil
}

// RevokeAccessToken ends the token that a request read back is named after.
func (t storage) RevokeAccessToken(ctx context.Context, requestID string) error {
	named, ok := strings.CutPrefix(requestID, aToken)
	if !ok {
		return nil
	}
	tenant, signature, _ := strings.Cut(named, "/")
	hash, err := hex.DecodeString(signature)
	if err != nil {
		return fosite.ErrNotFound
	}
	if err := t.s.o.Tokens.RevokeToken(ctx, tenant, hash); err != nil {
		return unavailable(err)
	}
	t.s.o.Nudge()
	return nil
}

// DeleteAccessTokenSession is asked by no handler that is composed.
func (t storage) DeleteAccessTokenSession(context.Context, string) error { return errUnasked }

// CreateAuthorizeCodeSession keeps a code that was just issued.
func (t storage) CreateAuthorizeCodeSession(ctx context.Context, signature string, _ fosite.Requester) error {
	x := during(ctx)
	hash, err := hex.DecodeString(signature)
	if err != nil || x.authorization == nil {
		return errUnasked
	}
	done, err := t.s.keepCode(ctx, hash, x.authorization, x.decision)
	if err == nil && !done {
		err = errPushedGone
	}
	if err != nil {
		return x.decide(err)
	}
	return nil
}

// GetAuthorizeCodeSession reads a code back, once for all handlers.
func (t storage) GetAuthorizeCodeSession(ctx context.Context, signature string, _ fosite.Session) (fosite.Requester, error) {
	x := during(ctx)
	if x.code == nil {
		hash, err := hex.DecodeString(signature)
		if err != nil || x.client == nil {
			return nil, fosite.ErrNotFound
		}
		if x.code, err = t.s.presentCode(ctx, hash, x.client.ID); err != nil {
			return nil, err
		}
	}
	// PKCE's challenge lives in the code's row: it can be neither lost nor taken from its code.
	form := url.Values{"code_challenge": {x.code.Challenge}, "code_challenge_method": {challengeMethod}}
	if x.code.RedirectURI != "" {
		form.Set("redirect_uri", x.code.RedirectURI)
	}
	return &fosite.Request{
		ID: signature, RequestedAt: x.code.CreatedAt, Client: x.client, Form: form,
		RequestedScope: x.code.Scope, GrantedScope: x.code.Scope, Session: &session{expires: x.code.ExpiresAt},
	}, nil
}

// InvalidateAuthorizeCodeSession is gathered: Commit spends the code.
func (t storage) InvalidateAuthorizeCodeSession(context.Context, string) error { return nil }

// CreatePKCERequestSession is done with the code.
func (t storage) CreatePKCERequestSession(context.Context, string, fosite.Requester) error {
	return nil
}

// GetPKCERequestSession is the code itself.
func (t storage) GetPKCERequestSession(ctx context.Context, signature string, s fosite.Session) (fosite.Requester, error) {
	return t.GetAuthorizeCodeSession(ctx, signature, s)
}

// DeletePKCERequestSession does nothing: fosite asks for it before it has looked at the verifier, and a wrong one must
// leave the code bound.
func (t storage) DeletePKCERequestSession(context.Context, string) error { return nil }

// CreateRefreshTokenSession is gathered.
func (t storage) CreateRefreshTokenSession(context.Context, string, string, fosite.Requester) error {
	return nil
}

// GetRefreshTokenSession reads a refresh token back.
func (t storage) GetRefreshTokenSession(ctx context.Context, signature string, _ fosite.Session) (fosite.Requester, error) {
	x := during(ctx)
	hash, err := hex.DecodeString(signature)
	if err != nil {
		return nil, fosite.ErrNotFound
	}
	var found *identity.IssuedRefresh
	if x.purpose == toIssue {
		found, err = t.s.presentIn(ctx, x, hash)
	} else {
		found, err = t.s.findRefresh(ctx, hash)
		if err == nil && (found == nil || (x.purpose == toIntrospect && found.SpentAt != nil)) {
			err = fosite.ErrNotFound
		}
	}
	if err != nil {
		return nil, unavailable(err)
	}
	family := found.Family
	return &fosite.Request{
		ID: aFamily + family.UserID + "/" + family.ID, RequestedAt: found.IssuedAt, Client: t.s.stub(x, family.ClientID),
		RequestedScope: family.Scope, GrantedScope: family.Scope,
		Session: &session{expires: found.ExpiresAt, subject: family.UserID, tenant: family.TenantID, strong: family.Strong, refresh: true},
	}, nil
}

// stub is a client of whom only the id matters, since it is compared with that of who asks.
func (s *Server) stub(x *exchange, id string) *client {
	if x.client != nil && x.client.ID == id {
		return x.client
	}
	return &client{Client: identity.Client{ID: id}}
}

// RotateRefreshToken is gathered: Commit spends the token.
func (t storage) RotateRefreshToken(context.Context, string, string) error { return nil }

// RevokeRefreshToken ends the family that a request read back is named after.
func (t storage) RevokeRefreshToken(ctx context.Context, requestID string) error {
	named, ok := strings.CutPrefix(requestID, aFamily)
	if !ok {
		return nil
	}
	user, family, _ := strings.Cut(named, "/")
	_, err := t.s.EndFamily(ctx, user, family, false)
	return unavailable(err)
}

// DeleteRefreshTokenSession is asked after a reuse, which is answered before fosite hears of it.
func (t storage) DeleteRefreshTokenSession(context.Context, string) error { return errUnasked }
