package identity

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
)

// production is the environment in which real patients' data lives.
const production = "production"

// longestAgent is what is kept of a User-Agent, in bytes.
const longestAgent = 300

// wrongCredentials is the one answer to an address and a password that do not belong together.
func wrongCredentials() error {
	return fault.New(fault.Unauthenticated, "wrong_credentials", "The e-mail address or the password is wrong.")
}

// prove checks a password, within the bounds of guessing, and keeps that it was wrong under the action. Nobody's password
// is wrong, and takes as long.
func (p *People) prove(ctx context.Context, c Caller, email, text string, u *User, action string) error {
	try, err := p.begin(ctx, c, email, u)
	if fault.Is(err, fault.RateLimited) {
		return p.locked(ctx, email, u, err)
	}
	if err != nil {
		return err
	}
	if u == nil {
		if err := p.Passwords.Idle(ctx, text); err != nil {
			return err
		}
		return p.failed(ctx, u, action)
	}
	right, err := p.Passwords.Matches(ctx, u.PasswordHash, text)
	if err != nil {
		return err
	}
	if !right {
		return p.failed(ctx, u, action)
	}
	return try.right(ctx)
}

// failed keeps that a password was wrong, which it tells. Of nobody it counts it.
func (p *People) failed(ctx context.Context, u *User, action string) error {
	var e audit.Entry
	switch {
	case u == nil && p.Strangers != nil:
		p.Strangers.Add(ctx, 1)
	case u != nil:
		e = p.entry(ctx, u.ID, "", action).Failed()
	}
	if err := p.Users.Note(ctx, e); err != nil {
		return err
	}
	return wrongCredentials()
}

// locked keeps that an account's password cannot be tried for a while: once for all that are refused in it.
func (p *People) locked(ctx context.Context, email string, u *User, refused error) error {
	wait, err := p.Limits.Take(ctx, "audit:locked:"+p.account(email), 1, failureSpan)
	if err != nil {
		return err
	}
	var e audit.Entry
	if u != nil && wait == 0 {
		e = p.entry(ctx, u.ID, "", auditSignInLocked).Failed()
	}
	if err := p.Users.Note(ctx, e); err != nil {
		return err
	}
	return refused
}

// SignIn begins a session for who knows the password, or asks for a second factor first.
func (p *People) SignIn(ctx context.Context, c Caller, email, text string) (Entered, error) {
	if len(text) > longestTyped || len(email) > longestEmail {
		return Entered{}, wrongCredentials() // nobody's, whose time tells nothing
	}
	u, err := p.Users.FindUserByEmail(ctx, p.Settings.Environment, email)
	if err != nil {
		return Entered{}, err
	}
	if err := p.prove(ctx, c, email, text, u, auditSignInFailure); err != nil {
		return Entered{}, err
	}
	if u.EmailVerifiedAt == nil {
		return Entered{}, p.unverified(ctx, *u)
	}
	return p.enter(ctx, c, *u, ByPassword)
}

// longestTyped is the longest password that is looked at, in bytes: the longest allowed, in the widest code points.
const longestTyped = 4096

// unverified is for who knows the password of an address that was never proved: they are mailed a new link.
func (p *People) unverified(ctx context.Context, u User) error {
	may, err := p.mailable(ctx, LinkVerify, u.Email)
	if err != nil {
		return err
	}
	if may {
		link, letter, err := p.verification(u)
		if err != nil {
			return err
		}
		if err := p.Links.KeepLink(ctx, link, letter, audit.Entry{}); err != nil {
			return err
		}
		p.Nudge()
	}
	return fault.New(fault.Denied, "email_unverified", "The e-mail address has still to be confirmed: follow the link that was mailed.")
}

// SignInVerified begins a session for a user whom a passkey or an organization's provider has proved.
func (p *People) SignInVerified(ctx context.Context, c Caller, userID string, methods ...string) (Entered, error) {
	u, err := p.Users.FindUser(ctx, userID)
	if err != nil {
		return Entered{}, err
	}
	if u == nil || u.Environment != p.Settings.Environment {
		return Entered{}, wrongCredentials()
	}
	if u.EmailVerifiedAt == nil {
		return Entered{}, p.unverified(ctx, *u)
	}
	return p.enter(ctx, c, *u, methods...)
}

// enter begins a session, or asks for the second factor that the user or an organization wants.
func (p *People) enter(ctx context.Context, c Caller, u User, methods ...string) (Entered, error) {
	if !(SignIn{Methods: methods}).Strong() {
		memberships, err := p.Organizations.Memberships(ctx, u.ID)
		if err != nil {
			return Entered{}, err
		}
		ways, err := p.Second.Required(ctx, u, memberships)
		if err != nil {
			return Entered{}, err
		}
		if len(ways) > 0 {
			challenge, err := p.Second.NewChallenge(ctx, u, c, ways, Carry{Methods: methods, Agent: clip(c.Agent)})
			if err != nil {
				return Entered{}, err
			}
			return Entered{Challenge: &challenge}, nil
		}
	}
	return p.start(ctx, c, u, methods)
}

