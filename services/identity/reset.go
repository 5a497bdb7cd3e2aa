package identity

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// RequestReset mails a link that sets a new password. Whether anybody is registered with the address cannot be told
// from the answer.
func (p *People) RequestReset(ctx context.Context, email string) error {
	if err := p.admit(ctx, "reset", p.Settings.ResetsPerAddress); err != nil {
		return err
	}
	may, err := p.mailable(ctx, LinkReset, email)
	if err != nil {
		return err
	}
	u, err := p.Users.FindUserByEmail(ctx, p.Settings.Environment, email)
	if err != nil {
		return err
	}
	known := u != nil
	if !known {
		u = &User{ID: nobody, Email: email}
	}
	link, identifier, err := p.newLink(u.ID, LinkReset, resetFor)
	if err != nil {
		return err
	}
	letter, err := p.Letter(LetterReset, Contents{
		To: u.Email, Name: u.FirstName, Link: p.Settings.PublicURL + "/user/public/verify-password-update/" + u.ID + "/" + identifier,
	}, resetFor)
	if err != nil {
		return err
	}
	if !known || !may {
		return p.Users.SendLetter(ctx, Letter{}) // nothing, which takes a trip too
	}
	if err := p.Links.KeepLink(ctx, link, letter, p.entry(ctx, u.ID, "", auditResetRequest)); err != nil {
		return err
	}
	p.Nudge()
	return nil
}

// nobody is the id of no user.
const nobody = "00000000-0000-0000-0000-000000000000"

// ResetPassword sets a new password by the link that was mailed, and ends all that the old one opened. Further are
// faults of the request that were found before.
func (p *People) ResetPassword(ctx context.Context, userID, identifier, newPassword string, further func(...fault.Field) error) error {
	link := presented(userID, LinkReset, identifier)
	u, err := p.presentedBy(ctx, link)
	if err != nil {
		return err
	}
	if err := further(p.newPasswordFaults(newPassword, u)...); err != nil {
		return err
	}
	if u == nil {
		return invalidLink()
	}
	change, err := p.passwordChange(ctx, *u, newPassword, p.entry(ctx, u.ID, "", auditReset))
	if err != nil {
		return err
	}
	change.Link = &link
	done, err := p.Users.ChangePassword(ctx, change)
	if err != nil {
		return err
	}
	if !done {
		return invalidLink()
	}
	p.Nudge()
	_ = p.free(ctx, u.Email) // who proved the address is no stranger; without the counters the refusals end by themselves
	return nil
}

// presentedBy gives the user of a link that holds; nil for any other.
func (p *People) presentedBy(ctx context.Context, link Link) (*User, error) {
	if !ValidID(link.UserID) {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	holds, err := p.Links.HasLink(ctx, link, p.now())
	if err != nil || !holds {
		return nil, err
	}
	u, err := p.Users.FindUser(ctx, link.UserID)
	if u != nil && u.Environment != p.Settings.Environment {
		u = nil
	}
	return u, err
}

// newPasswordFaults tells what is wrong with a new password of the user, or of nobody.
func (p *People) newPasswordFaults(text string, u *User) []fault.Field {
	if text == "" {
		return []fault.Field{wrong("newPassword", "required", "is required")}
	}
	var personal []string
	if u != nil {
		personal = emailWords(u.Email)
	}
	return passwordFaults(p.Common, "newPassword", text, personal...)
}

func (p *People) passwordChange(ctx context.Context, u User, text string, e audit.Entry) (PasswordChange, error) {
	hash, err := p.Passwords.Hash(ctx, text)
	if err != nil {
		return PasswordChange{}, err
	}
	letter, err := p.Letter(LetterPasswordChanged, Contents{To: u.Email, Name: u.FirstName, Link: p.Settings.PublicURL + "/forgot-password"}, noticeFor)
	return PasswordChange{UserID: u.ID, Hash: hash, Letter: letter, Entry: e, Now: p.now()}, err
}

// ChangePassword sets a new password for a user who is signed in and knows the current one. All other sessions end.
func (p *People) ChangePassword(ctx context.Context, s SignIn, c Caller, current, next string, further func(...fault.Field) error) error {
	u, err := p.Users.FindUser(ctx, s.UserID)
	if err != nil {
		return err
	}
	if err := further(p.newPasswordFaults(next, u)...); err != nil {
		return err
	}
	if u == nil {
		return wrongCredentials()
	}
	if err := p.prove(ctx, c, u.Email, current, u, auditPasswordChange); err != nil {
		return err
	}
	change, err := p.passwordChange(ctx, *u, next, p.entry(ctx, u.ID, s.ID, auditPasswordChange))
	if err != nil {
		return err
	}
	change.Keep = &s.ID
	if _, err = p.Users.ChangePassword(ctx, change); err != nil {
		return err
	}
	p.Nudge()
	return nil
}
