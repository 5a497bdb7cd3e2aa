package page

import (
	"context"
	"net/url"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	listing "github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

// People is what people do with themselves.
type People interface {
	Register(ctx context.Context, d identity.RegisterDraft, further func(...fault.Field) error) (identity.Registration, error)
	VerifyEmail(ctx context.Context, userID, identifier string) error
	RequestReset(ctx context.Context, email string) error
	ResetPassword(ctx context.Context, userID, identifier, password string, further func(...fault.Field) error) error
	// NewDevice makes a device cookie for a browser whose user has just proved who they are.
	NewDevice(userID string) (string, error)

	SignIn(ctx context.Context, c identity.Caller, email, password string) (identity.Entered, error)
	Challenge(ctx context.Context, id string) (identity.Challenge, error)
	SendCode(ctx context.Context, challengeID string) error
	AnswerChallenge(ctx context.Context, c identity.Caller, challengeID, code string) (identity.Entered, error)
	StepUp(ctx context.Context, s identity.SignIn, c identity.Caller) (identity.Challenge, error)
	// Browser gives who the cookie's browser is signed in as; nil, nil when nobody is.
	Browser(ctx context.Context, cookie string) (*identity.SignIn, *identity.User, error)
	SignOut(ctx context.Context, s identity.SignIn) error

	ChooseTenant(ctx context.Context, s identity.SignIn, tenantID string) error
	Memberships(ctx context.Context, userID string) ([]identity.Membership, error)
	Sessions(ctx context.Context, s identity.SignIn) ([]identity.Session, error)
	EndSession(ctx context.Context, s identity.SignIn, id string) error
	// EndAllSessions ends them all, this one too.
	EndAllSessions(ctx context.Context, s identity.SignIn) error
	UpdateProfile(ctx context.Context, userID, firstName, lastName string) error
	ChangePassword(ctx context.Context, s identity.SignIn, c identity.Caller, current, next string, further func(...fault.Field) error) error

	// Offered reads an invitation and spends nothing.
	Offered(ctx context.Context, id, identifier string) (identity.Offer, error)
	// AcceptInvitation makes somebody a member: who is signed in, or, with signIn nil, a newcomer whom the draft describes.
	AcceptInvitation(ctx context.Context, s *identity.SignIn, id, identifier string, d identity.RegisterDraft, further func(...fault.Field) error) error

	Factors
}

// Factors is what people prove who they are by, besides the password.
type Factors interface {
	Factors(ctx context.Context, userID string) (identity.Factors, error)
	BeginTOTP(ctx context.Context, userID string) (identity.Enrolment, error)
	ConfirmTOTP(ctx context.Context, userID, code string) (recovery []string, err error)
	RemoveTOTP(ctx context.Context, userID string) error
	NewRecoveryCodes(ctx context.Context, userID string) ([]string, error)
	BeginPasskey(ctx context.Context, userID string) (options []byte, handle string, err error)
	FinishPasskey(ctx context.Context, userID, handle, name string, response []byte) error
	RemovePasskey(ctx context.Context, userID, id string) error
	BeginPasskeySignIn(ctx context.Context) (options []byte, handle string, err error)
	FinishPasskeySignIn(ctx context.Context, c identity.Caller, handle string, response []byte) (identity.Entered, error)
	// BeginPasskeyAnswer and FinishPasskeyAnswer answer a challenge.
	BeginPasskeyAnswer(ctx context.Context, challengeID string) (options []byte, handle string, err error)
	FinishPasskeyAnswer(ctx context.Context, c identity.Caller, challengeID, handle string, response []byte) (identity.Entered, error)
}

// OAuth is the authorization server, as far as a person decides.
type OAuth interface {
	// BeginAuthorize reads an authorization request. Refused is an answer that goes back to the client; err is a request
	// whose client or redirect URI does not hold, so that nothing goes anywhere.
	BeginAuthorize(ctx context.Context, parameters url.Values) (a *oauth.Authorization, refused *oauth.Response, err error)
	Grant(ctx context.Context, a *oauth.Authorization, d oauth.Decision) (oauth.Response, error)
	Deny(ctx context.Context, a *oauth.Authorization, code string) oauth.Response
}

// Consents remembers what people allowed whom.
type Consents interface {
	Consented(ctx context.Context, userID, clientID string) (scopes []string, err error)
	Consent(ctx context.Context, userID, clientID string, scopes []string) error
}

// Keys is the verbs of API keys. They act for the principal of the context.
type Keys interface {
	MintKey(ctx context.Context, d identity.KeyDraft, key idempotency.Key, further func(...fault.Field) error) (identity.Minted, error)
	ListKeys(ctx context.Context, part listing.Request) (identity.KeyList, error)
	RevokeKey(ctx context.Context, id string) error
}

// Roles tells all roles there are.
type Roles interface {
	Roles(ctx context.Context) ([]identity.Role, error)
}

// Launcher opens external applications for the principal of the context.
type Launcher interface {
	Launchable(ctx context.Context) ([]identity.Application, error)
	// Launch gives the address to send the browser to.
	Launch(ctx context.Context, id string) (address string, err error)
}

// Agreements asks the tenant service in the name of the context's principal.
type Agreements interface {
	Current(ctx context.Context) (identity.Agreement, error)
	Status(ctx context.Context) (identity.AgreementStatus, error)
	Accept(ctx context.Context, id string) error
}
