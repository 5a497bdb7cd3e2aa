package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// enter signs somebody in at the pages, without any client.
func enter(t *testing.T, a account) (*person, page) {
	t.Helper()
	p := newPerson(t, world)
	seen := p.submit(p.visit("/sign-in"), map[string]string{"email": a.email, "password": a.password}).is(ok)
	if seen.at.Path != "/account" {
		t.Fatalf("at %s: %s", seen.at.Path, seen.shown())
	}
	return p, seen
}

// cookie is the value of a cookie of a person; "" when there is none.
func (p *person) cookie(name string) string {
	p.t.Helper()
	at, err := url.Parse(p.base)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, c := range p.http.Jar.Cookies(at) {
		if c.Name == name {
			return secretly(c.Value)
		}
	}
	return ""
}

func TestSignInDoesNotTellWhoIsRegistered(t *testing.T) {
	who := newAccount(t)
	told := func(email string) string {
		p := newPerson(t, world)
		seen := p.submit(p.visit("/sign-in"), map[string]string{"email": email, "password": "not the password"}).is(bad)
		if p.cookie("sign-in") != "" || p.cookie("device") != "" {
			t.Error("a cookie for nobody")
		}
		return strings.ReplaceAll(strings.Join(strings.Fields(seen.text), " "), email, "")
	}
	if known, unknown := told(who.email), told(stranger().email); known != unknown {
		t.Errorf("%s\n%s", known, unknown)
	}
	forgot := func(email string) string {
		p := newPerson(t, world)
		seen := p.submit(p.visit("/forgot-password"), map[string]string{"email": email}).is(ok)
		return strings.ReplaceAll(strings.Join(strings.Fields(seen.text), " "), email, "")
	}
	if known, unknown := forgot(who.email), forgot(stranger().email); known != unknown {
		t.Errorf("%s\n%s", known, unknown)
	}
}

// Links that are mailed lead to where the mesh is, wherever the request says that it was sent.
func TestMailedLinksDoNotFollowTheHostHeader(t *testing.T) {
	a := stranger()
	send := func(path string, body map[string]any) {
		c := anyone(t).with("X-Forwarded-Host", "evil.example").with("Forwarded", "host=evil.example").with("X-Forwarded-Proto", "https").with("X-Original-Host", "evil.example")
		c.host = "evil.example"
		if status := c.post(path, body).status; status >= http.StatusInternalServerError {
			t.Errorf("answered %d", status)
		}
		c.host = ""
		c.post(path, body)
	}
	send("/user/public/register-user", a.registration())
	linkTo(t, world, a.email, verifyLink, 0) // checks where it leads
	who := newAccount(t)
	before := letters(t, world, who.email)
	send("/user/public/reset-password", map[string]any{"email": who.email})
	linkTo(t, world, who.email, resetLink, before)
	texts, err := mailOf(world).To(a.email)
	if err != nil {
		t.Fatal(err)
	}
	more, err := mailOf(world).To(who.email)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(texts, more...) {
		if strings.Contains(text, "evil.example") {
			t.Errorf("a letter follows the request: %s", text)
		}
	}
}

// Whoever fails on purpose keeps strangers out, and not the owner, whose browser is known.
func TestAVictimIsNotLockedOut(t *testing.T) {
	who := newAccount(t)
	p, _ := enter(t, who)
	device := p.cookie("device")
	if device == "" {
		t.Fatal("no device cookie")
	}
	p.submit(p.visit("/sign-out"), map[string]string{})
	if p.visit("/account").at.Path != "/sign-in" || p.cookie("device") != device {
		t.Fatal("signing out did not, or forgot the device")
	}
	attacker := newPerson(t, world)
	var last page
	for range 12 {
		last = attacker.submit(attacker.visit("/sign-in"), map[string]string{"email": who.email, "password": "a guess of mine"})
	}
	if last.status != http.StatusTooManyRequests || last.header.Get("Retry-After") == "" {
		t.Errorf("the twelfth guess answered %d", last.status)
	}
	attacker.submit(attacker.visit("/sign-in"), map[string]string{"email": who.email, "password": who.password}).is(http.StatusTooManyRequests)
	if seen := p.submit(p.visit("/sign-in"), map[string]string{"email": who.email, "password": who.password}); seen.at.Path != "/account" {
		t.Errorf("the victim is at %s: %d", seen.at.Path, seen.status)
	}
	signInAgain := newPerson(t, world) // a stranger's device is none of the owner's
	signInAgain.submit(signInAgain.visit("/sign-in"), map[string]string{"email": who.email, "password": who.password}).is(http.StatusTooManyRequests)
}

