package launch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// PublicClientID is the client that refreshes tokens of a launch, unless the platform names another.
const PublicClientID = "prs-public"

const (
	exchangePath = "/v2/public/external-application/auth/oauth2/user/token"
	refreshPath  = "/auth/oauth2/token"
	logoutPath   = "/auth/user/logout"
	myselfPath   = "/v2/user/myself"

	patience  = 10 * time.Second // for one call
	mostBytes = 1 << 20          // of an answer
)

// What the platform can refuse.
var (
	// ErrRefused is a code that cannot be exchanged: spent, out of time, or signed by another secret.
	ErrRefused = errors.New("launch: the code was refused")
	// ErrSignedOut is a session that has ended: the user has to launch the application again.
	ErrSignedOut = errors.New("launch: the session has ended")
)

// Client is an application's way to the platform. It is safe for concurrent use once its fields are set.
type Client struct {
	Base          string       // the platform's address, such as https://records.example
	ApplicationID string       // who the application is; launches of others are refused
	Secret        string       // what it shares with the platform
	Environment   string       // demo or production
	PublicClient  string       // who refreshes; PublicClientID when empty
	HTTP          *http.Client // http.DefaultClient when nil
}

// Tokens are a user's, in one tenant.
type Tokens struct {
	AccessToken  string    `json:"access_token"`
	RefreshToken string    `json:"refresh_token"`
	Expiry       time.Time `json:"expiry"` // of the access token
	Scope        string    `json:"scope"`
	TenantID     string    `json:"tenantId"`
	UserID       string    `json:"userId"`
}

// Myself is who a user is.
type Myself struct {
	ID            string `json:"id"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"emailVerified"`
	FirstName     string `json:"firstName"`
	LastName      string `json:"lastName"`
	ActiveTenant  struct {
		TenantID string `json:"tenantId"`
		Name     string `json:"name"`
	} `json:"activeTenant"`
}

// Open opens a payload that is for this application.
func (c *Client) Open(payload string, now time.Time) (Launch, error) {
	l, err := Open(payload, c.Secret, c.Environment, now)
	if err == nil && l.ApplicationID != c.ApplicationID {
		return Launch{}, ErrPayload
	}
	return l, err
}

// Exchange gives the code of a launch for tokens of the user who launched.
func (c *Client) Exchange(ctx context.Context, l Launch) (Tokens, error) {
	sent := time.Now()
	body, err := json.Marshal(map[string]string{"signature": Sign(c.Secret, l.SecurityCode), "securityCode": l.SecurityCode})
	if err != nil {
		return Tokens{}, fmt.Errorf("launch: %w", err)
	}
	var answer struct {
		Tokens

		ExpiresIn int `json:"expires_in"`
	}
	err = c.call(ctx, c.plain(), http.MethodPost, exchangePath, body, "", &answer)
	if refused(err, http.StatusUnauthorized) {
		return Tokens{}, ErrRefused
	}
	if err != nil {
		return Tokens{}, err
	}
	t := answer.Tokens
	t.Expiry = sent.Add(time.Duration(answer.ExpiresIn) * time.Second)
	if t.UserID != l.UserID || t.TenantID != l.TenantID || t.AccessToken == "" {
		return Tokens{}, errors.New("launch: the tokens are not those of who launched")
	}
	return t, nil
}

// Identify is flow C: it opens a payload to learn who the user is, and keeps no session.
func (c *Client) Identify(ctx context.Context, payload string, now time.Time) (Myself, error) {
	l, err := c.Open(payload, now)
	if err != nil {
		return Myself{}, err
	}
	tokens, err := c.Exchange(ctx, l)
	if err != nil {
		return Myself{}, err
	}
	return c.Myself(ctx, c.Session(tokens))
}

// Refresh gives new tokens for old ones, which are spent by it. An answer that was lost is asked for once more: the
// platform gives the same one for a few seconds.
func (c *Client) Refresh(ctx context.Context, old Tokens) (Tokens, error) {
	config := oauth2.Config{ClientID: c.PublicClient, Endpoint: oauth2.Endpoint{TokenURL: c.address(refreshPath), AuthStyle: oauth2.AuthStyleInParams}}
	if config.ClientID == "" {
		config.ClientID = PublicClientID
	}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, c.plain())
	fresh, err := config.TokenSource(ctx, &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
	var said *oauth2.RetrieveError
	if err != nil && !errors.As(err, &said) && ctx.Err() == nil {
		fresh, err = config.TokenSource(ctx, &oauth2.Token{RefreshToken: old.RefreshToken}).Token()
	}
	switch {
	case errors.As(err, &said) && said.ErrorCode == "invalid_grant":
		return Tokens{}, ErrSignedOut
	case errors.As(err, &said):
		return Tokens{}, statusError(refreshPath, said.Response)
	case err != nil:
		return Tokens{}, fmt.Errorf("launch: refresh: %w", err)
	}
	next := old
	next.AccessToken, next.RefreshToken, next.Expiry = fresh.AccessToken, fresh.RefreshToken, fresh.Expiry
	if scope, ok := fresh.Extra("scope").(string); ok {
		next.Scope = scope
	}
	return next, nil
}

// Logout ends a session everywhere. One that has ended already is no error.
func (c *Client) Logout(ctx context.Context, s *Session) error {
	err := c.call(ctx, s.HTTP(), http.MethodPost, logoutPath, nil, "", nil)
	if refused(err, http.StatusUnauthorized) || errors.Is(err, ErrSignedOut) {
		return nil
	}
	return err
}

// Myself asks who the user is.
func (c *Client) Myself(ctx context.Context, s *Session) (Myself, error) {
	var me Myself
	err := c.call(ctx, s.HTTP(), http.MethodGet, myselfPath, nil, "", &me)
	return me, err
}

// Get reads one resource as JSON on behalf of the user.
func (c *Client) Get(ctx context.Context, s *Session, path string, query url.Values, into any) error {
	return c.call(ctx, s.HTTP(), http.MethodGet, path, nil, query.Encode(), into)
}

func (c *Client) plain() *http.Client {
	if c.HTTP != nil {
		return c.HTTP
	}
	return http.DefaultClient
}

func (c *Client) address(path string) string { return strings.TrimSuffix(c.Base, "/") + path }

// StatusError is an answer other than the one hoped for. It names the request's trace, for whoever is asked about it.
type StatusError struct {
	Path  string
	Code  int
	Trace string
}

// Error names path, status and trace, and nothing of the answer's body.
func (e *StatusError) Error() string {
	return fmt.Sprintf("launch: %s answered %d (trace %s)", e.Path, e.Code, e.Trace)
}

func refused(err error, code int) bool {
	var e *StatusError
	return errors.As(err, &e) && e.Code == code
}

func statusError(path string, r *http.Response) error {
	return &StatusError{Path: path, Code: r.StatusCode, Trace: r.Header.Get("Trace-Id")}
}

func (c *Client) call(ctx context.Context, by *http.Client, method, path string, body []byte, query string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	address := c.address(path)
	if query != "" {
		address += "?" + query
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := by.Do(request)
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	said, err := io.ReadAll(io.LimitReader(response.Body, mostBytes))
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		return statusError(path, response)
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(said, into); err != nil {
		return fmt.Errorf("launch: %s answered no JSON that is known here", path)
	}
	return nil
}
