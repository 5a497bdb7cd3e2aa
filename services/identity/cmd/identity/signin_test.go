package main

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/limit"
)

const wrongPassword = "not the password at all"

func (m *meshed) try(t testing.TB, c identity.Caller, email, password string) error {
	t.Helper()
	entered, err := m.people.SignIn(t.Context(), c, email, password)
	if err != nil && (entered.Cookie != "" || entered.Challenge != nil) {
		t.Errorf("an error with a session: %+v", entered)
	}
	return err
}

// from is a caller at another address, so that the rules of accounts are seen alone.
func from(i int) identity.Caller { return identity.Caller{Address: "203.0.113." + strconv.Itoa(i)} }

// Attack: user enumeration by signing in. A user who is not there costs the same work, and is refused alike.
func TestSignInDoesNotTellWhoIsRegistered(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	m.open(t, "192.0.2.1", "/user/public/register-user", registration("unproved@example.org", goodPassword, "o"))
	for i, email := range []string{"ada@example.org", "nobody@example.org", "unproved@example.org", "no address"} {
		before := m.service.Passwords.Runs()
		err := m.try(t, from(i), email, wrongPassword)
		if fault.Of(err).Code != "wrong_credentials" || !fault.Is(err, fault.Unauthenticated) || m.service.Passwords.Runs()-before != 1 {
			t.Errorf("%s: %v after %d runs", email, err, m.service.Passwords.Runs()-before)
		}
	}
	// Lockout comes for those who are not there too.
	for range 9 {
		_ = m.try(t, from(9), "nobody@example.org", wrongPassword)
	}
	if err := m.try(t, from(9), "nobody@example.org", wrongPassword); !fault.Is(err, fault.RateLimited) {
		t.Errorf("the eleventh failure of nobody: %v", err)
	}
}

func TestAnAddressHasToBeProvedBeforeSignIn(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.open(t, "192.0.2.1", "/user/public/register-user", registration("ada@example.org", goodPassword, "o"))
	old := m.mailed(t, "ada@example.org", 1).link(t)
	if err := m.try(t, stranger, "ada@example.org", goodPassword); fault.Of(err).Code != "email_unverified" || !fault.Is(err, fault.Denied) {
		t.Errorf("%v", err)
	}
	link := m.mailed(t, "ada@example.org", 2).link(t)
	expect(t, "superseded", m.open(t, "192.0.2.1", old, ""), 400, "invalid_link")
	m.open(t, "192.0.2.1", link, "")
	m.signedIn(t, "ada@example.org", goodPassword)
}

func TestSignInBeforeTheOrganizationHasArrived(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.tenants.leave(true)
	m.open(t, "192.0.2.1", "/user/public/register-user", registration("ada@example.org", goodPassword, "o"))
	m.open(t, "192.0.2.1", m.mailed(t, "ada@example.org", 1).link(t), "")
	// Whether an organization wants a second factor cannot be known now: nobody is let in on a guess.
	if err := m.try(t, stranger, "ada@example.org", goodPassword); !fault.Is(err, fault.Unavailable) {
		t.Errorf("without the tenant service: %v", err)
	}
	m.tenants.leave(false)
	entered := m.signedIn(t, "ada@example.org", goodPassword)
	await(t, "the organization", func() bool {
		list, err := m.people.Memberships(t.Context(), entered.SignIn.UserID)
		return err == nil && len(list) == 1
	})
}

// Attack: guessing a password.
func TestGuessingIsRefusedWithoutWork(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	m.registered(t, "bob@example.org")
	for i := range 10 {
		if err := m.try(t, from(i), "ada@example.org", wrongPassword); fault.Of(err).Code != "wrong_credentials" {
			t.Fatalf("failure %d: %v", i, err)
		}
	}
	before := m.service.Passwords.Runs()
	err := m.try(t, from(99), "Ada@example.org", goodPassword)
	if !fault.Is(err, fault.RateLimited) || fault.Of(err).RetryAfter <= 0 || fault.Of(err).RetryAfter > 15*time.Minute {
		t.Errorf("the right password after ten failures: %v", err)
	}
	if m.service.Passwords.Runs() != before {
		t.Error("argon2 ran for a refused attempt")
	}
	m.signedIn(t, "bob@example.org", goodPassword)
}

