package identity

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// KeyStore keeps API keys.
type KeyStore interface {
	// CreateKey stores a key and the audit entry. When the idempotency key was used before, nothing is stored and repeat
	// is the record of that time.
	CreateKey(ctx context.Context, k APIKey, key idempotency.Key, e audit.Entry) (repeat *idempotency.Record, err error)
	// FindKey gives a key whatever its tenant; nil when there is none.
	FindKey(ctx context.Context, id string) (*APIKey, error)
	// ListKeys gives a page of a tenant's keys that are not revoked, one more than its size when the list goes on, and
	// their number.
	ListKeys(ctx context.Context, tenant string, part page.Request) (list []APIKey, total int64, err error)
	// RevokeKey marks a key as revoked and writes the audit entry and the effect that ends its session. Done is false
	// when there is no such key, or it is revoked already.
	RevokeKey(ctx context.Context, tenant, id, session string, now time.Time, e audit.Entry) (done bool, err error)
}

// ClientStore keeps OAuth clients.
type ClientStore interface {
	// CreateClient stores a client, as CreateKey does a key.
	CreateClient(ctx context.Context, c Client, key idempotency.Key, e audit.Entry) (repeat *idempotency.Record, err error)
	// FindClient gives a client whatever its tenant; nil when there is none.
	FindClient(ctx context.Context, id string) (*Client, error)
	// ListClients gives a page of the clients of all tenants.
	ListClients(ctx context.Context, environment string, part page.Request) (list []Client, total int64, err error)
	// DeleteClient removes a client and writes the audit entry and the effect that ends its tenant's sessions.
	DeleteClient(ctx context.Context, tenant, id string, e audit.Entry) (done bool, err error)
}

// TokenStore keeps access tokens.
type TokenStore interface {
	KeepToken(ctx context.Context, t AccessToken) error
	// FindToken gives a token and its client; nil when the token is gone. The client is nil when it is gone, or is
	// none that is kept here.
	FindToken(ctx context.Context, hash []byte) (*AccessToken, *Client, error)
	// RevokeToken removes a token and writes the effect that ends its session.
	RevokeToken(ctx context.Context, tenant string, hash []byte) error
}

// UserStore keeps users.
type UserStore interface {
	// CreateUser stores the user unless the id is taken, and gives what then stands under the id. An address that
	// belongs to somebody else is a fault of kind Conflict.
	CreateUser(ctx context.Context, u User) (User, error)
}

// Tenants is what we ask of the tenant service.
type Tenants interface {
	// Roles gives all roles, perhaps as they were a minute ago.
	Roles(ctx context.Context) ([]Role, error)
	// Standing says what roles are worth in a tenant now. No such tenant is a fault of kind NotFound.
	Standing(ctx context.Context, tenant string, roleIDs []string) (Standing, error)
	// MemberStanding says what a user is worth in a tenant now. No such tenant, or no membership, is a fault of kind
	// NotFound.
	MemberStanding(ctx context.Context, tenant, user string) (Standing, error)
}

// Service is the verbs. It is safe for concurrent use.
type Service struct {
	Keys      KeyStore
	Clients   ClientStore
	Tokens    TokenStore
	Users     UserStore
	Tenants   Tenants
	Hasher    secret.Hasher
	Sealer    *seal.Sealer
	Passwords *password.Hasher
	Uses      *Uses
	// Genuine reports whether a token was made by us, without looking it up.
	Genuine     func(token string) bool
	Environment string
	// Public is the client that is configured; without an id there is none.
	Public Client
	Now    func() time.Time
	Random io.Reader
	NewID  func() (uuid.UUID, error)
	Nudge  func() // called after a change that has effects outside

	recent Recent
}

// now is cut to what the wire shows, so that an answer and a later read agree.
func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Millisecond) }
