package identity

import "context"

// SecondFactor is what people prove who they are by besides the password.
type SecondFactor interface {
	// Required gives the ways, the best first, in which the user has to answer a challenge before a session begins;
	// none when the password is enough: neither has the user a factor nor does one of the memberships require it.
	Required(ctx context.Context, user User, memberships []Membership) (methods []string, err error)
	// NewChallenge asks the user for one of the methods. Carry comes back with the answer.
	NewChallenge(ctx context.Context, user User, c Caller, methods []string, carry Carry) (Challenge, error)
	// Challenge gives a challenge that is still open; else a fault of kind NotFound.
	Challenge(ctx context.Context, id string) (Challenge, error)
	// SendCode mails six digits, if the challenge is open, takes them, and not too many were sent. Whether it did cannot
	// be told from the answer.
	SendCode(ctx context.Context, id string) error
	// Answer spends a challenge by a code. Method is how a SignIn names it (ByOneTime, ByMail). A code that is wrong is a
	// fault of kind Unauthenticated, code wrong_code.
	Answer(ctx context.Context, id, code string) (userID, method string, carry Carry, err error)
}

// Carry is what sign-in needs to know to go on once a challenge is answered.
type Carry struct {
	SignInID string   `json:"signInId,omitempty"` // of the session to be upgraded; "" begins one
	Methods  []string `json:"methods,omitempty"`  // that stood behind it so far
	Agent    string   `json:"agent,omitempty"`    // the browser that asked, as Caller has it
}

// StepUp reports whether the answer upgrades a session, rather than to begin one.
func (c Carry) StepUp() bool { return c.SignInID != "" }
