// Package principal says who asks: the tenant, the user or client, what they may do and on which plan. It also makes
// and reads the assertion by which the gateway tells a service who asks. It does not know how anybody signs in.
package principal

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Kind says what sort of credential a request came with.
type Kind string

// The kinds of credential.
const (
	Session Kind = "session" // an access token of a signed-in user
	APIKey  Kind = "api_key" // a long-lived key
	Client  Kind = "client"  // an access token of an OAuth client that acts for itself
	Service Kind = "service" // a program of the mesh that acts for itself, never for a caller
)

// PlanFree is the plan whose number of patients is limited.
const PlanFree = "free"

// Principal is who asks. It is a value: copies share nothing but strings.
type Principal struct {
	TenantID          string     `json:"t,omitempty"`
	UserID            string     `json:"u,omitempty"` // empty when no person stands behind the credential
	ClientID          string     `json:"c,omitempty"` // the OAuth client, when there is one
	CredentialID      string     `json:"i,omitempty"` // the key's or the session's id, never its secret
	Kind              Kind       `json:"k"`
	Permissions       Permission `json:"p"`
	Plan              string     `json:"l,omitempty"`
	Environment       string     `json:"e,omitempty"`
	AgreementAccepted bool       `json:"a,omitempty"`
	ExpiresAt         time.Time  `json:"x,omitzero"` // zero: does not expire
	For               Actor      `json:"f,omitzero"` // whose request a program works on; CredentialID is theirs then
}

// Actor is the part of a principal that history keeps.
type Actor struct {
	Type string `json:"type"` // user, client, api_key or service
	ID   string `json:"id"`
}

// Actor names who did it: whoever a program works for, the person when there is one, else the credential's own identity.
func (p Principal) Actor() Actor {
	switch {
	case p.For != Actor{}:
		return p.For
	case p.Kind == APIKey:
		return Actor{Type: "api_key", ID: p.CredentialID}
	case p.UserID != "":
		return Actor{Type: "user", ID: p.UserID}
	case p.Kind == Service:
		return Actor{Type: "service", ID: p.ClientID}
	default:
		return Actor{Type: "client", ID: p.ClientID}
	}
}

type contextKey struct{}

// With puts the principal into a context.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From gives the principal of a context; ok is false where there is none.
func From(ctx context.Context) (p Principal, ok bool) {
	p, ok = ctx.Value(contextKey{}).(Principal)
	return p, ok
}

// Require gives the principal when it holds every permission of want, else a fault: Unauthenticated without a
// principal, Denied without the permission. Every verb of a service begins with it.
func Require(ctx context.Context, want Permission) (Principal, error) {
	p, ok := From(ctx)
	if !ok {
		return Principal{}, fault.New(fault.Unauthenticated, "unauthenticated", "A valid credential is required.")
	}
	if err := p.May(want); err != nil {
		return Principal{}, err
	}
	return p, nil
}

// May is nil when the principal holds every permission of want, else a fault of kind Denied.
func (p Principal) May(want Permission) error {
	if !p.Permissions.Has(want) {
		return fault.New(fault.Denied, "permission_denied", "The credential lacks the permission "+want.String()+".")
	}
	return nil
}

// RequireService gives the principal when a program of the mesh asks for itself, and a Denied fault for everybody else.
func RequireService(ctx context.Context) (Principal, error) {
	p, ok := From(ctx)
	if !ok || p.Kind != Service {
		return Principal{}, fault.New(fault.Denied, "permission_denied", "This operation is for programs of the mesh.")
	}
	return p, nil
}
