package identity

import (
	"context"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
)

// The life of a launch's code.
const (
	launchLifetime = time.Minute
	// MostLaunchFailures is how many wrong signatures spend a code.
	MostLaunchFailures = 5
)

// LaunchCode is the one-time code that a launch carries to the application. The code itself is not kept.
type LaunchCode struct {
	Hash          []byte // SHA-256 of the code
	TenantID      string
	UserID        string
	ApplicationID string
	Environment   string
	Scope         []string // what the session that launched could do
	Strong        bool     // as that session is; whoever keeps the code knows
	Confined      bool     // to its tenant, likewise
	CreatedAt     time.Time
	ExpiresAt     time.Time
}

// LaunchStore keeps codes of launches.
type LaunchStore interface {
	// KeepLaunch stores a code of a user's session, a family or a browser's, and makes it as strong, and as confined, as that is.
	KeepLaunch(ctx context.Context, c LaunchCode, session string, e audit.Entry) error
	// FindLaunch gives a code, spent or not, and its application; either is nil when it is not there.
	FindLaunch(ctx context.Context, hash []byte) (*LaunchCode, *Application, error)
	// SpendLaunch spends a code that came with the right signature, and counts one that did not. Of many that come at
	// once one is told true; a code that is spent, expired, or came with as many wrong signatures as are allowed, is won
	// by nobody. The entry says success only when the code was won; nil for a code that nobody knows.
	SpendLaunch(ctx context.Context, hash []byte, right bool, now time.Time, e *audit.Entry) (won bool, err error)
}

// FamilyStarter begins a user's sign-in at a client without a code of the authorization server's.
type FamilyStarter interface {
	Start(ctx context.Context, d FamilyDraft) (Tokens, error)
}

// signedIn gives the principal when a person stands behind it who has signed in.
func signedIn(ctx context.Context) (principal.Principal, error) {
	by, err := principal.Require(ctx, 0)
	if err == nil && (by.Kind != principal.Session || by.UserID == "" || by.TenantID == "") {
		err = fault.New(fault.Denied, "no_user", "Only a signed-in user can launch an application.")
	}
	return by, err
}

// Launchable lists the applications that the caller may launch in the tenant where they stand, by name.
func (l *Launcher) Launchable(ctx context.Context) ([]Application, error) {
	by, err := signedIn(ctx)
	if err != nil {
		return nil, err
	}
	return l.Applications.ApplicationsFor(ctx, l.Environment, by.TenantID)
}

// Launch gives the address to send the caller's browser to.
func (l *Launcher) Launch(ctx context.Context, id string) (address string, err error) {
	by, err := signedIn(ctx)
	if err != nil {
		return "", err
	}
	if !ValidID(id) {
		return "", noApplication()
	}
	a, err := l.Applications.FindApplication(ctx, id)
	if err != nil {
		return "", err
	}
	if a == nil || a.Environment != l.Environment || !a.For(by.TenantID) {
		return "", noApplication()
	}
	shared, err := l.Sealer.Open(a.SecretSealed, a.purpose())
	if err != nil {
		return "", err
	}
	code, err := secret.Random(l.Random)
	if err != nil {
		return "", err
	}
	now := l.now()
	payload, err := launch.Seal(launch.Launch{
		SecurityCode: code, UserID: by.UserID, TenantID: by.TenantID, ApplicationID: a.ID, Environment: l.Environment,
		IssuedAt: now, ExpiresAt: now.Add(launchLifetime),
	}, string(shared), l.Random)
	if err != nil {
		return "", err
	}
	hash := sha256.Sum256([]byte(code))
	err = l.Codes.KeepLaunch(ctx, LaunchCode{
		Hash: hash[:], TenantID: by.TenantID, UserID: by.UserID, ApplicationID: a.ID, Environment: l.Environment,
		Scope: by.Permissions.Names(), CreatedAt: now, ExpiresAt: now.Add(launchLifetime),
	}, by.CredentialID, l.entry(ctx, by.TenantID, auditLaunchCreate))
	return a.LaunchURL + "/auth?lpl=" + payload, err
}

// Exchange gives tokens of the user who launched for the code that the application was brought, signed by the
// application. Every code that does not hold is the same fault after the same work. A code is spent before its tokens
// are made: whoever breaks down in between costs the user a second launch, and never makes two sessions of one.
func (l *Launcher) Exchange(ctx context.Context, signature, code string) (Tokens, error) {
	hash, now := sha256.Sum256([]byte(code)), l.Now()
	c, a, err := l.Codes.FindLaunch(ctx, hash[:])
	if err != nil {
		return Tokens{}, err
	}
	shared, err := l.shared(a)
	if err != nil {
		return Tokens{}, err
	}
	right := launch.Signed(shared, code, signature)
	var place *Standing
	if right && c.open(a, l.Environment, now) {
		if place, err = l.place(ctx, *c); err != nil {
			return Tokens{}, err
		}
	}
	won, err := l.Codes.SpendLaunch(ctx, hash[:], place != nil, now, l.exchanged(ctx, c))
	if err != nil {
		return Tokens{}, err
	}
	if !won || place == nil {
		return Tokens{}, fault.New(fault.Unauthenticated, "launch_refused", "The code does not hold, or not any more.")
	}
	return l.Families.Start(ctx, FamilyDraft{
		ClientID: l.PublicClient, UserID: c.UserID, TenantID: c.TenantID, Confined: c.Confined, Strong: c.Strong, Agent: a.Name,
		Scope: append((place.Permissions & principal.ParsePermissions(c.Scope)).Names(), OfflineAccess),
	})
}

// exchanged is the entry of an exchange by the user who launched, through the application.
func (l *Launcher) exchanged(ctx context.Context, c *LaunchCode) *audit.Entry {
	if c == nil {
		return nil
	}
	e := l.entry(ctx, c.TenantID, auditLaunchExchange).By(principal.Actor{Type: "user", ID: c.UserID}, c.ApplicationID)
	return &e
}

// open reports whether the code may still be spent, for all that is known before it is tried. Neither needs to be there.
func (c *LaunchCode) open(a *Application, environment string, now time.Time) bool {
	return c != nil && a != nil && c.Environment == environment && a.Environment == environment && a.For(c.TenantID) && now.Before(c.ExpiresAt)
}

// decoy is checked against in place of the secret of an application that is not there.
const decoy = "0000000000000000000000000000000000000000000"

// shared gives an application's secret. For one that is not there it works as long over nothing.
func (l *Launcher) shared(a *Application) (string, error) {
	if a == nil {
		_, err := l.Sealer.Seal([]byte(decoy), strings.Repeat("0", len("external_application/")+36))
		return decoy, err
	}
	text, err := l.Sealer.Open(a.SecretSealed, a.purpose())
	return string(text), err
}

// place is what the user is worth in the tenant where they launched; nil when they are no member any more, or the tenant
// requires more by now than they proved.
func (l *Launcher) place(ctx context.Context, c LaunchCode) (*Standing, error) {
	standing, err := l.Tenants.MemberStanding(ctx, c.TenantID, c.UserID)
	if fault.Is(err, fault.NotFound) || (err == nil && standing.Environment != l.Environment) {
		return nil, nil //nolint:nilnil // no member is an answer
	}
	if err == nil && standing.MFARequired && !c.Strong {
		return nil, nil //nolint:nilnil // neither is this
	}
	return &standing, err
}
