package identity

import (
	"context"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
)

// RegisterDraft is what a new user is asked to be. Nil members were not given.
type RegisterDraft struct {
	Email            *string
	Password         *string
	FirstName        *string
	LastName         *string
	OrganizationName *string
}

// Registration is what a registration came to. Of an address that is registered already the ids are invented.
type Registration struct {
	UserID   string
	TenantID string
	Message  string
}

// NewTenant is a tenant to be made, of which the user is the Owner.
type NewTenant struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	OwnerID string `json:"ownerId"`
}

// TenantEffect is the kind of the outbox messages whose payload is a NewTenant.
const TenantEffect = "tenant.create"

// required tells of a member that was not given.
func required(faults []fault.Field, name string, value *string) ([]fault.Field, bool) {
	if value == nil || *value == "" {
		return append(faults, wrong(name, "required", "is required")), false
	}
	return faults, true
}

// faults tells every rule that the draft breaks.
func (d RegisterDraft) faults(common *password.Common) []fault.Field {
	faults, given := clean(nil, "organizationName", d.OrganizationName, body.NameLength)
	if !given {
		return append(d.personFaults(common), faults...)
	}
	return append(d.personFaults(common, *d.OrganizationName), faults...)
}

// personFaults tells the rules that the draft of somebody without an organization breaks. Personal are words that
// cannot be the password.
func (d RegisterDraft) personFaults(common *password.Common, personal ...string) []fault.Field {
	faults, given := clean(nil, "email", d.Email, body.TextLength)
	if given {
		if !plausibleEmail(*d.Email) {
			faults = append(faults, wrong("email", "invalid_email", "must be an e-mail address"))
		}
		personal = append(personal, emailWords(*d.Email)...)
	}
	faults, _ = clean(faults, "firstName", d.FirstName, body.NameLength)
	faults, _ = clean(faults, "lastName", d.LastName, body.NameLength)
	if faults, given = required(faults, "password", d.Password); given {
		faults = append(faults, passwordFaults(common, "password", *d.Password, personal...)...)
	}
	return faults
}

// clean brings a text that is required to the form in which texts are kept, in its place.
func clean(faults []fault.Field, name string, value *string, limit int) ([]fault.Field, bool) {
	faults, given := required(faults, name, value)
	if !given {
		return faults, false
	}
	text, code, message := body.CleanText(*value, limit)
	if code != "" {
		return append(faults, wrong(name, code, message)), false
	}
	*value = text
	return required(faults, name, value)
}

// emailWords are what nobody's password may be, knowing the address.
func emailWords(email string) []string {
	local, _, _ := strings.Cut(email, "@")
	return []string{email, local}
}

func passwordFaults(common *password.Common, field, text string, personal ...string) []fault.Field {
	if code, message := common.Fault(text, personal...); code != "" {
		return []fault.Field{wrong(field, code, message)}
	}
	return nil
}

// Register makes a user and, soon after, the organization that the user owns. An address that is registered gets the
// same answer for the same work, and its owner a mail.
func (p *People) Register(ctx context.Context, d RegisterDraft, further func(...fault.Field) error) (Registration, error) {
	if p.Settings.Environment == production {
		return Registration{}, fault.New(fault.Denied, "registration_closed", "In production people are invited; nobody can register by themselves.")
	}
	if err := further(d.faults(p.Common)...); err != nil {
		return Registration{}, err
	}
	if err := p.admit(ctx, "register", p.Settings.RegistrationsPerAddress); err != nil {
		return Registration{}, err
	}
	u, err := p.newcomer(ctx, d)
	if err != nil {
		return Registration{}, err
	}
	tenantID, err := p.newID()
	if err != nil {
		return Registration{}, err
	}
	if err := p.register(ctx, u, NewTenant{ID: tenantID, Name: *d.OrganizationName, OwnerID: u.ID}); err != nil {
		return Registration{}, err
	}
	p.Nudge()
	return Registration{
		UserID: u.ID, TenantID: tenantID,
		Message: "A mail is on its way to the address. Follow its link within 24 hours, then sign in.",
	}, nil
}

// newcomer makes a user of a draft without faults.
func (p *People) newcomer(ctx context.Context, d RegisterDraft) (User, error) {
	hash, err := p.Passwords.Hash(ctx, *d.Password)
	if err != nil {
		return User{}, err
	}
	id, err := p.newID()
	return User{
		ID: id, Environment: p.Settings.Environment, Email: *d.Email, PasswordHash: hash,
		FirstName: *d.FirstName, LastName: *d.LastName, CreatedAt: p.now(),
	}, err
}

// register stores a user, or writes to the owner of the address.
func (p *People) register(ctx context.Context, u User, organization NewTenant) error {
	may, err := p.mailable(ctx, LinkVerify, u.Email)
	if err != nil {
		return err
	}
	known, err := p.Users.FindUserByEmail(ctx, u.Environment, u.Email)
	if err != nil {
		return err
	}
	if known == nil {
		link, letter, err := p.verification(u)
		if err != nil {
			return err
		}
		if done, err := p.Users.Register(ctx, u, link, organization, letter, p.entry(ctx, u.ID, "", auditUserRegister).In(organization.ID)); err != nil || done {
			return err
		}
		// Somebody else registered the address in this moment.
		if known, err = p.Users.FindUserByEmail(ctx, u.Environment, u.Email); err != nil || known == nil {
			return err
		}
	}
	return p.registerKnown(ctx, *known, u, may)
}

// registerKnown is for an address that is registered. Until it is proved, what it is registered with is what was said
// last: who registers somebody else's address first must not choose the password that its owner later proves.
func (p *People) registerKnown(ctx context.Context, known, u User, may bool) error {
	if known.EmailVerifiedAt == nil {
		u.ID, u.Email = known.ID, known.Email
		link, letter, err := p.verification(u)
		if err != nil {
			return err
		}
		if !may { // nor may a link that is on its way prove the address for what was said after it
			return p.Users.SendLetter(ctx, Letter{})
		}
		return p.Users.RegisterAgain(ctx, u, link, letter, p.entry(ctx, u.ID, "", auditUserRegister))
	}
	letter, err := p.Letter(LetterKnown, Contents{To: known.Email, Name: known.FirstName, Link: p.Settings.PublicURL + "/forgot-password"}, noticeFor)
	if err != nil {
		return err
	}
	if !may {
		letter = Letter{}
	}
	return p.Users.SendLetter(ctx, letter)
}

// noticeFor is how long a notice is worth sending.
const noticeFor = 24 * time.Hour

// verification makes a link that proves a user's address, and the letter that carries it.
func (p *People) verification(u User) (Link, Letter, error) {
	link, identifier, err := p.newLink(u.ID, LinkVerify, verifyFor)
	if err != nil {
		return Link{}, Letter{}, err
	}
	letter, err := p.Letter(LetterVerify, Contents{
		To: u.Email, Name: u.FirstName, Link: p.Settings.PublicURL + "/user/public/verify-email/" + u.ID + "/" + identifier,
	}, verifyFor)
	return link, letter, err
}

// VerifyEmail proves a user's address by the link that was mailed there.
func (p *People) VerifyEmail(ctx context.Context, userID, identifier string) error {
	if !ValidID(userID) {
		return invalidLink()
	}
	done, err := p.Links.SpendVerification(ctx, presented(userID, LinkVerify, identifier), p.now(), p.entry(ctx, userID, "", auditEmailVerify))
	if err == nil && !done {
		err = invalidLink()
	}
	return err
}
