package page_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/page"
)

func TestSignIn(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w)
	b.get("/").leads("/sign-in")
	b.get("/account").leads("/sign-in") // and back there, as it is where everybody ends up
	b.get("/sign-in").want(http.StatusOK).submit("/sign-in", "email", " "+email+" ", "password", password).leads("/account")
	session := b.set[slices.IndexFunc(b.set, func(c *http.Cookie) bool { return c.Name == "__Host-sign-in" })]
	if !session.Secure || !session.HttpOnly || session.SameSite != http.SameSiteLaxMode || session.Path != "/" || session.Domain != "" || session.MaxAge != 0 {
		t.Errorf("%+v", session)
	}
	if b.cookies["__Host-device"] != "device-1" || b.cookies["__Host-form"] != "" {
		t.Errorf("%v", b.cookies)
	}
	if c := w.callers[0]; c.Address != "203.0.113.9" {
		t.Errorf("%+v", c)
	}
	b.follow().want(http.StatusOK, "Northside Clinic", "Mara Lindqvist")
	b.get("/").leads("/account")
	b.get("/sign-in?continue=/agreement").leads("/agreement")
	b.get("/sign-out").submit("/sign-out").leads("/sign-in?done=signed-out").follow().want(http.StatusOK, "You are signed out.")
	b.get("/account").leads("/sign-in")
	if len(w.signIns) != 0 {
		t.Error("the session goes on")
	}
}

// Where there is no TLS, browsers refuse cookies that ask for it.
func TestCookiesWithoutTLS(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w)
	b.server = newServer(t, w, "http://127.0.0.1:8080")
	b.signIn()
	if b.cookies["sign-in"] == "" {
		t.Errorf("%v", b.cookies)
	}
	for _, c := range b.set {
		if c.Secure {
			t.Errorf("%+v", c)
		}
	}
}

func TestSignInRefused(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).get("/sign-in")
	b.submit("/sign-in", "email", email, "password", "wrong").want(http.StatusBadRequest, "don’t go together", `value="`+email+`"`, `role="alert"`)
	if strings.Contains(b.body, "wrong\"") || b.cookies["__Host-sign-in"] != "" {
		t.Errorf("%s %v", b.body, b.cookies)
	}
	known := b.body
	b.submit("/sign-in", "email", email, "password", "other").want(http.StatusBadRequest)
	if b.body != known {
		t.Error("two wrong passwords read differently")
	}
	b.submit("/sign-in", "email", "").want(http.StatusBadRequest, "E-mail address is required.", "Password is required.", `aria-invalid="true"`, `href="#password"`)
	w.err = &fault.Error{Kind: fault.RateLimited, Code: "rate_limited", RetryAfter: 90 * time.Second}
	b.submit("/sign-in", "email", email, "password", password).want(http.StatusTooManyRequests, "too many tries")
	if b.head.Get("Retry-After") != "90" {
		t.Errorf("Retry-After %q", b.head.Get("Retry-After"))
	}
	w.err = fault.Away(nil, "away")
	b.submit("/sign-in", "email", email, "password", password).want(http.StatusServiceUnavailable, "just now")
}

func TestSecondFactor(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.factors.TOTP = true
	b := open(t, w).get("/sign-in?continue=/agreement")
	b.submit("/sign-in", "email", email, "password", password).leads("/sign-in/second-factor?challenge=challenge-1&continue=%2Fagreement")
	if b.cookies["__Host-sign-in"] != "" {
		t.Fatal("a session before the second factor")
	}
	b.follow().want(http.StatusOK, `name="challenge" value="challenge-1"`, `inputmode="numeric"`, `autocomplete="one-time-code"`)
	if strings.Contains(b.body, "Send me a code") {
		t.Error("a mailed code would weaken an app")
	}
	b.submit("/sign-in/second-factor", "code", "000000").want(http.StatusBadRequest, "Code is not right")
	w.err = &fault.Error{Kind: fault.RateLimited, Code: "rate_limited"}
	b.submit("/sign-in/second-factor", "code", "000000").want(http.StatusTooManyRequests)
	b.submit("/sign-in/second-factor", "code", "123456").leads("/agreement")
	if b.cookies["__Host-sign-in"] == "" {
		t.Error("no session")
	}
	b.get("/sign-in/second-factor?challenge=challenge-1").want(http.StatusBadRequest, "This sign-in has expired")
}

func TestMailedCode(t *testing.T) {
	t.Parallel()
	w := newWorld()
	w.challenges["c"] = identity.Challenge{ID: "c", Methods: []string{identity.AnswerMail}}
	b := open(t, w).get("/sign-in/second-factor?challenge=c&continue=/agreement").want(http.StatusOK)
	b.submit("/sign-in/second-factor/send").leads("/sign-in/second-factor?challenge=c&continue=%2Fagreement&done=sent")
	b.follow().want(http.StatusOK, "A new code is on its way")
	if !slices.Contains(w.did, "send-code") {
		t.Errorf("%v", w.did)
	}
}

