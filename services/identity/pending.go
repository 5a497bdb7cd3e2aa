package identity

import (
	"context"
	"errors"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

var errPending = errors.New("not there yet")

func (p *People) Register(ctx context.Context, d RegisterDraft, further func(...fault.Field) error) (Registration, error) {
	return Registration{}, errPending
}

func (p *People) VerifyEmail(ctx context.Context, userID, identifier string) error { return errPending }

func (p *People) RequestReset(ctx context.Context, email string) error { return errPending }

func (p *People) ResetPassword(ctx context.Context, userID, identifier, newPassword string, further func(...fault.Field) error) error {
	return errPending
}

func (p *People) SignIn(ctx context.Context, c Caller, email, password string) (Entered, error) {
	return Entered{}, errPending
}

func (p *People) SignInVerified(ctx context.Context, c Caller, userID string, methods ...string) (Entered, error) {
	return Entered{}, errPending
}

func (p *People) Challenge(ctx context.Context, id string) (Challenge, error) {
	return Challenge{}, errPending
}
func (p *People) SendCode(ctx context.Context, challengeID string) error { return errPending }
func (p *People) AnswerChallenge(ctx context.Context, c Caller, challengeID, code string) (Entered, error) {
	return Entered{}, errPending
}

func (p *People) StepUp(ctx context.Context, s SignIn, c Caller) (Challenge, error) {
	return Challenge{}, errPending
}

func (p *People) Browser(ctx context.Context, cookie string) (*SignIn, *User, error) {
	return nil, nil, errPending
}
func (p *People) SignOut(ctx context.Context, s SignIn) error { return errPending }
func (p *People) ChooseTenant(ctx context.Context, s SignIn, tenantID string) error {
	return errPending
}

func (p *People) Memberships(ctx context.Context, userID string) ([]Membership, error) {
	return nil, errPending
}

func (p *People) Sessions(ctx context.Context, s SignIn) ([]Session, error) { return nil, errPending }
func (p *People) EndSession(ctx context.Context, s SignIn, id string) error { return errPending }
func (p *People) UpdateProfile(ctx context.Context, userID, firstName, lastName string) error {
	return errPending
}

func (p *People) ChangePassword(ctx context.Context, s SignIn, c Caller, current, next string, further func(...fault.Field) error) error {
	return errPending
}

// AcceptInvitation: signIn is nil for a newcomer, whom draft then describes.
func (p *People) AcceptInvitation(ctx context.Context, s *SignIn, id, identifier string, d RegisterDraft, further func(...fault.Field) error) error {
	return errPending
}
