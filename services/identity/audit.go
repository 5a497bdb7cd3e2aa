package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// The actions that the audit trail tells of.
const (
	auditTokenMint    = "token.mint"
	auditKeyRevoke    = "key.revoke"
	auditClientCreate = "client.create"
	auditClientDelete = "client.delete"

	auditApplicationCreate = "application.create"
	auditApplicationDelete = "application.delete"
	auditLaunchCreate      = "launch.create"
	auditLaunchExchange    = "launch.exchange"

	auditSignInSuccess    = "sign_in.success"
	auditSignInFailure    = "sign_in.failure"
	auditSignInLocked     = "sign_in.locked"
	auditChallengeFailure = "challenge.failure"
	auditUserRegister     = "user.register"
	auditEmailVerify      = "email.verify"
	auditPasswordChange   = "password.change"
	auditResetRequest     = "password.reset.request"
	auditReset            = "password.reset"
	auditFactorAdd        = "factor.add"
	auditFactorRemove     = "factor.remove"
	auditInvite           = "member.invite"
	auditAccept           = "invitation.accept"
	auditWithdraw         = "invitation.withdraw"

	AuditSignOut        = "sign_out"
	AuditSignOutAll     = "sign_out.everywhere"
	AuditSessionEnd     = "session.end"
	AuditTokenGrant     = "token.grant" // a person's sign-in at a client
	AuditTokenReuse     = "token.reuse"
	AuditTenantSwitch   = "tenant.switch"
	AuditConsent        = "consent.grant"
	AuditProviderChange = "identity_provider.change"
	AuditProviderRemove = "identity_provider.remove"
	AuditIdentityLink   = "identity.link"
)

// entry tells of what is done in a tenant, in that tenant's own trail.
func (s *Service) entry(ctx context.Context, tenant, action string) audit.Entry {
	return audit.Of(ctx, s.Now(), s.NewID, action).In(tenant)
}

// EntryBy is the entry of what a user does, or somebody in their name, with a credential. It is of no tenant yet; one
// that stays so is about the user's account, and stands in the trails of all of the user's tenants (TrailEffect).
func EntryBy(ctx context.Context, now time.Time, newID func() (uuid.UUID, error), user, credential, action string) audit.Entry {
	return audit.Of(ctx, now, newID, action).In("").By(principal.Actor{Type: "user", ID: user}, credential)
}

func (p *People) entry(ctx context.Context, user, credential, action string) audit.Entry {
	return EntryBy(ctx, p.Now(), p.NewID, user, credential, action)
}

func (v *Verifier) entry(ctx context.Context, user, action string) audit.Entry {
	return EntryBy(ctx, v.Now(), v.NewID, user, "", action)
}

// within is the entry of what a browser's session does: the one organization that vouches for it, if one does, is all
// that may hear of it.
func (s SignIn) within(e audit.Entry) audit.Entry {
	if s.Federated() && s.TenantID != nil {
		return e.In(*s.TenantID)
	}
	return e
}

// TrailEffect is the kind of the outbox messages whose payload is an entry of no tenant. Which tenants its actor is a
// member of is asked afterwards: nobody waits for the tenant service to sign in, and the time that an answer takes does
// not tell whose account there is.
const TrailEffect = "audit.user"

// Trail brings what concerns a user into the trails of the user's tenants.
type Trail struct {
	// Memberships gives the tenants that a user belongs to.
	Memberships func(ctx context.Context, userID string) ([]Membership, error)
	// Keep queues entries for their trails.
	Keep func(ctx context.Context, entries ...audit.Entry) error
	Now  func() time.Time
}

// tenantAwaited is how long a user who belongs to no tenant may be one whose organization is still being made.
const tenantAwaited = 5 * time.Minute

var errNoTenantYet = errors.New("the user of an audit entry belongs to no tenant yet")

// Handle handles TrailEffect. A message that comes twice makes the same entries, of which a trail takes one.
func (t Trail) Handle(ctx context.Context, payload []byte) error {
	var e audit.Entry
	if err := json.Unmarshal(payload, &e); err != nil {
		return fmt.Errorf("read an audit entry: %w", err)
	}
	id, err := uuid.Parse(e.ID)
	if err != nil {
		return fmt.Errorf("read an audit entry: %w", err)
	}
	memberships, err := t.Memberships(ctx, e.Actor.ID)
	if err != nil {
		return err
	}
	if len(memberships) == 0 && t.Now().Sub(e.At) < tenantAwaited {
		return errNoTenantYet
	}
	tenants := make([]string, 0, len(memberships))
	for _, m := range memberships {
		tenants = append(tenants, m.TenantID)
	}
	next := 0
	return t.Keep(ctx, e.InEach(func() (uuid.UUID, error) {
		next++
		return uuid.NewSHA1(id, []byte(tenants[next-1])), nil
	}, tenants...)...)
}
