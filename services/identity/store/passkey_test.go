package store_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	webauthn "github.com/descope/virtualwebauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/passkey/passkeytest"
)

func newDevice(t *testing.T, u identity.User) *passkeytest.Device {
	t.Helper()
	id, err := uuid.Parse(u.ID)
	check(t, err)
	return passkeytest.New(t, "mesh.example", "https://mesh.example", id[:])
}

func (v *bench) register(t *testing.T, u identity.User, d *passkeytest.Device, name string) error {
	t.Helper()
	options, handle, err := v.BeginPasskey(t.Context(), u.ID)
	check(t, err)
	return v.FinishPasskey(t.Context(), u.ID, handle, name, d.Create(t, options))
}

// signIn is nil, or the code of the fault; the user is who signed in.
func (v *bench) signIn(t *testing.T, d *passkeytest.Device) (user, refusal string) {
	t.Helper()
	options, handle, err := v.BeginPasskeySignIn(t.Context())
	check(t, err)
	user, err = v.PasskeyOwner(t.Context(), handle, d.Sign(t, options))
	if err != nil {
		return user, fault.Of(err).Code
	}
	return user, ""
}

func TestAPasskeyIsMadeNamedUsedAndRemoved(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	d := newDevice(t, u)
	options, handle, err := v.BeginPasskey(t.Context(), u.ID)
	check(t, err)
	var shown struct {
		PublicKey struct {
			RP                     struct{ ID string }
			User                   struct{ ID, Name string }
			Attestation            string
			AuthenticatorSelection struct{ ResidentKey, UserVerification string }
		}
	}
	check(t, json.Unmarshal(options, &shown))
	if p := shown.PublicKey; p.RP.ID != "mesh.example" || p.User.Name != u.Email || p.AuthenticatorSelection.ResidentKey != "required" ||
		p.AuthenticatorSelection.UserVerification != "required" || (p.Attestation != "" && p.Attestation != "none") {
		t.Errorf("options %s", options)
	}
	response := d.Create(t, options)
	for _, name := range []string{"", " \t", strings.Repeat("n", 101), "a\x00b"} {
		if err := v.FinishPasskey(t.Context(), u.ID, handle, name, response); !fault.Is(err, fault.Invalid) || fault.Of(err).Fields == nil {
			t.Errorf("named %q: %v", name, err)
		}
	}
	check(t, v.FinishPasskey(t.Context(), u.ID, handle, " Ada's phone ", response))
	if err := v.FinishPasskey(t.Context(), u.ID, handle, "again", response); fault.Of(err).Code != "ceremony_over" {
		t.Errorf("the same ceremony twice: %v", err)
	}
	if sent, letter := v.posted(t); sent != 1 || letter.Factor != "a passkey" {
		t.Errorf("%d letters, %+v", sent, letter)
	}
	if user, refusal := v.signIn(t, d); user != u.ID || refusal != "" {
		t.Errorf("signed in %q, %q", user, refusal)
	}
	f, err := v.Factors(t.Context(), u.ID)
	if err != nil || len(f.Passkeys) != 1 || f.Passkeys[0].Name != "Ada's phone" || f.Passkeys[0].LastUsedAt == nil {
		t.Fatalf("%+v, %v", f, err)
	}
	other := v.user(t)
	for _, id := range []string{newID(t), "x"} {
		if err := v.RemovePasskey(t.Context(), u.ID, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("removed %q: %v", id, err)
		}
	}
	if err := v.RemovePasskey(t.Context(), other.ID, f.Passkeys[0].ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed somebody else's: %v", err)
	}
	check(t, v.RemovePasskey(t.Context(), u.ID, f.Passkeys[0].ID))
	if _, refusal := v.signIn(t, d); refusal != "wrong_passkey" {
		t.Errorf("after it was removed: %q", refusal)
	}
}

func TestAPasskeyOfWhichTheUserIsNotVerifiedIsRefused(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	d := newDevice(t, u)
	d.Auth.Options.UserNotVerified = true
	if err := v.register(t, u, d, "key"); fault.Of(err).Code != "passkey_refused" {
		t.Errorf("made: %v", err)
	}
	d.Auth.Options.UserNotVerified = false
	check(t, v.register(t, u, d, "key"))
	d.Auth.Options.UserNotVerified = true
	if _, refusal := v.signIn(t, d); refusal != "wrong_passkey" {
		t.Errorf("used: %q", refusal)
	}
}

