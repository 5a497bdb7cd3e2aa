package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

func members(r reply) []string {
	var names []string
	for name := range r.body {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// code is the problem's.
func expect(t *testing.T, what string, r reply, status int, code string) {
	t.Helper()
	if r.status != status || r.text("code") != code {
		t.Errorf("%s: %d %s, want %d %s", what, r.status, r.raw, status, code)
	}
}

func TestRegisterProveTheAddressAndSignIn(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, tenant := m.registered(t, "ada@example.org")
	entered := m.signedIn(t, "ADA@example.org", goodPassword)
	if entered.SignIn.UserID != user || entered.Device == "" {
		t.Errorf("%+v", entered)
	}
	list, err := m.people.Memberships(t.Context(), user)
	if err != nil || len(list) != 1 || list[0].TenantID != tenant || list[0].Roles[0].Name != "Owner" {
		t.Errorf("memberships %+v, %v", list, err)
	}
	if got := m.tenants.tenants[tenant]; got.Plan != "free" {
		t.Errorf("tenant %+v", got)
	}
}

func TestAllFaultsOfARegistrationAreToldAtOnce(t *testing.T) {
	t.Parallel()
	m := start(t)
	r := m.open(t, "192.0.2.1", "/user/public/register-user", `{"email": "no address", "password": "short", "firstName": 7, "organizationName": " "}`)
	expect(t, "faulty", r, http.StatusBadRequest, "invalid_request")
	var fields []string
	list, _ := r.body["errors"].([]any)
	for _, e := range list {
		fields = append(fields, e.(map[string]any)["field"].(string))
	}
	slices.Sort(fields)
	if got := strings.Join(fields, " "); got != "email firstName lastName organizationName password" {
		t.Errorf("faults of %s", got)
	}
	for password, code := range map[string]string{
		"Password1234": "common_password", "General Hospital": "personal_password", "ada.lovelace.1": "personal_password",
	} {
		r := m.open(t, "192.0.2.1", "/user/public/register-user", registration("ada.lovelace.1@example.org", password, "general hospital"))
		if r.status != http.StatusBadRequest || !strings.Contains(r.raw, code) || strings.Contains(r.raw, password) {
			t.Errorf("%s: %d %s", password, r.status, r.raw)
		}
	}
}

func TestRegistrationIsClosedInProduction(t *testing.T) {
	t.Parallel()
	m := start(t, func(c *settings) { c.Environment = config.Production })
	expect(t, "production", m.open(t, "192.0.2.1", "/user/public/register-user", registration("a@example.org", goodPassword, "o")), http.StatusForbidden, "registration_closed")
}

// Attack: user enumeration by registering. Answers are told apart neither by status, body nor work.
func TestRegisteringDoesNotTellWhoIsRegistered(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, tenant := m.registered(t, "ada@example.org")
	before := m.service.Passwords.Runs()
	fresh := m.open(t, "192.0.2.2", "/user/public/register-user", registration("new@example.org", goodPassword, "General Hospital"))
	work := m.service.Passwords.Runs() - before
	known := m.open(t, "192.0.2.2", "/user/public/register-user", registration("Ada@Example.org", goodPassword, "General Hospital"))
	if fresh.status != http.StatusCreated || known.status != http.StatusCreated || !slices.Equal(members(fresh), members(known)) || fresh.text("message") != known.text("message") {
		t.Errorf("%d %s\n%d %s", fresh.status, fresh.raw, known.status, known.raw)
	}
	if got := m.service.Passwords.Runs() - before - work; got != work || work != 1 {
		t.Errorf("%d runs of argon2 for a known address, %d for a new one", got, work)
	}
	for _, name := range []string{"userId", "tenantId"} {
		a, errA := uuid.Parse(fresh.text(name))
		b, errB := uuid.Parse(known.text(name))
		if errA != nil || errB != nil || a.Version() != b.Version() || known.text(name) == user || known.text(name) == tenant {
			t.Errorf("%s: %v and %v", name, a, b)
		}
	}
	if got := m.mailed(t, "ada@example.org", 2); got.subject != "You already have an account" {
		t.Errorf("the owner is told: %+v", got)
	}
	if _, there := m.tenants.member(known.text("tenantId"), user); there {
		t.Error("a second organization was made")
	}
}

func TestRegisteringAgainBeforeTheAddressIsProvedMailsANewLink(t *testing.T) {
	t.Parallel()
	m := start(t)
	first := m.open(t, "192.0.2.1", "/user/public/register-user", registration("ada@example.org", "somebody else's choice", "Mallory Inc"))
	old := m.mailed(t, "ada@example.org", 1).link(t)
	again := m.open(t, "192.0.2.1", "/user/public/register-user", registration("ada@example.org", goodPassword, "General Hospital"))
	if first.status != http.StatusCreated || again.status != http.StatusCreated || first.text("userId") == again.text("userId") {
		t.Errorf("%s, %s", first.raw, again.raw)
	}
	link := m.mailed(t, "ada@example.org", 2).link(t)
	expect(t, "a superseded link", m.open(t, "192.0.2.1", old, ""), http.StatusBadRequest, "invalid_link")
	if r := m.open(t, "192.0.2.1", link, ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	// Who registered first did not choose the password that the owner of the address proved.
	if _, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", "somebody else's choice"); fault.Of(err).Code != "wrong_credentials" {
		t.Errorf("the first password: %v", err)
	}
	m.signedIn(t, "ada@example.org", goodPassword)
}

// Attack: somebody registers a victim's address anew until no more letters go there. The link that the victim has must
// not prove the address for the attacker's password.
func TestALinkOnItsWayProvesNothingThatWasSaidAfterIt(t *testing.T) {
	t.Parallel()
	m := start(t)
	const most = 5
	for i := range most {
		r := m.open(t, "192.0.2.1", "/user/public/register-user", registration("ada@example.org", goodPassword, "General Hospital"))
		if r.status != http.StatusCreated {
			t.Fatalf("%d: %d %s", i, r.status, r.raw)
		}
	}
	link := m.mailed(t, "ada@example.org", most).link(t)
	r := m.open(t, "192.0.2.9", "/user/public/register-user", registration("ADA@example.org", "somebody else's choice", "Mallory Inc"))
	if r.status != http.StatusCreated {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if r := m.open(t, "192.0.2.1", link, ""); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if _, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", "somebody else's choice"); fault.Of(err).Code != "wrong_credentials" {
		t.Errorf("the attacker's password: %v", err)
	}
	m.signedIn(t, "ada@example.org", goodPassword)
}

// Attacks: links that are used again, changed, another user's, or old. All get one answer.
func TestVerificationLinks(t *testing.T) {
	t.Parallel()
	m := start(t)
	var links []string
	for _, email := range []string{"a@example.org", "b@example.org"} {
		m.open(t, "192.0.2.1", "/user/public/register-user", registration(email, goodPassword, "General Hospital"))
		links = append(links, m.mailed(t, email, 1).link(t))
	}
	a, b := strings.Split(links[0], "/"), strings.Split(links[1], "/")
	path := func(user, identifier string) string { return "/user/public/verify-email/" + user + "/" + identifier }
	wrong := map[string]string{
		"another user's": path(a[4], b[5]), "changed": path(a[4], a[5][1:]+"x"), "nobody's": path("01900000-0000-7000-8000-0000000000ff", a[5]),
		"no id": path("x", a[5]), "for another purpose": "/user/public/verify-password-update/" + a[4] + "/" + a[5],
	}
	var answers []string
	for name, link := range wrong {
		r := m.open(t, "192.0.2.1", link, `{"newPassword": "`+goodPassword+`"}`)
		expect(t, name, r, http.StatusBadRequest, "invalid_link")
		answers = append(answers, r.text("detail")+r.text("message"))
	}
	if slices.Sort(answers); len(slices.Compact(answers)) != 1 {
		t.Errorf("answers differ: %q", answers)
	}
	if r := m.open(t, "192.0.2.1", links[0], ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	expect(t, "used again", m.open(t, "192.0.2.1", links[0], ""), http.StatusBadRequest, "invalid_link")
	m.clock.move(24*time.Hour + time.Second)
	expect(t, "a day later", m.open(t, "192.0.2.1", links[1], ""), http.StatusBadRequest, "invalid_link")
}

func TestRegistrationsOfAnAddressAreBounded(t *testing.T) {
	t.Parallel()
	m := start(t, func(c *settings) { c.RegistrationsPerAddress, c.ResetsPerAddress = 2, 2 })
	for i, want := range []int{http.StatusCreated, http.StatusCreated, http.StatusTooManyRequests} {
		r := m.open(t, "2001:db8::"+string(rune('1'+i)), "/user/public/register-user", registration("a@example.org", goodPassword, "o"))
		if r.status != want || (want == http.StatusTooManyRequests) != (r.header.Get("Retry-After") != "") {
			t.Errorf("%d: %d %s", i, r.status, r.raw)
		}
	}
	if r := m.open(t, "192.0.2.9", "/user/public/register-user", registration("a@example.org", goodPassword, "o")); r.status != http.StatusCreated {
		t.Errorf("another address: %d", r.status)
	}
	for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
		if r := m.open(t, "192.0.2.9", "/user/public/reset-password", `{"email": "a@example.org"}`); r.status != want {
			t.Errorf("reset %d: %d %s", i, r.status, r.raw)
		}
	}
}

// resetLink asks for a new password and gives the path of the nth letter's link.
func (m *meshed) resetLink(t *testing.T, email string, n int) string {
	t.Helper()
	if r := m.open(t, "192.0.2.3", "/user/public/reset-password", `{"email": "`+email+`"}`); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	return m.mailed(t, email, n).link(t)
}

func TestResetEndsEverything(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, _ := m.registered(t, "ada@example.org")
	entered := m.signedIn(t, "ada@example.org", goodPassword)
	heard := m.revocations(t)
	link := m.resetLink(t, "ada@example.org", 2)
	r := m.open(t, "192.0.2.3", link, `{"newPassword": "ada@example.org"}`)
	if r.status != http.StatusBadRequest || !strings.Contains(r.raw, "personal_password") {
		t.Errorf("%d %s", r.status, r.raw)
	}
	if r := m.open(t, "192.0.2.3", link, `{"newPassword": "a pear tree at dusk"}`); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	hear(t, heard, session.Revocation{User: user})
	if m.browser(t, entered.Cookie) != nil {
		t.Error("a browser stayed signed in")
	}
	if _, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", goodPassword); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("the old password: %v", err)
	}
	m.signedIn(t, "ada@example.org", "a pear tree at dusk")
	if got := m.mailed(t, "ada@example.org", 3); got.subject != "Your password was changed" {
		t.Errorf("notice: %+v", got)
	}
}

// Attacks: a reset link that is used again, for another user, superseded or old.
func TestResetLinks(t *testing.T) {
	t.Parallel()
	m := start(t)
	for _, email := range []string{"a@example.org", "b@example.org"} {
		m.registered(t, email)
	}
	const body = `{"newPassword": "a pear tree at dusk"}`
	superseded, other := m.resetLink(t, "a@example.org", 2), m.resetLink(t, "b@example.org", 2)
	link := m.resetLink(t, "a@example.org", 3)
	a, b := strings.Split(link, "/"), strings.Split(other, "/")
	for name, path := range map[string]string{
		"superseded": superseded, "another user's": "/user/public/verify-password-update/" + a[4] + "/" + b[5],
		"as a verification": "/user/public/verify-email/" + a[4] + "/" + a[5],
	} {
		expect(t, name, m.open(t, "192.0.2.3", path, body), http.StatusBadRequest, "invalid_link")
	}
	m.open(t, "192.0.2.3", link, body)
	expect(t, "used again", m.open(t, "192.0.2.3", link, `{"newPassword": "a third password here"}`), http.StatusBadRequest, "invalid_link")
	m.signedIn(t, "a@example.org", "a pear tree at dusk")
	m.clock.move(time.Hour + time.Second)
	expect(t, "an hour later", m.open(t, "192.0.2.3", other, body), http.StatusBadRequest, "invalid_link")
}

// Attack: user enumeration by asking for resets.
func TestAskingForAResetDoesNotTellWhoIsRegistered(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	before := m.service.Passwords.Runs()
	known := m.open(t, "192.0.2.3", "/user/public/reset-password", `{"email": "ada@example.org"}`)
	unknown := m.open(t, "192.0.2.3", "/user/public/reset-password", `{"email": "nobody@example.org"}`)
	if known.status != http.StatusOK || known.raw != unknown.raw || unknown.status != known.status {
		t.Errorf("%d %s\n%d %s", known.status, known.raw, unknown.status, unknown.raw)
	}
	if m.service.Passwords.Runs() != before {
		t.Error("asking runs argon2")
	}
}

// Attack: a poisoned Host header must not choose where a mailed link leads.
func TestMailedLinksLeadToTheConfiguredAddress(t *testing.T) {
	t.Parallel()
	m := start(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.base+"/user/public/register-user",
		strings.NewReader(registration("ada@example.org", goodPassword, "General Hospital")))
	check(t, err)
	request.Host = "evil.example"
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-Host", "evil.example")
	if r := send(t, request); r.status != http.StatusCreated {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if got := m.mailed(t, "ada@example.org", 1); strings.Contains(got.text+got.html, "evil") || got.link(t) == "" {
		t.Errorf("%s", got.text)
	}
}

func TestMailsToAnAccountAreBounded(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	for range 8 {
		if r := m.open(t, "192.0.2.3", "/user/public/reset-password", `{"email": "ada@example.org"}`); r.status != http.StatusOK {
			t.Fatalf("%d %s", r.status, r.raw)
		}
	}
	m.mailed(t, "ada@example.org", 6)
	m.resetOther(t)
	if got := len(m.letters(t, "ada@example.org")); got != 6 {
		t.Errorf("%d letters, want the one that verifies and five", got)
	}
}

// resetOther waits for a later letter to somebody else: what was to be mailed before it has been.
func (m *meshed) resetOther(t *testing.T) {
	t.Helper()
	m.registered(t, "later@example.org")
}

// What is kept of a mailed link, and of a letter that waits, opens nothing.
func TestNoLinkStandsInTheDatabaseOrTheLog(t *testing.T) {
	t.Parallel()
	m := start(t)
	m.registered(t, "ada@example.org")
	link := m.resetLink(t, "ada@example.org", 2)
	identifier := link[strings.LastIndexByte(link, '/')+1:]
	conn, err := pgx.Connect(t.Context(), m.admin)
	check(t, err)
	defer conn.Close(t.Context())
	var dump string
	check(t, conn.QueryRow(t.Context(), `SELECT coalesce(string_agg(l::text, ''), '') FROM mailed_link l`).Scan(&dump))
	if dump == "" || strings.Contains(dump, identifier) {
		t.Errorf("kept: %s", dump)
	}
	m.logged.Lock()
	defer m.logged.Unlock()
	for _, secret := range []string{identifier, "ada@example.org", goodPassword} {
		if strings.Contains(m.log.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}
