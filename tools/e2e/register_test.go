package e2e

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestRegisterProveTheAddressAndSignIn(t *testing.T) {
	c, a := anyone(t), stranger()
	made := c.post("/user/public/register-user", a.registration()).is(http.StatusCreated).object()
	a.id, a.tenant = made["userId"].(string), made["tenantId"].(string)
	// Nobody signs in before the address is proved: who knows the password is mailed another link in the place of the first.
	old := linkTo(t, world, a.email, verifyLink, 0)
	p := newPerson(t, world)
	p.submit(p.visit("/sign-in"), map[string]string{"email": a.email, "password": a.password}).is(bad)
	link := linkTo(t, world, a.email, verifyLink, 1)
	c.post(old, nil).refused(bad, "invalid_link")
	// A link is not followed by being looked at, as programs do that scan mail.
	p.visit(link).is(ok)
	seen := p.visit(link).is(ok)
	p.submit(seen, map[string]string{"identifier": link[strings.LastIndex(link, "/")+1:]}).is(ok)
	c.post(link, nil).refused(bad, "invalid_link") // spent
	eventually(t, 10*time.Second, func() bool {
		p := newPerson(t, world)
		seen := p.submit(p.visit("/sign-in"), map[string]string{"email": a.email, "password": a.password})
		return seen.at.Path == "/account" && strings.Contains(seen.text, "Analytical Ward")
	})
	if got := signIn(t, a); got.tenant() != a.tenant {
		t.Error("another tenant than was said")
	}
}

// An address that is registered gets the same answer, with ids that are nobody's; its owner is told.
func TestRegisteringTellsNobodyWhoIsRegistered(t *testing.T) {
	known, unknown := newAccount(t), stranger()
	c := anyone(t)
	shape := func(a answer) string {
		made := a.is(http.StatusCreated).object()
		for _, name := range []string{"userId", "tenantId"} {
			if !uuidForm.MatchString(fmt.Sprint(made[name])) {
				t.Errorf("%s is %v", name, made[name])
			}
		}
		header := a.header.Clone()
		for _, name := range []string{"Date", "Trace-Id", "Traceparent"} {
			header.Del(name)
		}
		return fmt.Sprint(len(made), made["message"], header)
	}
	news := c.post("/user/public/register-user", unknown.registration())
	again := c.post("/user/public/register-user", account{email: strings.ToUpper(known.email), password: stranger().password}.registration())
	if shape(news) != shape(again) {
		t.Errorf("%s %s\n%s %s", shape(news), news.raw, shape(again), again.raw)
	}
	if strings.Contains(string(again.raw), known.id) || strings.Contains(string(again.raw), known.tenant) {
		t.Error("the answer names who is registered")
	}
	eventually(t, 10*time.Second, func() bool { return letters(t, world, known.email) == 2 })
	signIn(t, known) // with the password of before
}

func TestWhatIsNoRegistration(t *testing.T) {
	c := anyone(t)
	got := c.post("/user/public/register-user", map[string]any{"email": "nobody", "password": "short", "firstName": "", "lastName": 1}).faults()
	if len(got) != 5 {
		t.Errorf("faults %v", got)
	}
	a := stranger()
	a.password = "password1234"
	if got := c.post("/user/public/register-user", a.registration()).faults(); len(got) != 1 || !strings.HasPrefix(got[0], "password ") {
		t.Errorf("a common password: %v", got)
	}
}

// With a new password every session of the user ends: at clients, in browsers, everywhere. The link works once, for its user.
func TestResetEndsEverySession(t *testing.T) {
	who, other := newAccount(t), newAccount(t)
	s := signIn(t, who)
	c := anyone(t)
	before := letters(t, world, who.email)
	known := c.post("/user/public/reset-password", map[string]any{"email": who.email}).is(ok)
	unknown := c.post("/user/public/reset-password", map[string]any{"email": stranger().email}).is(ok)
	if string(known.raw) != string(unknown.raw) {
		t.Errorf("%s, and for nobody %s", known.raw, unknown.raw)
	}
	link := linkTo(t, world, who.email, resetLink, before)
	newPerson(t, world).visit(link).is(ok).form(map[string]string{"password": ""}) // looking spends nothing

	next := secretly("Other-" + state())
	body := map[string]any{"newPassword": next}
	c.post(strings.Replace(link, who.id, other.id, 1), body).refused(bad, "invalid_link")
	c.post(strings.Replace(link, resetLink, verifyLink, 1), nil).refused(bad, "invalid_link")
	if got := c.post(link, map[string]any{"newPassword": "short"}).faults(); len(got) != 1 {
		t.Errorf("a weak one: %v", got)
	}
	c.post(link, body).is(ok)
	s.ended()
	if at := s.by.visit("/account").at.Path; at != "/sign-in" {
		t.Errorf("the browser is still signed in, at %s", at)
	}
	c.post(link, body).refused(bad, "invalid_link")
	p := newPerson(t, world)
	p.submit(p.visit("/sign-in"), map[string]string{"email": who.email, "password": who.password}).is(bad)
	who.password = next
	signIn(t, who).client().get(patients).is(ok)
}

func TestLogoutEndsTheSessionEverywhere(t *testing.T) {
	s := signIn(t, newAccount(t))
	s.client().get(patients).is(ok)
	s.client().post("/auth/user/logout", nil).is(ok)
	s.ended()
	if at := s.by.visit("/account").at.Path; at != "/sign-in" {
		t.Errorf("the browser is still signed in, at %s", at)
	}
	owner(t).post("/auth/user/logout", nil).is(http.StatusForbidden) // a key is no session: it is revoked
	owner(t).get("/v2/tenant").is(ok)
	anyone(t).post("/auth/user/logout", nil).is(unauthorized)
}

// A session is listed on the account page, and ended from there by another browser of the same person.
func TestASessionIsEndedFromTheAccountPage(t *testing.T) {
	who := newAccount(t)
	s := signIn(t, who)
	p := newPerson(t, world)
	seen := p.submit(p.visit("/sign-in"), map[string]string{"email": who.email, "password": who.password}).is(ok)
	var ended bool
	for _, f := range seen.forms {
		if strings.HasSuffix(f.action, "/account/session/end-all") {
			p.send(http.MethodPost, p.base+f.action, f.inputs)
			ended = true
		}
	}
	if !ended {
		t.Fatal(seen.shown())
	}
	s.ended()
}