func TestAttackPasskeyPhishing(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	d := newDevice(t, u)
	check(t, v.register(t, u, d, "key"))
	for name, forged := range map[string]func(*passkeytest.Device){
		"another origin":       func(d *passkeytest.Device) { d.Party.Origin = "https://mesh.example.evil.example" },
		"another port":         func(d *passkeytest.Device) { d.Party.Origin = "https://mesh.example:8443" },
		"no TLS":               func(d *passkeytest.Device) { d.Party.Origin = "http://mesh.example" },
		"another party":        func(d *passkeytest.Device) { d.Party.ID = "evil.example" },
		"another user":         func(d *passkeytest.Device) { d.Auth.Options.UserHandle = bytes.Repeat([]byte{1}, 16) },
		"no user":              func(d *passkeytest.Device) { d.Auth.Options.UserHandle = nil },
		"a user that is no id": func(d *passkeytest.Device) { d.Auth.Options.UserHandle = []byte("x") },
		"another key":          func(d *passkeytest.Device) { d.Key.Key = newDevice(t, u).Key.Key },
		"an unknown key":       func(d *passkeytest.Device) { d.Key.ID = []byte("0123456789abcdef") },
	} {
		forger := *d
		forger.Key.Counter += 100
		forged(&forger)
		if user, refusal := v.signIn(t, &forger); refusal != "wrong_passkey" {
			t.Errorf("%s: signed in %q, %q", name, user, refusal)
		}
	}
	if _, refusal := v.signIn(t, d); refusal != "" {
		t.Errorf("the true one after them: %q", refusal)
	}
}

func TestAttackPasskeyAnswerReplay(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	d := newDevice(t, u)
	check(t, v.register(t, u, d, "key"))
	options, handle, err := v.BeginPasskeySignIn(t.Context())
	check(t, err)
	response := d.Sign(t, options)
	counts := atOnce(6, func(int) string {
		if _, err := v.PasskeyOwner(t.Context(), handle, response); err != nil {
			return fault.Of(err).Code
		}
		return ""
	})
	if counts[""] != 1 || counts["ceremony_over"] != 5 {
		t.Errorf("six times at once: %v", counts)
	}
	_, another, err := v.BeginPasskeySignIn(t.Context())
	check(t, err)
	if _, err := v.PasskeyOwner(t.Context(), another, response); fault.Of(err).Code != "wrong_passkey" {
		t.Errorf("for another ceremony: %v", err)
	}
	options, handle, err = v.BeginPasskeySignIn(t.Context())
	check(t, err)
	v.pass(5 * time.Minute)
	if _, err := v.PasskeyOwner(t.Context(), handle, d.Sign(t, options)); fault.Of(err).Code != "ceremony_over" {
		t.Errorf("five minutes later: %v", err)
	}
}

func TestAttackClonedPasskey(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	d := newDevice(t, u)
	check(t, v.register(t, u, d, "key"))
	clone := *d
	for range 3 {
		if _, refusal := v.signIn(t, d); refusal != "" {
			t.Fatal(refusal)
		}
	}
	if _, refusal := v.signIn(t, &clone); refusal != "wrong_passkey" {
		t.Errorf("a clone that is behind: %q", refusal)
	}
	// Two that count alike, at once: both signatures hold, and one of them goes on.
	var options [2][]byte
	var handles [2]string
	for i := range options {
		var err error
		options[i], handles[i], err = v.BeginPasskeySignIn(t.Context())
		check(t, err)
	}
	clone = *d
	responses := [2][]byte{d.Sign(t, options[0]), clone.Sign(t, options[1])}
	counts := atOnce(2, func(i int) string {
		if _, err := v.PasskeyOwner(t.Context(), handles[i], responses[i]); err != nil {
			return fault.Of(err).Code
		}
		return ""
	})
	if counts[""] != 1 {
		t.Errorf("%v", counts)
	}
}

