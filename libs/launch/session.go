package launch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// Session is a user's tokens, which it keeps fresh. It is an http.RoundTripper, for HTTP, and an oauth2.TokenSource for
// programs that use golang.org/x/oauth2. It is safe for concurrent use: many requests that find the token expired at the
// same time make one refresh.
type Session struct {
	client *Client
	flight singleflight.Group
	mu     sync.Mutex
	tokens Tokens
	keep   func(Tokens)
}

var (
	_ http.RoundTripper  = (*Session)(nil)
	_ oauth2.TokenSource = (*Session)(nil)
)

// Session begins with tokens: those of an exchange, or those that an application has kept.
func (c *Client) Session(t Tokens) *Session { return &Session{client: c, tokens: t} }

// Keep has an application told of new tokens, so that it can store them. It is called before they are used.
func (s *Session) Keep(keep func(Tokens)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = keep
}

// Tokens are those that are current.
func (s *Session) Tokens() Tokens {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens
}

// Token is oauth2.TokenSource's: the access token, refreshed first if its time is over.
func (s *Session) Token() (*oauth2.Token, error) {
	t := s.Tokens()
	if !time.Now().Before(t.Expiry) {
		var err error
		if t, err = s.renew(context.Background(), t.AccessToken); err != nil {
			return nil, err
		}
	}
	return &oauth2.Token{AccessToken: t.AccessToken, TokenType: "Bearer", Expiry: t.Expiry}, nil
}

// HTTP is a client that sends the access token and, on 401, refreshes and sends the request once more.
func (s *Session) HTTP() *http.Client {
	own := *s.client.plain()
	own.Transport = s
	return &own
}

var errElsewhere = errors.New("launch: the access token is for the platform alone")

// RoundTrip is http.RoundTripper's. A request whose body cannot be had again is not repeated. The token never goes to
// another host than the platform's, whatever a redirect says.
func (s *Session) RoundTrip(request *http.Request) (*http.Response, error) {
	base, err := url.Parse(s.client.Base)
	if err != nil || base.Scheme != request.URL.Scheme || base.Host != request.URL.Host {
		return nil, errors.Join(errElsewhere, closed(request))
	}
	used := s.Tokens().AccessToken
	response, err := s.send(request, used)
	if err != nil || response.StatusCode != http.StatusUnauthorized || (request.Body != nil && request.GetBody == nil) {
		return response, err
	}
	fresh, err := s.renew(request.Context(), used)
	if err != nil {
		_ = response.Body.Close()
		return nil, err
	}
	again := request.Clone(request.Context())
	if request.GetBody != nil {
		if again.Body, err = request.GetBody(); err != nil {
			return response, nil //nolint:nilerr // what cannot be repeated keeps its first answer
		}
	}
	_ = response.Body.Close()
	return s.send(again, fresh.AccessToken)
}

func closed(request *http.Request) error {
	if request.Body == nil {
		return nil
	}
	return request.Body.Close()
}

func (s *Session) send(request *http.Request, token string) (*http.Response, error) {
	with := request.Clone(request.Context())
	with.Header.Set("Authorization", "Bearer "+token)
	transport := s.client.plain().Transport
	if transport == nil {
		transport = http.DefaultTransport
	}
	return transport.RoundTrip(with)
}

// renew replaces a spent access token. It goes on when the request that found it spent is given up: the refresh token
// is spent by then, and others wait for the new one.
func (s *Session) renew(ctx context.Context, spent string) (Tokens, error) {
	done := s.flight.DoChan(spent, func() (any, error) {
		t := s.Tokens()
		if t.AccessToken != spent {
			return t, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		fresh, err := s.client.Refresh(ctx, t)
		if err != nil {
			return Tokens{}, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.keep != nil {
			s.keep(fresh)
		}
		s.tokens = fresh
		return fresh, nil
	})
	select {
	case r := <-done:
		if r.Err != nil {
			return Tokens{}, r.Err
		}
		return r.Val.(Tokens), nil //nolint:forcetypeassert // what the function gives
	case <-ctx.Done():
		return Tokens{}, ctx.Err()
	}
}