// Nobody is signed in by a cookie that was there before.
func TestSessionFixation(t *testing.T) {
	who := newAccount(t)
	p := newPerson(t, world)
	at, err := url.Parse(p.base)
	if err != nil {
		t.Fatal(err)
	}
	planted := strings.Repeat("a", 43)
	for _, name := range []string{"sign-in", "form"} {
		p.http.Jar.SetCookies(at, []*http.Cookie{{Name: name, Value: planted, Path: "/"}})
	}
	p.submit(p.visit("/sign-in"), map[string]string{"email": who.email, "password": who.password}).is(ok)
	first := p.cookie("sign-in")
	if first == planted || first == "" {
		t.Fatalf("the cookie is %q", first)
	}
	thief := newPerson(t, world)
	thief.http.Jar.SetCookies(at, []*http.Cookie{{Name: "sign-in", Value: planted, Path: "/"}})
	if thief.visit("/account").at.Path != "/sign-in" {
		t.Error("a planted cookie is signed in")
	}
	// A new proof gives a new cookie, and the old one dies with its session.
	p.submit(p.visit("/sign-out"), map[string]string{})
	thief.http.Jar.SetCookies(at, []*http.Cookie{{Name: "sign-in", Value: first, Path: "/"}})
	if thief.visit("/account").at.Path != "/sign-in" {
		t.Error("the cookie outlives its session")
	}
}

// A form has to come from a page of ours, in the same browser.
func TestForeignForms(t *testing.T) {
	who := newAccount(t)
	p, seen := enter(t, who)
	f := seen.form(map[string]string{"firstName": "", "lastName": ""})
	values := url.Values{"firstName": {"Eve"}, "lastName": {"Evil"}, "csrf": f.inputs["csrf"]}
	token := func(value string) url.Values {
		changed := url.Values{"firstName": {"Eve"}, "lastName": {"Evil"}}
		if value != "" {
			changed.Set("csrf", value)
		}
		return changed
	}
	_, theirs := enter(t, newAccount(t))
	for name, try := range map[string]struct {
		header map[string]string
		values url.Values
	}{
		"no token":               {nil, token("")},
		"made up":                {nil, token(strings.Repeat("a", 43))},
		"another browser's":      {nil, token(theirs.form(map[string]string{"firstName": ""}).inputs.Get("csrf"))},
		"a foreign origin":       {map[string]string{"Origin": "https://evil.example"}, values},
		"from another site":      {map[string]string{"Sec-Fetch-Site": "cross-site"}, values},
		"from a neighbour":       {map[string]string{"Sec-Fetch-Site": "same-site"}, values},
		"a look-alike of origin": {map[string]string{"Origin": world.URL() + ".evil.example"}, values},
	} {
		if got := p.sendWith(try.header, http.MethodPost, "/account/profile", try.values); got.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, got.status)
		}
	}
	for _, path := range []string{"/sign-in", "/sign-up", "/sign-out", "/forgot-password", "/reset-password", "/verify-email", "/account/password", "/account/key", "/account/session/end-all", "/choose-organization", "/invitation", "/agreement"} {
		if got := p.send(http.MethodPost, path, url.Values{"email": {who.email}, "password": {who.password}}); got.status != http.StatusForbidden {
			t.Errorf("%s without a token: %d", path, got.status)
		}
	}
	if strings.Contains(p.visit("/account").is(ok).text, "Eve") {
		t.Error("a forged form was taken")
	}
	if p.visit("/sign-out").is(ok); p.visit("/account").at.Path != "/account" { // looking at it signs nobody out
		t.Error("signed out by a GET")
	}
	p.sendWith(map[string]string{"Origin": world.URL(), "Sec-Fetch-Site": "same-origin"}, http.MethodPost, "/account/profile", values).is(ok).says("Eve")
}