func TestACounterIsSpentOnce(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	check(t, v.register(t, u, newDevice(t, u), "key"))
	p, err := v.store.Proofs(t.Context(), u.ID)
	check(t, err)
	used := p.Passkeys[0]
	for _, c := range []struct {
		count int64
		want  bool
	}{{0, true}, {0, true}, {3, true}, {3, false}, {2, false}, {0, false}, {4, true}} {
		used.SignCount = c.count
		if done, err := v.store.UsePasskey(t.Context(), used, v.now()); err != nil || done != c.want {
			t.Errorf("count %d: %v, %v", c.count, done, err)
		}
	}
	used.SignCount = 4
	challenge := v.challenge(t, u)
	kept := identity.Win{Challenge: v.Hasher.Hash("challenge\x00" + challenge.ID), UserID: u.ID, Now: v.now()}
	for _, c := range []struct {
		count int64
		want  bool
	}{{4, false}, {5, true}, {6, false}} {
		used.SignCount = c.count
		if won, err := v.store.WinByPasskey(t.Context(), kept, used); err != nil || won != c.want {
			t.Errorf("a challenge by count %d: %v, %v", c.count, won, err)
		}
	}
}

func TestAPasskeyThatDoesNotCountGoesOn(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	d := newDevice(t, u)
	d.Auth.Options.BackupEligible, d.Auth.Options.BackupState = true, true
	check(t, v.register(t, u, d, "synced"))
	for range 3 {
		d.Key.Counter = ^uint32(0) // sign adds one
		if _, refusal := v.signIn(t, d); refusal != "" {
			t.Errorf("%q", refusal)
		}
	}
}

func TestAPasskeyBelongsToOneUser(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u, thief := v.user(t), v.user(t)
	d := newDevice(t, u)
	check(t, v.register(t, u, d, "key"))
	stolen := newDevice(t, thief)
	stolen.Key = d.Key
	if err := v.register(t, thief, stolen, "same"); !fault.Is(err, fault.Conflict) || fault.Of(err).Code != "passkey_taken" {
		t.Errorf("the same credential for another user: %v", err)
	}
	options, handle, err := v.BeginPasskey(t.Context(), u.ID)
	check(t, err)
	if err := v.FinishPasskey(t.Context(), thief.ID, handle, "key", newDevice(t, thief).Create(t, options)); fault.Of(err).Code != "ceremony_over" {
		t.Errorf("another user's ceremony: %v", err)
	}
	// A challenge that was made to register by is no challenge to sign in by.
	options, handle, err = v.BeginPasskey(t.Context(), u.ID)
	check(t, err)
	asked, err := webauthn.ParseAttestationOptions(string(options))
	check(t, err)
	signed := webauthn.CreateAssertionResponse(d.Party, d.Auth, d.Key, webauthn.AssertionOptions{Challenge: asked.Challenge})
	if _, err := v.PasskeyOwner(t.Context(), handle, []byte(signed)); fault.Of(err).Code != "ceremony_over" {
		t.Errorf("signed in by a registration: %v", err)
	}
	_, signIn, err := v.BeginPasskeySignIn(t.Context())
	check(t, err)
	if err := v.FinishPasskey(t.Context(), u.ID, signIn, "key", d.Create(t, options)); fault.Of(err).Code != "ceremony_over" {
		t.Errorf("a ceremony of another kind: %v", err)
	}
}

func TestTwentyPasskeysAndNoMore(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	for range 19 {
		check(t, v.register(t, u, newDevice(t, u), "key"))
	}
	var handles, responses []string
	for range 10 {
		options, handle, err := v.BeginPasskey(t.Context(), u.ID)
		check(t, err)
		handles, responses = append(handles, handle), append(responses, string(newDevice(t, u).Create(t, options)))
	}
	counts := atOnce(10, func(i int) string {
		if err := v.FinishPasskey(t.Context(), u.ID, handles[i], "key", []byte(responses[i])); err != nil {
			return fault.Of(err).Code
		}
		return ""
	})
	if counts[""] != 1 || counts["too_many_passkeys"] != 9 {
		t.Errorf("ten more at once: %v", counts)
	}
	if _, _, err := v.BeginPasskey(t.Context(), u.ID); fault.Of(err).Code != "too_many_passkeys" {
		t.Errorf("a 21st: %v", err)
	}
}

