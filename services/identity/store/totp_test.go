package store_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

func TestSettingUpAnAuthenticatorApp(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	if _, err := v.ConfirmTOTP(t.Context(), u.ID, "123456"); fault.Of(err).Code != "not_begun" {
		t.Errorf("confirmed nothing: %v", err)
	}
	first, err := v.BeginTOTP(t.Context(), u.ID)
	check(t, err)
	second, err := v.BeginTOTP(t.Context(), u.ID)
	check(t, err)
	if first.Secret == second.Secret || !strings.Contains(second.URI, "Patient%20Mesh:") || len(second.QR) == 0 {
		t.Errorf("%+v", second)
	}
	if _, err := v.ConfirmTOTP(t.Context(), u.ID, v.code(t, first.Secret)); !fault.Is(err, fault.Invalid) {
		t.Errorf("confirmed by the secret that was replaced: %v", err)
	}
	if f, err := v.Factors(t.Context(), u.ID); err != nil || f.TOTP {
		t.Errorf("counts before it is confirmed: %+v, %v", f, err)
	}
	recovery, err := v.ConfirmTOTP(t.Context(), u.ID, v.code(t, second.Secret))
	if err != nil || len(recovery) != 10 || !regexp.MustCompile(`^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$`).MatchString(recovery[0]) {
		t.Fatalf("%v, %v", recovery, err)
	}
	if f, err := v.Factors(t.Context(), u.ID); err != nil || !f.TOTP || f.RecoveryCodes != 10 {
		t.Errorf("%+v, %v", f, err)
	}
	if sent, letter := v.posted(t); sent != 1 || letter.To != u.Email || letter.Factor != "an authenticator app" {
		t.Errorf("%d letters, %+v", sent, letter)
	}
	if _, err := v.BeginTOTP(t.Context(), u.ID); !fault.Is(err, fault.Conflict) || fault.Of(err).Code != "already_enrolled" {
		t.Errorf("begun again: %v", err)
	}
	if _, err := v.ConfirmTOTP(t.Context(), u.ID, v.code(t, second.Secret)); fault.Of(err).Code != "already_enrolled" {
		t.Errorf("confirmed again: %v", err)
	}
	if n := v.count(t, `SELECT count(*) FROM totp WHERE position($1::bytea in secret_sealed) > 0`, []byte(second.Secret)); n != 0 {
		t.Error("the secret is kept in clear")
	}
}

func TestConfirmingAnAppAtOnceGivesOneSetOfCodes(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	e, err := v.BeginTOTP(t.Context(), u.ID)
	check(t, err)
	code := v.code(t, e.Secret)
	counts := atOnce(6, func(int) string {
		if _, err := v.ConfirmTOTP(t.Context(), u.ID, code); err != nil {
			return fault.Of(err).Code
		}
		return ""
	})
	if f, err := v.Factors(t.Context(), u.ID); counts[""] != 1 || err != nil || f.RecoveryCodes != 10 {
		t.Errorf("%v, %+v, %v", counts, f, err)
	}
}

func TestRecoveryCodes(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	if _, err := v.NewRecoveryCodes(t.Context(), u.ID); fault.Of(err).Code != "no_factor" {
		t.Errorf("for nothing: %v", err)
	}
	_, recovery := v.enrol(t, u)
	if refusal := v.answer(t, v.challenge(t, u).ID, strings.ToLower(strings.ReplaceAll(recovery[0], "-", " "))); refusal != "" {
		t.Errorf("as somebody types it: %q", refusal)
	}
	if refusal := v.answer(t, v.challenge(t, u).ID, recovery[0]); refusal != "wrong_code" {
		t.Errorf("twice: %q", refusal)
	}
	if f, err := v.Factors(t.Context(), u.ID); err != nil || f.RecoveryCodes != 9 {
		t.Errorf("%+v, %v", f, err)
	}
	fresh, err := v.NewRecoveryCodes(t.Context(), u.ID)
	check(t, err)
	if refusal := v.answer(t, v.challenge(t, u).ID, recovery[1]); refusal != "wrong_code" {
		t.Errorf("one that was replaced: %q", refusal)
	}
	if refusal := v.answer(t, v.challenge(t, u).ID, fresh[9]); refusal != "" {
		t.Errorf("a new one: %q", refusal)
	}
	if n := v.count(t, `SELECT count(*) FROM recovery_code WHERE position($1::bytea in hash) > 0`, []byte(strings.ReplaceAll(fresh[0], "-", ""))); n != 0 {
		t.Error("a code is kept in clear")
	}
}

func TestRemovingTheAppLeavesTheMailbox(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	secret, recovery := v.enrol(t, u)
	c := v.challenge(t, u)
	check(t, v.RemoveTOTP(t.Context(), u.ID))
	if err := v.RemoveTOTP(t.Context(), u.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed again: %v", err)
	}
	if sent, letter := v.posted(t); sent != 2 || letter.Factor != "an authenticator app" {
		t.Errorf("%d letters, %+v", sent, letter)
	}
	if f, err := v.Factors(t.Context(), u.ID); err != nil || f.TOTP || f.RecoveryCodes != 0 {
		t.Errorf("%+v, %v", f, err)
	}
	v.pass(time.Minute)
	for _, code := range []string{v.code(t, secret), recovery[0]} {
		if refusal := v.answer(t, c.ID, code); refusal != "wrong_code" {
			t.Errorf("what was removed answers an older challenge: %q", refusal)
		}
	}
}