// start begins a session with a new cookie. A browser that nobody knows becomes known.
func (p *People) start(ctx context.Context, c Caller, u User, methods []string) (Entered, error) {
	id, err := p.newID()
	if err != nil {
		return Entered{}, err
	}
	cookie, hash, err := p.newCookie()
	if err != nil {
		return Entered{}, err
	}
	now := p.now()
	s := SignIn{
		ID: id, UserID: u.ID, Methods: methods, Agent: clip(c.Agent), CreatedAt: now, SeenAt: now,
		ExpiresAt: now.Add(p.Settings.SignInFor),
	}
	done, err := p.SignIns.KeepSignIn(ctx, s, hash, u.PasswordHash, p.entry(ctx, u.ID, s.ID, auditSignInSuccess))
	if err != nil {
		return Entered{}, err
	}
	if !done {
		return Entered{}, wrongCredentials()
	}
	entered := Entered{SignIn: s, Cookie: cookie}
	if _, known := p.knownDevice(c.Device, &u); !known {
		entered.Device, err = p.NewDevice(u.ID)
	}
	return entered, err
}

// newCookie makes a browser's secret, and what is kept of it.
func (p *People) newCookie() (cookie string, hash []byte, err error) {
	cookie, err = secret.Random(p.Random)
	return cookie, cookieHash(cookie), err
}

func cookieHash(cookie string) []byte {
	sum := sha256.Sum256([]byte(cookie))
	return sum[:]
}

func clip(agent string) string { return agent[:min(len(agent), longestAgent)] }

// Challenge gives a challenge that is still open.
func (p *People) Challenge(ctx context.Context, id string) (Challenge, error) {
	return p.Second.Challenge(ctx, id)
}

// SendCode mails the code of a challenge, whatever its id is.
func (p *People) SendCode(ctx context.Context, challengeID string) error {
	return p.Second.SendCode(ctx, challengeID)
}

// AnswerChallenge goes on where the challenge was asked: it begins the session, or upgrades the one that there is.
func (p *People) AnswerChallenge(ctx context.Context, c Caller, challengeID, code string) (Entered, error) {
	userID, method, carry, err := p.Second.Answer(ctx, challengeID, code)
	if err != nil {
		return Entered{}, err
	}
	return p.answered(ctx, c, userID, method, carry)
}

// answered goes on with what a challenge carried.
func (p *People) answered(ctx context.Context, c Caller, userID, method string, carry Carry) (Entered, error) {
	u, err := p.Users.FindUser(ctx, userID)
	if err != nil {
		return Entered{}, err
	}
	if u == nil {
		return Entered{}, wrongCredentials()
	}
	methods := carry.Methods
	if !slices.Contains(methods, method) {
		methods = append(slices.Clone(methods), method)
	}
	if !carry.StepUp() {
		return p.start(ctx, c, *u, methods)
	}
	return p.upgrade(ctx, c, *u, carry.SignInID, methods)
}

// upgrade gives a session a new cookie, since whoever planted or saw the old one must not get what was proved now.
func (p *People) upgrade(ctx context.Context, c Caller, u User, id string, methods []string) (Entered, error) {
	cookie, hash, err := p.newCookie()
	if err != nil {
		return Entered{}, err
	}
	s, err := p.SignIns.UpgradeSignIn(ctx, u.ID, id, hash, methods, p.now())
	if err != nil {
		return Entered{}, err
	}
	if s == nil {
		return Entered{}, SignedOut()
	}
	entered := Entered{SignIn: *s, Cookie: cookie}
	if _, known := p.knownDevice(c.Device, &u); !known {
		entered.Device, err = p.NewDevice(u.ID)
	}
	return entered, err
}

// SignedOut is the fault of a browser's session that has ended.
func SignedOut() error {
	return fault.New(fault.Unauthenticated, "signed_out", "The session has ended; sign in again.")
}

// StepUp asks a user who is signed in to prove more, as an organization that requires a second factor would.
func (p *People) StepUp(ctx context.Context, s SignIn, c Caller) (Challenge, error) {
	u, err := p.Users.FindUser(ctx, s.UserID)
	if err != nil {
		return Challenge{}, err
	}
	if u == nil {
		return Challenge{}, wrongCredentials()
	}
	ways, err := p.Second.Required(ctx, *u, []Membership{{MFARequired: true}})
	if err != nil {
		return Challenge{}, err
	}
	return p.Second.NewChallenge(ctx, *u, c, ways, Carry{SignInID: s.ID, Methods: s.Methods, Agent: clip(c.Agent)})
}
