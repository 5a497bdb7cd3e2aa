package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func TestAChallengeCarriesWhatSignInGaveItAndIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	secret, _ := v.enrol(t, u)
	c := v.challenge(t, u)
	if found, err := v.Challenge(t.Context(), c.ID); err != nil || cmp.Diff(found, c) != "" || !slices.Equal(c.Methods, []string{"totp", "recovery"}) || len(c.ID) != 43 {
		t.Errorf("%+v, %v", found, err)
	}
	user, method, carry, err := v.Answer(t.Context(), c.ID, " "+v.code(t, secret)[:3]+" "+v.code(t, secret)[3:])
	want := identity.Carry{Methods: []string{"pwd"}, Agent: "Firefox on Linux"}
	if err != nil || user != u.ID || method != identity.ByOneTime || cmp.Diff(carry, want) != "" {
		t.Errorf("%s %s %+v, %v", user, method, carry, err)
	}
	if _, err := v.Challenge(t.Context(), c.ID); !fault.Is(err, fault.NotFound) || fault.Of(err).Code != "challenge_not_found" {
		t.Errorf("after its answer: %v", err)
	}
}

func TestAChallengeIsOverAfterTenMinutes(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	secret, recovery := v.enrol(t, u)
	c := v.challenge(t, u)
	v.pass(10 * time.Minute)
	if refusal := v.answer(t, c.ID, v.code(t, secret)); refusal != "challenge_not_found" {
		t.Errorf("by an app: %q", refusal)
	}
	if refusal := v.answer(t, c.ID, recovery[0]); refusal != "challenge_not_found" {
		t.Errorf("by recovery: %q", refusal)
	}
}