func TestConsentCannotBeForged(t *testing.T) {
	p, _ := enter(t, newAccount(t))
	asked := p.visit(authorizing()).is(ok)
	form := asked.form(map[string]string{"decision": ""})
	forged := url.Values{}
	for name, list := range form.inputs {
		forged[name] = list
	}
	forged.Set("decision", "allow")
	forged.Set("csrf", strings.Repeat("a", 43))
	p.send(http.MethodPost, "/oauth2/authorize", forged).is(http.StatusForbidden)
	forged.Del("csrf")
	p.send(http.MethodPost, "/oauth2/authorize", forged).is(http.StatusForbidden)
	if got := p.visit(authorizing() + "&decision=allow"); got.status != ok || !got.asks("decision") {
		t.Errorf("a decision in the address is taken: %d", got.status)
	}
	// What the form says of the request is judged anew.
	genuine := url.Values{}
	for name, list := range form.inputs {
		genuine[name] = list
	}
	genuine.Set("decision", "allow")
	genuine.Set("redirect_uri", "https://evil.example/callback")
	if got := p.send(http.MethodPost, "/oauth2/authorize", genuine); got.status != bad || got.header.Get("Location") != "" {
		t.Errorf("another address is taken: %d %s", got.status, got.header.Get("Location"))
	}
}

func TestNoPageStandsInAFrame(t *testing.T) {
	p, _ := enter(t, newAccount(t))
	for _, path := range []string{"/account", "/sign-in?again=1", "/sign-up", "/forgot-password", "/sign-out", "/agreement", "/choose-organization", authorizing(), "/oauth2/authorize", "/nowhere", "/user/public/verify-email/x/y"} {
		seen := p.visit(path)
		if !strings.HasPrefix(seen.header.Get("Content-Type"), "text/html") {
			if seen.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s can be taken for another type", path)
			}
			continue
		}
		policy := seen.header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "frame-ancestors 'none'") || !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			seen.header.Get("X-Frame-Options") != "DENY" || seen.header.Get("Cache-Control") != "no-store" || seen.header.Get("Referrer-Policy") != "no-referrer" ||
			seen.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", path, seen.header)
		}
	}
	// A page is nothing that another site's script may read.
	foreign := p.sendWith(map[string]string{"Origin": "https://evil.example"}, http.MethodGet, "/account", nil)
	if got := foreign.header.Get("Access-Control-Allow-Origin"); got != "" {
		t.Errorf("the account is open to %q", got)
	}
}

// Attack: open redirects.
func TestContinueLeadsNowhereElse(t *testing.T) {
	who := newAccount(t)
	p, _ := enter(t, who)
	targets := []string{
		"https://evil.example", "//evil.example", `/\evil.example`, `\\evil.example`, "/%2f/evil.example", "https:evil.example", "javascript:alert(1)",
		"/account/..//evil.example", "/account\r\nLocation: https://evil.example", "/account#//evil.example", "///evil.example", " //evil.example", "/oauth2/authorize/../..//evil.example",
		"@evil.example", "/.evil.example", "http://127.0.0.1/callback",
	}
	for _, target := range targets {
		if got := p.visit("/sign-in?continue=" + url.QueryEscape(target)); got.at.Path != "/account" || got.at.Host != strings.TrimPrefix(world.URL(), "http://") {
			t.Errorf("%q leads to %s", target, got.at)
		}
	}
	fresh := newPerson(t, world)
	seen := fresh.visit("/sign-in?continue=" + url.QueryEscape("https://evil.example/"))
	seen = fresh.submit(seen, map[string]string{"email": who.email, "password": who.password, "continue": "//evil.example/"})
	if seen.at.Path != "/account" {
		t.Errorf("signed in to %s", seen.at)
	}
	if got := fresh.submit(fresh.visit("/choose-organization?continue=//evil.example"), map[string]string{"tenantId": who.tenant, "continue": "https://evil.example"}); got.at.Path != "/account" {
		t.Errorf("chosen to %s", got.at)
	}
}

func TestLoggingOutLeadsNowhereElse(t *testing.T) {
	p, _ := enter(t, newAccount(t))
	seen := p.visit("/sign-out?continue=https://evil.example&post_logout_redirect_uri=https://evil.example&redirect_uri=//evil.example").is(ok)
	f := seen.form(map[string]string{})
	f.inputs.Set("continue", "//evil.example")
	f.inputs.Set("post_logout_redirect_uri", "https://evil.example")
	if got := p.send(http.MethodPost, p.base+f.action, f.inputs); got.at.Host != strings.TrimPrefix(world.URL(), "http://") {
		t.Errorf("signed out to %s", got.at)
	}
	eventually(t, time.Second, func() bool { return p.visit("/account").at.Path == "/sign-in" })
}
