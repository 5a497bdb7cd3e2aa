package identity

import (
	"context"
	"encoding/base32"
	"fmt"
	"io"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// A recovery code is 80 random bits in base32, shown as XXXX-XXXX-XXXX-XXXX. They are random and not chosen, so a keyed
// hash of one is as good as a slow one.
const (
	recoveryBytes  = 10
	recoveryLength = 16
	recoveryGroup  = 4
)

// likeness reads the digits that the alphabet lacks as the letters that they look like.
//
//nolint:gochecknoglobals // a constant, which Go cannot say of a replacer
var likeness = strings.NewReplacer("0", "O", "1", "I", "8", "B")

// recoveryForm reports whether a text, without its hyphens, has the form of a recovery code.
func recoveryForm(code string) bool {
	_, err := base32.StdEncoding.DecodeString(plainRecovery(code))
	return len(code) == recoveryLength && err == nil
}

func plainRecovery(code string) string { return likeness.Replace(strings.ToUpper(code)) }

// recoveryHash binds a code to its user.
func (v *Verifier) recoveryHash(user, code string) []byte {
	return v.hashed("recovery-code", user+plainRecovery(code))
}

// newRecoveryCodes makes a set: to show once, and to keep.
func (v *Verifier) newRecoveryCodes(user string) (show []string, keep [][]byte, err error) {
	for range recoveryCodes {
		raw := make([]byte, recoveryBytes)
		if _, err := io.ReadFull(v.Random, raw); err != nil {
			return nil, nil, fmt.Errorf("read randomness: %w", err)
		}
		code := base32.StdEncoding.EncodeToString(raw)
		keep = append(keep, v.recoveryHash(user, code))
		var groups []string
		for ; code != ""; code = code[recoveryGroup:] {
			groups = append(groups, code[:recoveryGroup])
		}
		show = append(show, strings.Join(groups, "-"))
	}
	return show, keep, nil
}

// NewRecoveryCodes puts ten new codes in the place of those that there were, and shows them this once.
func (v *Verifier) NewRecoveryCodes(ctx context.Context, user string) ([]string, error) {
	p, err := v.Store.Proofs(ctx, user)
	if err != nil {
		return nil, err
	}
	if !p.enrolled() {
		return nil, fault.New(fault.Conflict, "no_factor", "Recovery codes stand in for an authenticator app or a passkey; set one up first.")
	}
	show, keep, err := v.newRecoveryCodes(user)
	if err != nil {
		return nil, err
	}
	letter, err := v.notice(p, LetterRecoveryCodes, "")
	if err != nil {
		return nil, err
	}
	if err := v.Store.ReplaceRecoveryCodes(ctx, user, keep, letter, v.entry(ctx, user, auditFactorAdd)); err != nil {
		return nil, err
	}
	v.Nudge()
	return show, nil
}
