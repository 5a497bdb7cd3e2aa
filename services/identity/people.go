package identity

import (
	"context"
	"io"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/metric"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

// PeopleStore keeps what people are known by.
type PeopleStore interface {
	// FindUser gives a user by id, FindUserByEmail by address; nil when there is none.
	FindUser(ctx context.Context, id string) (*User, error)
	FindUserByEmail(ctx context.Context, environment, email string) (*User, error)
	// FindUsers gives those of the users that there are, in no order.
	FindUsers(ctx context.Context, ids []string) ([]User, error)
	// Register stores a new user, the link that proves the address, and the effects: the letter and the tenant. Done is
	// false, and nothing is stored, when the address belongs to somebody.
	Register(ctx context.Context, u User, link Link, organization NewTenant, letter Letter, e audit.Entry) (done bool, err error)
	// RegisterAgain takes over what an address that was never proved is registered with this time, and sends the letter
	// with the new link.
	RegisterAgain(ctx context.Context, u User, link Link, letter Letter, e audit.Entry) error
	// UpdateName writes a user's name.
	UpdateName(ctx context.Context, id, first, last string) (done bool, err error)
	// ChangePassword writes a new password and ends all that the old one opened, but for one browser session when keep
	// names it. With link it happens only if the link holds, which it spends; the address is proved then.
	ChangePassword(ctx context.Context, c PasswordChange) (done bool, err error)
	// SendLetter writes the effect of a letter that belongs to no change.
	SendLetter(ctx context.Context, letter Letter) error
	// Note keeps an entry of what changed nothing; one that was not made takes as long.
	Note(ctx context.Context, e audit.Entry) error
}

// PasswordChange is a new password and what becomes of the old.
type PasswordChange struct {
	UserID string
	Hash   string
	Link   *Link   // the presented link, of which UserID, Purpose and Hash hold
	Keep   *string // the id of a browser session that goes on
	Letter Letter
	Entry  audit.Entry
	Now    time.Time
}

// LinkStore keeps links that were mailed.
type LinkStore interface {
	// KeepLink stores a link in place of the user's older one of the purpose, and the letter that carries it.
	KeepLink(ctx context.Context, l Link, letter Letter, e audit.Entry) error
	// HasLink reports whether the presented link holds.
	HasLink(ctx context.Context, presented Link, now time.Time) (bool, error)
	// SpendVerification spends the presented link and marks the user's address as proved.
	SpendVerification(ctx context.Context, presented Link, now time.Time, e audit.Entry) (done bool, err error)
}

// SignInStore keeps browser sessions.
type SignInStore interface {
	// KeepSignIn stores a session under the hash of its cookie, if the user's password is still the one of that hash:
	// what was proved before a new one was set begins nothing after it. Done is false otherwise, and the entry is not kept.
	KeepSignIn(ctx context.Context, s SignIn, hash []byte, passwordHash string, e audit.Entry) (done bool, err error)
	// FindSignIn gives the session of a cookie and its user, and notes that it was seen; nil when there is none, or none
	// any more.
	FindSignIn(ctx context.Context, hash []byte, environment string, idle time.Duration, now time.Time) (*SignIn, *User, error)
	// UpgradeSignIn puts a new cookie in the place of a session's old one, and the methods. Done is false when the
	// session has ended.
	UpgradeSignIn(ctx context.Context, user, id string, hash []byte, methods []string, now time.Time) (upgraded *SignIn, err error)
	// ChooseTenant notes the organization that was chosen.
	ChooseTenant(ctx context.Context, user, id, tenant string) error
	// SignInsOf gives the user's sessions that have not ended, the last seen first, at most MostSessions.
	SignInsOf(ctx context.Context, user string, idle time.Duration, now time.Time) ([]SignIn, error)
	// EndSignIn ends a session.
	EndSignIn(ctx context.Context, user, id string, e audit.Entry) (done bool, err error)
	// EndEverything ends all of a user's sessions, here and at applications, and what was to become one.
	EndEverything(ctx context.Context, user string, now time.Time, e audit.Entry) error
}

// MostSessions is how many of a user's sessions are listed.
const MostSessions = 100

// InvitationStore keeps invitations.
type InvitationStore interface {
	// Invite stores an invitation in place of the tenant's older one to the address, and its letter. When the idempotency
	// key was used before, nothing is stored and repeat is the record of that time.
	Invite(ctx context.Context, i Invitation, letter Letter, key idempotency.Key, answer []byte, e audit.Entry) (repeat *idempotency.Record, err error)
	// ListInvitations gives a page of a tenant's invitations that have not expired, one more than its size when the list
	// goes on, and their number.
	ListInvitations(ctx context.Context, tenant string, part page.Request, now time.Time) (list []Invitation, total int64, err error)
	// DeleteInvitation withdraws an invitation.
	DeleteInvitation(ctx context.Context, tenant, id string, e audit.Entry) (done bool, err error)
	// FindInvitation gives the invitation that a link presents; nil when it does not hold.
	FindInvitation(ctx context.Context, id string, hash []byte, now time.Time) (*Invitation, error)
	// Accept spends an invitation and writes the effect that makes the user a member with the roles. With newcomer the
	// user is stored too. Done is false, and nothing has happened, when the invitation is gone.
	Accept(ctx context.Context, i Invitation, userID string, roleIDs []string, newcomer *User, e audit.Entry) (done bool, err error)
}

// Organizations is what the people's side asks of the tenant service.
type Organizations interface {
	// Roles gives all roles, perhaps as they were a minute ago.
	Roles(ctx context.Context) ([]Role, error)
	// Memberships gives the tenants that a user belongs to, in the order of their making.
	Memberships(ctx context.Context, userID string) ([]Membership, error)
	// Members gives a page of a tenant's people, and whether the list goes on.
	Members(ctx context.Context, tenantID string, part page.Request) (Members, error)
	// Member gives one of a tenant's people; else a fault of kind NotFound.
	Member(ctx context.Context, tenantID, userID string) (Member, error)
	// TenantName gives a tenant's name.
	TenantName(ctx context.Context, tenantID string) (string, error)
	// PutMember makes a user a member with exactly the roles.
	PutMember(ctx context.Context, tenantID, userID string, roleIDs []string) error
	// RemoveMember ends a membership. The last Owner stays: a fault of kind Conflict.
	RemoveMember(ctx context.Context, tenantID, userID string) error
}

// Families is the sign-ins of a user at OAuth clients, of which the authorization server knows.
type Families interface {
	// SwitchFamily makes the family's next tokens those of another tenant; with revoke its access tokens end now. Done
	// is false when the family is not the user's or has ended; one that is confined does not move (Confined), nor a weak one
	// to a tenant that requires more: a fault of kind Denied (mfa_required).
	SwitchFamily(ctx context.Context, userID, familyID, tenantID string, revoke bool) (done bool, err error)
	// Confined reports whether a family stays in its tenant; so does one that is not there.
	Confined(ctx context.Context, userID, familyID string) (bool, error)
	// Exchange spends a refresh token for tokens in another tenant. A token that does not hold, or is not the user's, is
	// a fault.
	Exchange(ctx context.Context, x Exchange) (Exchanged, error)
	// EndFamily ends a family, and the browser session that it came from when withSignIn.
	EndFamily(ctx context.Context, userID, familyID string, withSignIn bool) (done bool, err error)
	// FamiliesOf gives the families that go on, as their owner sees them.
	FamiliesOf(ctx context.Context, userID string) ([]Session, error)
}

// Exchange asks for tokens in another tenant.
type Exchange struct {
	UserID       string
	ClientID     string
	TenantID     string
	RefreshToken string
	Revoke       bool // end the family's older access tokens
}

// Exchanged is the tokens that an Exchange came to.
type Exchanged struct {
	AccessToken  string
	RefreshToken string
	Scope        []string
	ExpiresIn    time.Duration
}

// Limits counts what may not be tried too often, for all replicas together. When the counters are away each verb is a
// fault of kind Unavailable: nothing that they guard may go unguarded.
type Limits interface {
	// Take counts one more under the key. When the limit was reached within the window it counts nothing and tells how
	// long that lasts.
	Take(ctx context.Context, key string, limit int, window time.Duration) (wait time.Duration, err error)
	// TakeDistinct counts different members under the key; one that is counted already is let through.
	TakeDistinct(ctx context.Context, key, member string, limit int, window time.Duration) (wait time.Duration, err error)
	// GiveBack takes one count back, GiveBackDistinct a member.
	GiveBack(ctx context.Context, key string) error
	GiveBackDistinct(ctx context.Context, key, member string) error
	// Forget sets a key free.
	Forget(ctx context.Context, key string) error
}

// PeopleSettings are what an operator can choose.
type PeopleSettings struct {
	Environment string
	PublicURL   string // without a slash at its end; every mailed link begins with it
	SignInFor   time.Duration
	SignInIdle  time.Duration
	// The following hold for an address, in the windows that limits.go names.
	SignInsPerAddress       int
	RegistrationsPerAddress int
	ResetsPerAddress        int
}

// People is the verbs of those who sign in: registration, sessions, factors, memberships. It is safe for concurrent use.
type People struct {
	*Verifier // of second factors

	Users         PeopleStore
	Links         LinkStore
	SignIns       SignInStore
	Invitations   InvitationStore
	Organizations Organizations
	Families      Families
	Second        SecondFactor
	Limits        Limits
	Passwords     *password.Hasher
	Common        *password.Common
	Hasher        secret.Hasher
	Sealer        *seal.Sealer
	Settings      PeopleSettings
	Now           func() time.Time
	Random        io.Reader
	NewID         func() (uuid.UUID, error)
	Nudge         func() // called after a change that has effects outside
	// Strangers counts the passwords that were tried for nobody, of whom no trail could tell; nil counts nothing.
	Strangers metric.Int64Counter
}

// now is cut to what the wire shows, so that an answer and a later read agree.
func (p *People) now() time.Time { return p.Now().UTC().Truncate(time.Millisecond) }

func (p *People) newID() (string, error) {
	id, err := p.NewID()
	return id.String(), err
}