// A form counts only with the token of the browser that it was shown to, and from our own pages.
func TestForeignForms(t *testing.T) {
	t.Parallel()
	w := newWorld()
	victim, attacker := open(t, w), open(t, w)
	victim.get("/sign-in")
	stolen := attacker.get("/sign-in").form("/sign-in")
	own := victim.form("/sign-in")
	for name, token := range map[string]string{"none": "", "another browser's": stolen.Get("csrf"), "cut": own.Get("csrf")[:20]} {
		victim.post("/sign-in", url.Values{"email": {email}, "password": {password}, "csrf": {token}})
		if victim.code != http.StatusForbidden || len(w.signIns) != 0 {
			t.Errorf("%s: %d", name, victim.code)
		}
	}
	for name, c := range map[string]struct {
		header, value string
		code          int
	}{
		"foreign origin":   {"Origin", "https://evil.example", 403},
		"other port":       {"Origin", origin + ":8443", 403},
		"other scheme":     {"Origin", "http://mesh.example", 403},
		"cross-site":       {"Sec-Fetch-Site", "cross-site", 403},
		"same-site":        {"Sec-Fetch-Site", "same-site", 403},
		"own origin":       {"Origin", origin, 400},
		"no referrer":      {"Origin", "null", 400},
		"same origin":      {"Sec-Fetch-Site", "same-origin", 400},
		"nothing is known": {"Accept", "*/*", 400},
	} {
		b := open(t, w).get("/sign-in")
		b.header.Set(c.header, c.value)
		if b.submit("/sign-in", "email", email, "password", "wrong"); b.code != c.code {
			t.Errorf("%s: %d, want %d", name, b.code, c.code)
		}
	}
	victim.signIn() // the session binds forms anew
	if victim.post("/account/profile", url.Values{"firstName": {"X"}, "lastName": {"Y"}, "csrf": {own.Get("csrf")}}); victim.code != http.StatusForbidden {
		t.Errorf("a token from before sign-in: %d", victim.code)
	}
	victim.want(http.StatusForbidden, "This form has expired")
}

func TestForms(t *testing.T) {
	t.Parallel()
	b := open(t, newWorld()).get("/sign-in")
	token := b.form("/sign-in").Get("csrf")
	if b.post("/sign-in", url.Values{"csrf": {token}, "email": {strings.Repeat("x", 64<<10)}}); b.code != http.StatusRequestEntityTooLarge {
		t.Errorf("%d", b.code)
	}
	if b.do(http.MethodPost, "/sign-in", "multipart/form-data; boundary=x", "--x--"); b.code != http.StatusUnsupportedMediaType {
		t.Errorf("%d", b.code)
	}
	if b.do(http.MethodPost, "/sign-in", "application/x-www-form-urlencoded", "a=%zz"); b.code != http.StatusBadRequest {
		t.Errorf("%d", b.code)
	}
}

// Nobody is led off our pages by an address that they were given.
func TestContinue(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"/account":             "/account",
		"/agreement":           "/agreement",
		request:                request,
		"":                     "/account",
		"/invitation/0190/abc": "/invitation/0190/abc",
		"//evil.example":       "/account", `/\evil.example`: "/account", `\\evil.example`: "/account",
		"https://evil.example": "/account", "https:evil.example": "/account", "javascript:alert(1)": "/account",
		"/account/../../evil": "/account", "/invitation/..//evil.example": "/account", "/invitation//evil.example": "/account",
		"/invitation/%2e%2e/x": "/account", "/invitation/%5Cevil": "/account", "/invitation/a\\b": "/account", "/account\r\nX: y": "/account",
		"/account\tx": "/account", " /account": "/account", "/accountant": "/account", "/oauth2/authorize": "/account",
		"/oauth2/authorize?x#y": "/account", "/sign-out": "/account", "/assets/x": "/account", "/invitation/./x": "/account",
		"/oauth2/authorize?x\x00": "/account", "/account@evil.example": "/account", "/oauth2/authorize?\u202e": "/account",
		"/agreement?" + strings.Repeat("x", 9000): "/account", "//mesh.example/account": "/account", "/invitation/": "/account",
	} {
		w := newWorld()
		b := open(t, w)
		b.get("/sign-in?"+url.Values{"continue": {address}}.Encode()).submit("/sign-in", "email", email, "password", password)
		if got := b.head.Get("Location"); got != want {
			t.Errorf("by address, %q leads to %q, want %q", address, got, want)
		}
		b = open(t, w).get("/sign-in")
		values := b.form("/sign-in")
		values.Set("continue", address)
		values.Set("email", email)
		values.Set("password", password)
		if b.post("/sign-in", values); b.head.Get("Location") != want {
			t.Errorf("by form, %q leads to %q, want %q", address, b.head.Get("Location"), want)
		}
	}
}