// While one passkey is being added, another waits to be counted after it.
func TestPasskeysOfAUserAreAddedInTurn(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	for range identity.MostPasskeys - 1 {
		check(t, v.register(t, u, newDevice(t, u), "key"))
	}
	conn, err := pgx.Connect(t.Context(), v.database.AdminURL)
	check(t, err)
	defer conn.Close(t.Context())
	tx, err := conn.Begin(t.Context())
	check(t, err)
	_, err = tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, "factor\x1f"+u.ID)
	check(t, err)
	_, err = tx.Exec(t.Context(), `
		INSERT INTO passkey (user_id, id, credential_id, public_key, aaguid, transports, backup_eligible, backed_up, sign_count, name, created_at)
		VALUES ($1, $2, '1', '', '', '{}', false, false, 0, '', now())`, u.ID, newID(t))
	check(t, err)
	options, handle, err := v.BeginPasskey(t.Context(), u.ID)
	check(t, err)
	response, done := newDevice(t, u).Create(t, options), make(chan error, 1)
	go func() { done <- v.FinishPasskey(t.Context(), u.ID, handle, "key", response) }()
	for waits := 0; waits == 0; {
		waits = v.count(t, `
			SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`)
		select {
		case err := <-done:
			t.Fatalf("did not wait: %v", err)
		default:
		}
	}
	check(t, tx.Commit(t.Context()))
	if err := <-done; fault.Of(err).Code != "too_many_passkeys" {
		t.Errorf("%v", err)
	}
}

func TestAPasskeyAnswersAChallengeWhateverWasCounted(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u, other := v.user(t), v.user(t)
	d, theirs := newDevice(t, u), newDevice(t, other)
	check(t, v.register(t, u, d, "key"))
	check(t, v.register(t, other, theirs, "key"))
	for range 2 {
		c := v.challenge(t, u)
		for range 5 {
			v.answer(t, c.ID, "123456") // nobody's: the user has no app
		}
	}
	c := v.challenge(t, u)
	if refusal := v.answer(t, c.ID, "123456"); refusal != "too_many_codes" || !slices.Equal(c.Methods, []string{"passkey"}) {
		t.Errorf("%v: %q", c.Methods, refusal)
	}
	for name, by := range map[string]*passkeytest.Device{"another user's": theirs} {
		options, handle, err := v.BeginPasskeyAnswer(t.Context(), c.ID)
		check(t, err)
		if _, _, err := v.AnswerByPasskey(t.Context(), c.ID, handle, by.Sign(t, options)); fault.Of(err).Code != "wrong_passkey" {
			t.Errorf("%s: %v", name, err)
		}
	}
	options, handle, err := v.BeginPasskeyAnswer(t.Context(), c.ID)
	check(t, err)
	response := d.Sign(t, options)
	second := v.challenge(t, u)
	if _, _, err := v.AnswerByPasskey(t.Context(), second.ID, handle, response); fault.Of(err).Code != "ceremony_over" {
		t.Errorf("another challenge's ceremony: %v", err)
	}
	options, handle, err = v.BeginPasskeyAnswer(t.Context(), c.ID)
	check(t, err)
	user, carry, err := v.AnswerByPasskey(t.Context(), c.ID, handle, d.Sign(t, options))
	if err != nil || user != u.ID || carry.Agent != "Firefox on Linux" {
		t.Errorf("%s %+v, %v", user, carry, err)
	}
	if _, err := v.Challenge(t.Context(), c.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("the challenge after its answer: %v", err)
	}
}

func TestRecoveryCodesStayWhileTheyStandInForSomething(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	v.enrol(t, u)
	check(t, v.register(t, u, newDevice(t, u), "key"))
	left := func(want int) {
		t.Helper()
		if f, err := v.Factors(t.Context(), u.ID); err != nil || f.RecoveryCodes != want {
			t.Errorf("%d codes are left, want %d; %v", f.RecoveryCodes, want, err)
		}
	}
	check(t, v.RemoveTOTP(t.Context(), u.ID))
	left(10)
	f, err := v.Factors(t.Context(), u.ID)
	check(t, err)
	check(t, v.RemovePasskey(t.Context(), u.ID, f.Passkeys[0].ID))
	left(0)
}

func TestWithoutADomainThereAreNoPasskeys(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	v.Passkeys = nil
	if _, _, err := v.BeginPasskeySignIn(t.Context()); fault.Of(err).Code != "passkeys_unavailable" {
		t.Errorf("%v", err)
	}
	if _, _, err := v.BeginPasskey(t.Context(), v.user(t).ID); fault.Of(err).Code != "passkeys_unavailable" {
		t.Errorf("%v", err)
	}
}