// Attack: failing on purpose to keep the owner of an account out.
func TestAVictimIsNotLockedOut(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	m.registered(t, "mallory@example.org")
	known := stranger
	known.Device = m.signedIn(t, "ada@example.org", goodPassword).Device
	other := stranger
	other.Device = m.signedIn(t, "mallory@example.org", goodPassword).Device
	for i := range 12 {
		_ = m.try(t, from(i), "ada@example.org", wrongPassword)
	}
	if err := m.try(t, stranger, "ada@example.org", goodPassword); !fault.Is(err, fault.RateLimited) {
		t.Errorf("a stranger: %v", err)
	}
	if err := m.try(t, other, "ada@example.org", goodPassword); !fault.Is(err, fault.RateLimited) {
		t.Errorf("with another user's device cookie: %v", err)
	}
	forged := known
	forged.Device = strings.Replace(known.Device, ".", ".9", 1)
	if err := m.try(t, forged, "ada@example.org", goodPassword); !fault.Is(err, fault.RateLimited) {
		t.Errorf("with a forged device cookie: %v", err)
	}
	if err := m.try(t, known, "ada@example.org", goodPassword); err != nil {
		t.Errorf("the owner's browser: %v", err)
	}
	// A stolen device cookie is a bucket of its own, and no way round it.
	for range 10 {
		_ = m.try(t, known, "ada@example.org", wrongPassword)
	}
	if err := m.try(t, known, "ada@example.org", goodPassword); !fault.Is(err, fault.RateLimited) {
		t.Errorf("ten failures of one browser: %v", err)
	}
}

func TestAResetSetsTheAccountFree(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	for i := range 10 {
		_ = m.try(t, from(i), "ada@example.org", wrongPassword)
	}
	link := m.resetLink(t, "ada@example.org", 2)
	m.open(t, "192.0.2.3", link, `{"newPassword": "a pear tree at dusk"}`)
	m.signedIn(t, "ada@example.org", "a pear tree at dusk")
}

func TestDeviceCookiesEnd(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	known := stranger
	known.Device = m.signedIn(t, "ada@example.org", goodPassword).Device
	entered, err := m.people.SignIn(t.Context(), known, "ada@example.org", goodPassword)
	if err != nil || entered.Device != "" {
		t.Errorf("a known browser: %+v, %v", entered, err)
	}
	m.clock.move(identity.DeviceLifetime + time.Second)
	if entered, err = m.people.SignIn(t.Context(), known, "ada@example.org", goodPassword); err != nil || entered.Device == "" {
		t.Errorf("after 90 days: %+v, %v", entered, err)
	}
}

// Attack: a few common passwords against many accounts.
func TestSprayingIsBounded(t *testing.T) {
	t.Parallel()
	m := start(t, func(c *settings) { c.SignInsPerAddress = 3 })
	m.registered(t, "ada@example.org")
	known := stranger
	known.Device = m.signedIn(t, "ada@example.org", goodPassword).Device
	for _, email := range []string{"a@example.org", "b@example.org", "c@example.org"} {
		_ = m.try(t, stranger, email, wrongPassword)
	}
	before := m.service.Passwords.Runs()
	if err := m.try(t, stranger, "ada@example.org", goodPassword); !fault.Is(err, fault.RateLimited) || m.service.Passwords.Runs() != before {
		t.Errorf("a fourth account: %v", err)
	}
	if err := m.try(t, stranger, "a@example.org", wrongPassword); fault.Of(err).Code != "wrong_credentials" {
		t.Errorf("the first account again: %v", err)
	}
	if err := m.try(t, known, "ada@example.org", goodPassword); err != nil {
		t.Errorf("a known browser at the same address: %v", err)
	}
	if err := m.try(t, from(1), "ada@example.org", goodPassword); err != nil {
		t.Errorf("another address: %v", err)
	}
}

func TestSuccessesAreNotCounted(t *testing.T) {
	t.Parallel()
	m := start(t, func(c *settings) { c.SignInsPerAddress = 2 })
	for _, email := range []string{"a@example.org", "b@example.org", "c@example.org"} {
		m.registered(t, email)
		for range 4 {
			m.signedIn(t, email, goodPassword)
		}
	}
}