func TestSignUpAndLinks(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).get("/sign-up").want(http.StatusOK)
	b.submit("/sign-up", "firstName", "Mara", "password", "short").want(http.StatusBadRequest, "E-mail address is required.", "Password must have 12 to 128 characters.", `value="Mara"`)
	if strings.Contains(b.body, `value="short"`) {
		t.Error("a password is shown")
	}
	b.submit("/sign-up", "email", email, "password", password).want(http.StatusOK, "Check your inbox", email)
	b.get("/user/public/verify-email/u/good").want(http.StatusOK)
	if slices.Contains(w.did, "verify") {
		t.Fatal("following a link spends it")
	}
	b.submit("/verify-email").leads("/sign-in?done=verified").follow().want(http.StatusOK, "is confirmed")
	b.get("/user/public/verify-email/u/bad").submit("/verify-email").want(http.StatusBadRequest, "can’t be used")

	b.get("/forgot-password").submit("/forgot-password").want(http.StatusBadRequest, "is required")
	b.submit("/forgot-password", "email", "nobody@clinic.example").want(http.StatusOK, "If an account has this address")
	b.get("/user/public/verify-password-update/u/good").submit("/reset-password", "password", "short").want(http.StatusBadRequest, "Password must have 12")
	b.submit("/reset-password", "password", password).leads("/sign-in?done=reset")
	if b.cookies["__Host-device"] != "device-of-u" {
		t.Error("whoever chose a new password has to share the count of wrong ones with strangers")
	}
	b.get("/user/public/verify-password-update/u/bad").submit("/reset-password", "password", password).want(http.StatusBadRequest, "can’t be used")

	b.get("/invitation/i/good").submit("/invitation", "firstName", "Mara", "lastName", "Lindqvist", "password", password).leads("/sign-in?done=joined")
	b.signIn().get("/invitation/i/good").submit("/invitation").leads("/account?done=joined")
	b.get("/invitation/i/bad").want(http.StatusBadRequest, "can’t be used")
	withdrawn := b.get("/invitation/i/good").want(http.StatusOK, "Harbour <Street> Practice", "guest@clinic.example").form("/invitation")
	withdrawn.Set("identifier", "bad") // between the look and the press
	b.post("/invitation", withdrawn).want(http.StatusBadRequest, "can’t be used")
}

// What others call themselves is text, wherever it stands.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	hostile := `"><script>alert(1)</script><img src=x onerror='alert(2)'>{{.}}`
	w := newWorld()
	w.client.Name, w.user.FirstName, w.memberships[0].Name = hostile, hostile, hostile
	w.memberships[0].Roles[0].Name, w.keys[0].Name, w.sessions[1].Agent, w.sessions[2].Application = hostile, hostile, hostile, hostile
	w.second()
	w.factors.Passkeys = []identity.Passkey{{ID: hostile, Name: hostile, CreatedAt: w.now}}
	b := open(t, w).signIn()
	for _, address := range []string{
		"/account", "/choose-organization?continue=" + url.QueryEscape(request), request + "&tenantId=" + north + "&x=" + url.QueryEscape(hostile),
		"/account?done=" + url.QueryEscape(hostile), "/sign-in?again=1&continue=" + url.QueryEscape(request),
	} {
		b.get(address).want(http.StatusOK)
		if strings.Contains(b.body, "<script>alert") || strings.Contains(b.body, "<img src=x") {
			t.Errorf("%s:\n%s", address, b.body)
		}
	}
	if b.get("/user/public/verify-email/u/" + url.PathEscape(hostile)); strings.Contains(b.body, "<script>alert") {
		t.Error(b.body)
	}
}

func TestAssets(t *testing.T) {
	t.Parallel()
	b := open(t, newWorld()).get("/sign-in")
	for _, path := range assetPath.FindAllString(b.body, -1) {
		if b.get(path).want(http.StatusOK); b.head.Get("Cache-Control") != "public, max-age=31536000, immutable" || b.head.Get("Content-Type") == "" || len(b.set) > 0 {
			t.Errorf("%s: %v", path, b.head)
		}
	}
	for _, path := range []string{"/assets/style.css", "/assets/x", "/assets/..%2fpage.go"} {
		if b.get(path); b.code != http.StatusNotFound {
			t.Errorf("%s: %d", path, b.code)
		}
	}
}

func TestServes(t *testing.T) {
	t.Parallel()
	s := newServer(t, newWorld(), origin)
	for path, want := range map[string]bool{
		"/": true, "/sign-in": true, "/account/totp": true, "/invitation/a/b": true, "/assets/x.css": true, "/invitation/a": false, "/invitation//b": false,
		"/v2/token": false, "/internal/user": false, "/sign-in/": false, "/oauth2/token": false,
	} {
		if page.Serves(path) != want {
			t.Errorf("%s: %v", path, !want)
		}
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest(http.MethodDelete, "/account", nil))
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("%d", w.Code)
	}
}