func TestWhoNeedsASecondFactor(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	free, strict := identity.Membership{TenantID: "a"}, identity.Membership{TenantID: "b", MFARequired: true}
	required := func(want []string, memberships ...identity.Membership) {
		t.Helper()
		if got, err := v.Required(t.Context(), u, memberships); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	required(nil, free)
	required([]string{"email"}, free, strict)
	_, err := v.BeginTOTP(t.Context(), u.ID)
	check(t, err)
	required(nil, free) // not confirmed
	v.enrol(t, u)
	required([]string{"totp", "recovery"}, free)
	required([]string{"totp", "recovery"}, free, strict)
}

func TestAttackMFABruteForceOfOneChallenge(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	secret, _ := v.enrol(t, u)
	c := v.challenge(t, u)
	wrong := v.wrongCode(t, secret)
	counts := atOnce(30, func(int) string { return v.answer(t, c.ID, wrong) })
	if want := map[string]int{"wrong_code": 5, "challenge_not_found": 25}; cmp.Diff(counts, want) != "" {
		t.Errorf("30 wrong codes at once: %v", counts)
	}
	if refusal := v.answer(t, c.ID, v.code(t, secret)); refusal != "challenge_not_found" {
		t.Errorf("the right code after five wrong: %q", refusal)
	}
}

func TestAttackMFABruteForceOverManyChallenges(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u, other := v.user(t), v.user(t)
	secret, recovery := v.enrol(t, u)
	otherSecret, _ := v.enrol(t, other)
	wrong := v.wrongCode(t, secret)
	var challenges []identity.Challenge
	for range 30 {
		challenges = append(challenges, v.challenge(t, u))
	}
	counts := atOnce(30, func(i int) string { return v.answer(t, challenges[i].ID, wrong) })
	if want := map[string]int{"wrong_code": 10, "too_many_codes": 20}; cmp.Diff(counts, want) != "" {
		t.Errorf("a wrong code for each of 30 challenges at once: %v", counts)
	}
	fresh := v.challenge(t, u)
	_, _, _, err := v.Answer(t.Context(), fresh.ID, v.code(t, secret))
	if f := fault.Of(err); f.Kind != fault.RateLimited || f.RetryAfter <= 14*time.Minute || f.RetryAfter > 15*time.Minute {
		t.Errorf("the right code then: %v, retry after %s", err, f.RetryAfter)
	}
	if refusal := v.answer(t, fresh.ID, recovery[0]); refusal != "too_many_codes" {
		t.Errorf("a recovery code then: %q", refusal)
	}
	if refusal := v.answer(t, v.challenge(t, other).ID, v.code(t, otherSecret)); refusal != "" {
		t.Errorf("somebody else is told %q", refusal)
	}
	v.pass(15*time.Minute + time.Second)
	if refusal := v.answer(t, v.challenge(t, u).ID, v.code(t, secret)); refusal != "" {
		t.Errorf("a quarter of an hour later: %q", refusal)
	}
}

func TestRightAnswersAreNotCounted(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	secret, _ := v.enrol(t, u)
	for i := range 12 {
		if refusal := v.answer(t, v.challenge(t, u).ID, v.code(t, secret)); refusal != "" {
			t.Fatalf("sign-in %d: %q", i, refusal)
		}
		v.pass(30 * time.Second)
	}
}

func TestAttackTOTPReplay(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	e, err := v.BeginTOTP(t.Context(), u.ID)
	check(t, err)
	code := v.code(t, e.Secret)
	_, err = v.ConfirmTOTP(t.Context(), u.ID, code)
	check(t, err)
	if refusal := v.answer(t, v.challenge(t, u).ID, code); refusal != "wrong_code" {
		t.Errorf("the code that confirmed: %q", refusal)
	}
	v.pass(30 * time.Second)
	code = v.code(t, e.Secret)
	if refusal := v.answer(t, v.challenge(t, u).ID, code); refusal != "" {
		t.Errorf("a new code: %q", refusal)
	}
	if refusal := v.answer(t, v.challenge(t, u).ID, code); refusal != "wrong_code" {
		t.Errorf("the same code for another challenge: %q", refusal)
	}
}

func TestAttackOneTimeCodeReplayInParallel(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	secret, recovery := v.enrol(t, u)
	one := func(kind string, code string) {
		t.Helper()
		var challenges []identity.Challenge
		for range 8 {
			challenges = append(challenges, v.challenge(t, u))
		}
		// At most the bound of a user's tries get as far as the code; of them one wins.
		counts := atOnce(8, func(i int) string { return v.answer(t, challenges[i].ID, code) })
		if counts[""] != 1 || counts["wrong_code"] != 7 {
			t.Errorf("%s for eight challenges at once: %v", kind, counts)
		}
		v.pass(16 * time.Minute)
	}
	one("an app's code", v.code(t, secret))
	one("a recovery code", recovery[0])
	c := v.challenge(t, u)
	counts := atOnce(5, func(i int) string { return v.answer(t, c.ID, recovery[1+i]) })
	if counts[""] != 1 {
		t.Errorf("five right codes for one challenge at once: %v", counts)
	}
	v.pass(16 * time.Minute)
	mailOnly := v.user(t)
	c = v.challenge(t, mailOnly)
	check(t, v.SendCode(t.Context(), c.ID))
	_, letter := v.posted(t)
	if counts := atOnce(5, func(int) string { return v.answer(t, c.ID, letter.Code) }); counts[""] != 1 {
		t.Errorf("a mailed code five times at once: %v", counts)
	}
}

func TestAttackChallengeOfAnotherUser(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	victim, thief := v.user(t), v.user(t)
	v.enrol(t, victim)
	secret, recovery := v.enrol(t, thief)
	c := v.challenge(t, victim)
	if refusal := v.answer(t, c.ID, v.code(t, secret)); refusal != "wrong_code" {
		t.Errorf("by the thief's app: %q", refusal)
	}
	if refusal := v.answer(t, c.ID, recovery[0]); refusal != "wrong_code" {
		t.Errorf("by the thief's recovery code: %q", refusal)
	}
	// A code mailed to the thief answers the thief's challenge alone.
	mailVictim, mailThief := v.user(t), v.user(t)
	own, theirs := v.challenge(t, mailThief), v.challenge(t, mailVictim)
	check(t, v.SendCode(t.Context(), own.ID))
	_, letter := v.posted(t)
	if letter.To != mailThief.Email {
		t.Errorf("mailed to %s", letter.To)
	}
	if refusal := v.answer(t, theirs.ID, letter.Code); refusal != "wrong_code" {
		t.Errorf("by the thief's mailed code: %q", refusal)
	}
	if refusal := v.answer(t, own.ID, letter.Code); refusal != "" {
		t.Errorf("by its own: %q", refusal)
	}
}

func TestMailedCodes(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	c := v.challenge(t, u)
	if !slices.Equal(c.Methods, []string{"email"}) {
		t.Errorf("methods %v", c.Methods)
	}
	if refusal := v.answer(t, c.ID, "123456"); refusal != "wrong_code" {
		t.Errorf("before any was sent: %q", refusal)
	}
	check(t, v.SendCode(t.Context(), c.ID))
	_, first := v.posted(t)
	check(t, v.SendCode(t.Context(), c.ID))
	sent, second := v.posted(t)
	if sent != 2 || second.To != u.Email || second.Name != "Ada" || len(second.Code) != 6 || strings.Trim(second.Code, "0123456789") != "" || v.nudged != 2 {
		t.Errorf("%d letters, %+v", sent, second)
	}
	if first.Code != second.Code { // once in a million they are the same
		if refusal := v.answer(t, c.ID, first.Code); refusal != "wrong_code" {
			t.Errorf("a code that was replaced: %q", refusal)
		}
	}
	user, method, _, err := v.Answer(t.Context(), c.ID, second.Code)
	if err != nil || user != u.ID || method != identity.ByMail {
		t.Errorf("%s %s, %v", user, method, err)
	}
	if n := v.count(t, `SELECT count(*) FROM outbox WHERE payload::text LIKE '%' || $1 || '%'`, second.Code); n != 0 {
		t.Error("a code stands in the outbox in clear")
	}
}

func TestNoCodeIsMailedToWhoHasSomethingBetter(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	open := v.challenge(t, u)
	check(t, v.SendCode(t.Context(), open.ID))
	_, letter := v.posted(t)
	v.enrol(t, u)
	before, _ := v.posted(t)
	c := v.challenge(t, u)
	check(t, v.SendCode(t.Context(), c.ID))
	if after, _ := v.posted(t); after != before {
		t.Error("a code was mailed beside an app")
	}
	if refusal := v.answer(t, open.ID, letter.Code); refusal != "challenge_not_found" && refusal != "wrong_code" {
		t.Errorf("one mailed before the app was set up: %q", refusal)
	}
}

func TestAttackCodeFlooding(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u, other := v.user(t), v.user(t)
	c := v.challenge(t, u)
	counts := atOnce(20, func(int) string {
		if err := v.SendCode(t.Context(), c.ID); err != nil {
			return fault.Of(err).Code
		}
		return ""
	})
	if sent, _ := v.posted(t); sent != 5 || counts[""] != 20 {
		t.Errorf("%d letters for one challenge; answers %v", sent, counts)
	}
	for range 5 {
		more := v.challenge(t, u)
		for range 4 {
			check(t, v.SendCode(t.Context(), more.ID))
		}
	}
	if sent, _ := v.posted(t); sent != 10 {
		t.Errorf("%d letters to one user in an hour", sent)
	}
	check(t, v.SendCode(t.Context(), "no such challenge"))
	check(t, v.SendCode(t.Context(), ""))
	check(t, v.SendCode(t.Context(), v.challenge(t, other).ID))
	if sent, letter := v.posted(t); sent != 11 || letter.To != other.Email {
		t.Errorf("%d letters, the last to %s", sent, letter.To)
	}
	v.pass(time.Hour + time.Second)
	check(t, v.SendCode(t.Context(), v.challenge(t, u).ID))
	if sent, _ := v.posted(t); sent != 12 {
		t.Errorf("%d letters an hour later", sent)
	}
}

func TestAMailedCodeHoldsForTenMinutesAtMost(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	c := v.challenge(t, v.user(t))
	check(t, v.SendCode(t.Context(), c.ID))
	_, letter := v.posted(t)
	v.pass(10 * time.Minute)
	if refusal := v.answer(t, c.ID, letter.Code); refusal != "challenge_not_found" {
		t.Errorf("ten minutes later: %q", refusal)
	}
}

func TestWhatCannotBeACodeIsRefusedAndNotCounted(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	secret, _ := v.enrol(t, u)
	c := v.challenge(t, u)
	for _, code := range []string{"", "12345", "1234567", "abcdef", "٠٠٥٩٢٤", "AAAA-AAAA-AAAA-AAA", strings.Repeat("A", 4000)} {
		if refusal := v.answer(t, c.ID, code); refusal != "wrong_code" {
			t.Errorf("%.20q: %q", code, refusal)
		}
	}
	if refusal := v.answer(t, c.ID, v.code(t, secret)); refusal != "" {
		t.Errorf("the right one after them: %q", refusal)
	}
}

func TestANewPasswordEndsWhatTheOldOneLedTo(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u, other := v.user(t), v.user(t)
	c, theirs := v.challenge(t, u), v.challenge(t, other)
	done, err := v.store.ChangePassword(t.Context(), identity.PasswordChange{UserID: u.ID, Hash: "y", Now: v.now()})
	if err != nil || !done {
		t.Fatal(done, err)
	}
	if _, err := v.Challenge(t.Context(), c.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the challenge: %v", err)
	}
	if _, err := v.Challenge(t.Context(), theirs.ID); err != nil {
		t.Errorf("somebody else's: %v", err)
	}
}