func TestWithoutRedisNobodySignsIn(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	gone, err := cache.Open("redis://127.0.0.1:1", cache.Telemetry{})
	check(t, err)
	t.Cleanup(func() { _ = gone.Close() })
	m.people.Limits = limit.New(gone)
	before := m.service.Passwords.Runs()
	if err := m.try(t, stranger, "ada@example.org", goodPassword); !fault.Is(err, fault.Unavailable) || m.service.Passwords.Runs() != before {
		t.Errorf("%v", err)
	}
	expect(t, "register", m.open(t, "192.0.2.1", "/user/public/register-user", registration("b@example.org", goodPassword, "o")), 503, "unavailable")
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	one := m.signedIn(t, "ada@example.org", goodPassword)
	for range 11 {
		m.clock.move(time.Hour)
		if m.browser(t, one.Cookie) == nil {
			t.Fatal("a session in use ended before 12 hours")
		}
	}
	m.clock.move(time.Hour)
	if m.browser(t, one.Cookie) != nil {
		t.Error("a session lasts longer than 12 hours")
	}
	two := m.signedIn(t, "ada@example.org", goodPassword)
	m.clock.move(2*time.Hour + time.Second)
	if m.browser(t, two.Cookie) != nil {
		t.Error("a session that nobody used lasts longer than 2 hours")
	}
	three := m.signedIn(t, "ada@example.org", goodPassword)
	for _, cookie := range []string{"", "x", three.Cookie + "x", three.SignIn.ID} {
		if m.browser(t, cookie) != nil {
			t.Errorf("%q is a session", cookie)
		}
	}
	check(t, m.people.SignOut(t.Context(), three.SignIn))
	if m.browser(t, three.Cookie) != nil {
		t.Error("signed out and still in")
	}
}

func TestSessionsAreListedAndEndedByTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	m := start(t)
	_, tenant := m.registered(t, "ada@example.org")
	_, elsewhere := m.registered(t, "bob@example.org")
	one, two := m.signedIn(t, "ada@example.org", goodPassword), m.signedIn(t, "ada@example.org", goodPassword)
	other := m.signedIn(t, "bob@example.org", goodPassword)
	if err := m.people.ChooseTenant(t.Context(), one.SignIn, elsewhere); !fault.Is(err, fault.Denied) {
		t.Errorf("an organization of others: %v", err)
	}
	check(t, m.people.ChooseTenant(t.Context(), one.SignIn, tenant))
	list, err := m.people.Sessions(t.Context(), one.SignIn)
	if err != nil || len(list) != 2 || list[0].Agent != stranger.Agent {
		t.Fatalf("%+v, %v", list, err)
	}
	for _, s := range list {
		if s.Current != (s.ID == one.SignIn.ID) || (s.TenantID == tenant) != s.Current {
			t.Errorf("%+v", s)
		}
	}
	for name, id := range map[string]string{"another user's": other.SignIn.ID, "no id": "x"} {
		if err := m.people.EndSession(t.Context(), one.SignIn, id); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	check(t, m.people.EndSession(t.Context(), one.SignIn, two.SignIn.ID))
	if m.browser(t, two.Cookie) != nil || m.browser(t, one.Cookie) == nil || m.browser(t, other.Cookie) == nil {
		t.Error("the wrong session ended")
	}
}

func TestChangingThePasswordEndsTheOtherSessions(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	here, there := m.signedIn(t, "ada@example.org", goodPassword), m.signedIn(t, "ada@example.org", goodPassword)
	further := func(faults ...fault.Field) error {
		if len(faults) > 0 {
			return fault.InvalidFields(faults)
		}
		return nil
	}
	change := func(current, next string) error {
		return m.people.ChangePassword(t.Context(), here.SignIn, stranger, current, next, further)
	}
	if err := change(wrongPassword, "a pear tree at dusk"); fault.Of(err).Code != "wrong_credentials" {
		t.Errorf("a wrong current password: %v", err)
	}
	if err := change(goodPassword, "password1234"); !fault.Is(err, fault.Invalid) {
		t.Errorf("a common password: %v", err)
	}
	check(t, change(goodPassword, "a pear tree at dusk"))
	if m.browser(t, here.Cookie) == nil || m.browser(t, there.Cookie) != nil {
		t.Error("not the other session ended")
	}
	m.signedIn(t, "ada@example.org", "a pear tree at dusk")
}

// other is a code that is not this one.
func other(code string) string { return string('0'+(code[0]-'0'+1)%10) + code[1:] }

var digits = regexp.MustCompile(`\b\d{6}\b`)

