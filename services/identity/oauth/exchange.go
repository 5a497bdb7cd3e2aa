package oauth

import (
	"context"
	"net/url"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// exchange is one request on its way through fosite, whose handlers call storage piecemeal: what was read is kept here
// to be read once, and what is to be written is gathered here to be written at once. It rides in the context.
type exchange struct {
	purpose purpose
	form    url.Values
	client  *client // who asks, once that is known

	authorization *Authorization // of Grant
	decision      Decision

	code    *identity.IssuedCode
	old     *identity.IssuedRefresh // the refresh token that was presented
	scope   []string                // of the access token that a refresh gives
	access  string                  // the tokens that were made
	refresh string

	gathering bool // between BeginTX and Commit
	lost      bool // another request was first
	decided   error
	repeat    *identity.Tokens // what this very request was answered before
}

// purpose is what a token is looked up for.
type purpose int

const (
	toIssue purpose = iota
	toIntrospect
	toRevoke
)

type exchangeKey struct{}

func (x *exchange) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// during gives the exchange of a context; an empty one where there is none.
func during(ctx context.Context) *exchange {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		return x
	}
	return &exchange{}
}

// decide notes the answer to give, whatever fosite makes of the error.
func (x *exchange) decide(err error) error {
	x.decided = err
	return err
}
