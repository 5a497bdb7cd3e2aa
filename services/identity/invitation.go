package identity

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const invitedFor = 7 * 24 * time.Hour

// Invitation asks the owner of an address to become a member of a tenant.
type Invitation struct {
	ID          string
	TenantID    string
	Email       string
	RoleIDs     []string
	Environment string
	Hash        []byte // of the identifier in its link
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// InvitationDraft is whom to invite as what. Roles are ids or names.
type InvitationDraft struct {
	Email string
	Roles []string
}

// NewMember is what an accepted invitation brings about.
type NewMember struct {
	TenantID string   `json:"tenantId"`
	UserID   string   `json:"userId"`
	RoleIDs  []string `json:"roleIds"`
}

// MemberEffect is the kind of the outbox messages whose payload is a NewMember.
const MemberEffect = "tenant.member"

// called finds roles by ids or names, each once. Of a text that is neither it tells a fault.
func called(all []Role, texts []string) (found []Role, faults []fault.Field) {
	for _, r := range all {
		if slices.ContainsFunc(texts, func(t string) bool { return t == r.ID || strings.EqualFold(t, r.Name) }) {
			found = append(found, r)
		}
	}
	for _, t := range texts {
		if !slices.ContainsFunc(found, func(r Role) bool { return t == r.ID || strings.EqualFold(t, r.Name) }) {
			return nil, []fault.Field{wrong("roles", "unknown_role", "names a role that does not exist")}
		}
	}
	if len(texts) == 0 {
		return nil, []fault.Field{wrong("roles", "required", "must name at least one role")}
	}
	return found, nil
}

// givable is nil when the roles stand for no more than the caller may do.
func givable(by principal.Principal, roles []Role) error {
	if !by.Permissions.Has(permitted(roles)) {
		return fault.New(fault.Denied, "permission_denied", "Only roles can be given that stand for no more than the caller may do.")
	}
	return nil
}

// Answer makes the body that a repeat of an invitation under the same idempotency key is answered with.
type Answer func(i Invitation, roles []Role) ([]byte, error)

// Invited is an invitation and the roles that it offers, or the record of the request that this one repeats.
type Invited struct {
	Invitation

	Roles  []Role
	Repeat *idempotency.Record
}

// Invite mails an invitation into the caller's tenant. It does not tell whether the address is a user's. Further are
// faults of the request that were found before.
func (p *People) Invite(ctx context.Context, d InvitationDraft, key idempotency.Key, answer Answer, further func(...fault.Field) error) (Invited, error) {
	by, err := principal.Require(ctx, principal.UserManage)
	if err != nil {
		return Invited{}, err
	}
	all, err := p.Organizations.Roles(ctx)
	if err != nil {
		return Invited{}, err
	}
	roles, faults := called(all, d.Roles)
	if d.Email == "" {
		faults = append(faults, wrong("email", "required", "is required"))
	} else if !plausibleEmail(d.Email) {
		faults = append(faults, wrong("email", "invalid_email", "must be an e-mail address"))
	}
	if err := further(faults...); err != nil {
		return Invited{}, err
	}
	if err := givable(by, roles); err != nil {
		return Invited{}, err
	}
	if err := refuse(p.Limits.Take(ctx, "mail:invitations:"+by.TenantID, mostInvitations, mailSpan)); err != nil {
		return Invited{}, err
	}
	if err := refuse(p.Limits.Take(ctx, "mail:invitation:"+by.TenantID+":"+p.account(d.Email), mostMails, mailSpan)); err != nil {
		return Invited{}, err
	}
	i, letter, err := p.invitation(ctx, by.TenantID, d.Email, roles)
	if err != nil {
		return Invited{}, err
	}
	body, err := answer(i, roles)
	if err != nil {
		return Invited{}, err
	}
	repeat, err := p.Invitations.Invite(ctx, i, letter, key, body, audit.Of(ctx, p.Now(), p.NewID, auditInvite))
	if err != nil {
		return Invited{}, err
	}
	p.Nudge()
	return Invited{Invitation: i, Roles: roles, Repeat: repeat}, nil
}

// invitation makes an invitation and its letter.
func (p *People) invitation(ctx context.Context, tenantID, email string, roles []Role) (Invitation, Letter, error) {
	id, err := p.newID()
	if err != nil {
		return Invitation{}, Letter{}, err
	}
	link, identifier, err := p.newLink(id, linkInvitation, invitedFor)
	if err != nil {
		return Invitation{}, Letter{}, err
	}
	organization, err := p.Organizations.TenantName(ctx, tenantID)
	if err != nil {
		return Invitation{}, Letter{}, err
	}
	letter, err := p.Letter(LetterInvitation, Contents{
		To: email, Organization: organization, Link: p.Settings.PublicURL + "/invitation/" + id + "/" + identifier,
	}, invitedFor)
	return Invitation{
		ID: id, TenantID: tenantID, Email: email, RoleIDs: roleIDs(roles), Environment: p.Settings.Environment,
		Hash: link.Hash, CreatedAt: p.now(), ExpiresAt: link.ExpiresAt,
	}, letter, err
}

// InvitationList is a page of invitations, and the roles to name them by.
type InvitationList struct {
	List  []Invitation
	Roles []Role
	Total int64
}

// ListInvitations gives a page of the caller's tenant's invitations that nobody has accepted yet.
func (p *People) ListInvitations(ctx context.Context, part page.Request) (InvitationList, error) {
	by, err := principal.Require(ctx, principal.UserManage)
	if err != nil {
		return InvitationList{}, err
	}
	roles, err := p.Organizations.Roles(ctx)
	if err != nil {
		return InvitationList{}, err
	}
	list, total, err := p.Invitations.ListInvitations(ctx, by.TenantID, part, p.now())
	return InvitationList{List: list, Roles: roles, Total: total}, err
}

// DeleteInvitation withdraws an invitation of the caller's tenant.
func (p *People) DeleteInvitation(ctx context.Context, id string) error {
	by, err := principal.Require(ctx, principal.UserManage)
	if err != nil {
		return err
	}
	none := fault.New(fault.NotFound, "invitation_not_found", "There is no such invitation.")
	if !ValidID(id) {
		return none
	}
	done, err := p.Invitations.DeleteInvitation(ctx, by.TenantID, id, audit.Of(ctx, p.Now(), p.NewID, auditWithdraw))
	if err == nil && !done {
		err = none
	}
	return err
}

// Offer is an invitation as its link's holder sees it.
type Offer struct {
	Organization string // its name
	Email        string // that was invited
}

// Offered reads the invitation of a link, and spends nothing. Every link that does not hold is the same fault.
func (p *People) Offered(ctx context.Context, id, identifier string) (Offer, error) {
	i, err := p.invited(ctx, id, identifier)
	if err != nil {
		return Offer{}, err
	}
	name, err := p.Organizations.TenantName(ctx, i.TenantID)
	if fault.Is(err, fault.NotFound) {
		err = invalidLink() // there is nothing left to join
	}
	return Offer{Organization: name, Email: i.Email}, err
}

// AcceptInvitation makes somebody a member: who is signed in with the address that was invited, or, with s nil, a
// newcomer, whom the draft describes but for the address, which the mail has proved. Further are faults that were found
// before.
func (p *People) AcceptInvitation(ctx context.Context, s *SignIn, id, identifier string, d RegisterDraft, further func(...fault.Field) error) error {
	i, err := p.invited(ctx, id, identifier)
	if err != nil {
		return err
	}
	if s != nil {
		return p.join(ctx, *s, *i)
	}
	return p.joinAnew(ctx, *i, d, further)
}

// invited gives the invitation of a link that holds.
func (p *People) invited(ctx context.Context, id, identifier string) (*Invitation, error) {
	if !ValidID(id) {
		return nil, invalidLink()
	}
	i, err := p.Invitations.FindInvitation(ctx, id, presented(id, linkInvitation, identifier).Hash, p.now())
	if err == nil && (i == nil || i.Environment != p.Settings.Environment) {
		err = invalidLink()
	}
	return i, err
}

// join adds what was offered to what the user may do there already.
func (p *People) join(ctx context.Context, s SignIn, i Invitation) error {
	if !s.Admits(i.TenantID) {
		return Confined()
	}
	u, err := p.Users.FindUser(ctx, s.UserID)
	if err != nil {
		return err
	}
	if u == nil || u.EmailVerifiedAt == nil || EmailKey(u.Email) != EmailKey(i.Email) {
		return fault.New(fault.Denied, "another_address", "The invitation is for another e-mail address: sign in with that one.")
	}
	memberships, err := p.Organizations.Memberships(ctx, u.ID)
	if err != nil {
		return err
	}
	roles := slices.Clone(i.RoleIDs)
	for _, m := range memberships {
		if m.TenantID == i.TenantID {
			roles = append(roles, roleIDs(m.Roles)...)
		}
	}
	slices.Sort(roles)
	return p.accept(ctx, i, u.ID, slices.Compact(roles), nil)
}

// joinAnew registers a newcomer under the address that was invited.
func (p *People) joinAnew(ctx context.Context, i Invitation, d RegisterDraft, further func(...fault.Field) error) error {
	d.Email = &i.Email
	if err := further(d.personFaults(p.Common)...); err != nil {
		return err
	}
	known, err := p.Users.FindUserByEmail(ctx, p.Settings.Environment, i.Email)
	if err != nil {
		return err
	}
	if known != nil && known.EmailVerifiedAt != nil {
		return fault.New(fault.Conflict, "sign_in_first", "There is an account with this address: sign in to accept the invitation.")
	}
	u, err := p.newcomer(ctx, d)
	if err != nil {
		return err
	}
	u.EmailVerifiedAt = &u.CreatedAt
	if known != nil { // somebody registered the address and never proved it
		u.ID = known.ID
	}
	return p.accept(ctx, i, u.ID, i.RoleIDs, &u)
}

func (p *People) accept(ctx context.Context, i Invitation, userID string, roles []string, newcomer *User) error {
	done, err := p.Invitations.Accept(ctx, i, userID, roles, newcomer, p.entry(ctx, userID, "", auditAccept).In(i.TenantID))
	if err == nil && !done {
		err = invalidLink()
	}
	if err == nil {
		p.Nudge()
	}
	return err
}