func TestASecondFactorThatAnOrganizationRequires(t *testing.T) {
	t.Parallel()
	m := start(t)
	_, tenant := m.registered(t, "ada@example.org")
	m.tenants.require(tenant, true)
	entered, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", goodPassword)
	if err != nil || entered.Challenge == nil || entered.Cookie != "" || entered.Device != "" {
		t.Fatalf("%+v, %v", entered, err)
	}
	check(t, m.people.SendCode(t.Context(), entered.Challenge.ID))
	code := digits.FindString(m.mailed(t, "ada@example.org", 2).text)
	if _, err := m.people.AnswerChallenge(t.Context(), stranger, entered.Challenge.ID, other(code)); fault.Of(err).Code != "wrong_code" {
		t.Errorf("a wrong code: %v", err)
	}
	answered, err := m.people.AnswerChallenge(t.Context(), stranger, entered.Challenge.ID, code)
	if err != nil || answered.Cookie == "" || !answered.SignIn.Strong() || answered.Device == "" {
		t.Errorf("%+v, %v", answered, err)
	}
	if s := m.browser(t, answered.Cookie); s == nil || !s.Strong() {
		t.Errorf("%+v", s)
	}
}

// Attack: session fixation. What is proved later never strengthens a cookie that somebody may have planted or seen.
func TestSteppingUpGivesANewCookie(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	before := m.signedIn(t, "ada@example.org", goodPassword)
	challenge, err := m.people.StepUp(t.Context(), before.SignIn, stranger)
	check(t, err)
	check(t, m.people.SendCode(t.Context(), challenge.ID))
	code := digits.FindString(m.mailed(t, "ada@example.org", 2).text)
	after, err := m.people.AnswerChallenge(t.Context(), stranger, challenge.ID, code)
	check(t, err)
	if after.Cookie == before.Cookie || after.SignIn.ID != before.SignIn.ID || !after.SignIn.Strong() || !after.SignIn.ExpiresAt.Equal(before.SignIn.ExpiresAt) {
		t.Errorf("%+v", after)
	}
	if m.browser(t, before.Cookie) != nil {
		t.Error("the old cookie is still good")
	}
	if s := m.browser(t, after.Cookie); s == nil || !s.Strong() {
		t.Errorf("the new cookie: %+v", s)
	}
}

func TestProfile(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, _ := m.registered(t, "ada@example.org")
	check(t, m.people.UpdateProfile(t.Context(), user, " Grace ", "Hopper"))
	u, err := m.people.Users.FindUser(t.Context(), user)
	if err != nil || u.FirstName != "Grace" || u.LastName != "Hopper" {
		t.Errorf("%+v, %v", u, err)
	}
	if err := m.people.UpdateProfile(t.Context(), user, "", "\x00"); len(fault.Of(err).Fields) != 2 {
		t.Errorf("%v", err)
	}
}

// The queries of this test forget the user on purpose: row-level security has to hold without them.
func TestRowsOfAnotherUserAreInvisible(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, tenant := m.registered(t, "ada@example.org")
	m.registered(t, "bob@example.org")
	entered := m.signedIn(t, "ada@example.org", goodPassword)
	m.signedIn(t, "bob@example.org", goodPassword)
	m.resetLink(t, "ada@example.org", 2)
	m.resetLink(t, "bob@example.org", 2)
	m.invite(t, session1(user, tenant), "new@example.org", "Records Reader")
	conn, err := pgx.Connect(t.Context(), m.database)
	check(t, err)
	defer conn.Close(t.Context())
	count := func(table, setting, value string) (n int) {
		check(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), `SELECT set_config($1, $2, true)`, setting, value)
			return errors.Join(err, tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		}))
		return n
	}
	for _, c := range []struct {
		table, setting, value string
		want                  int
	}{
		{"sign_in", "app.user_id", user, 1},
		{"sign_in", "app.user_id", "", 0},
		{"sign_in", "app.user_id", tenant, 0},
		{"sign_in", "app.session", cookieHash(entered.Cookie), 1},
		{"sign_in", "app.session", "", 0},
		{"mailed_link", "app.user_id", user, 1},
		{"mailed_link", "app.user_id", "", 0},
		{"invitation", "app.tenant_id", tenant, 1},
		{"invitation", "app.tenant_id", user, 0},
		{"invitation", "app.session", "", 0},
	} {
		if got := count(c.table, c.setting, c.value); got != c.want {
			t.Errorf("%s as %s %q: %d rows, want %d", c.table, c.setting, c.value, got, c.want)
		}
	}
}
