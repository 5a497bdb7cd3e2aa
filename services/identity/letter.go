package identity

import (
	"encoding/json"
	"fmt"
	"time"
)

// The letters that are mailed.
const (
	LetterVerify          = "verify"           // Link proves the address
	LetterKnown           = "known"            // somebody registered with an address that is registered already
	LetterReset           = "reset"            // Link sets a new password
	LetterPasswordChanged = "password-changed" // a notice
	LetterInvitation      = "invitation"       // Link accepts; Organization asks
	LetterCode            = "code"             // Code answers a challenge
	LetterFactorAdded     = "factor-added"     // a notice: Factor can be signed in with from now on
	LetterFactorRemoved   = "factor-removed"   // a notice
	LetterRecoveryCodes   = "recovery-codes"   // a notice: new ones took the place of the old
)

// LetterEffect is the kind of the outbox messages whose payload is a Letter.
const LetterEffect = "mail"

// Letter is a mail to be sent, as it is kept until then: whom it goes to and what it says are encrypted.
type Letter struct {
	ID       string    `json:"id"` // the mail's own, so that one that is sent twice can be told
	Template string    `json:"template"`
	Sealed   []byte    `json:"sealed"` // Contents
	Until    time.Time `json:"until"`  // it is of no use later, and not sent any more
}

// Contents is what a letter says.
type Contents struct {
	To           string `json:"to"`
	Name         string `json:"name,omitempty"`
	Link         string `json:"link,omitempty"`
	Code         string `json:"code,omitempty"`
	Organization string `json:"organization,omitempty"`
	Factor       string `json:"factor,omitempty"`
}

// LetterPurpose is what a letter's contents are sealed for.
func LetterPurpose(id string) string { return "letter/" + id }

// Letter seals the contents of a new letter, which is of use for so long. A store's verb takes it along with the change
// that it is about.
func (p *People) Letter(template string, c Contents, useful time.Duration) (Letter, error) {
	id, err := p.newID()
	if err != nil {
		return Letter{}, err
	}
	plain, err := json.Marshal(c)
	if err != nil {
		return Letter{}, fmt.Errorf("write letter: %w", err)
	}
	sealed, err := p.Sealer.Seal(plain, LetterPurpose(id))
	return Letter{ID: id, Template: template, Sealed: sealed, Until: p.now().Add(useful)}, err
}
