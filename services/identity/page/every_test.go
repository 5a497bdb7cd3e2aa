package page_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const request = "/oauth2/authorize?client_id=prs-public&code_challenge=x&code_challenge_method=S256&redirect_uri=http%3A%2F%2F127.0.0.1%3A43121%2Fcallback&response_type=code&scope=patient%3Aread+patient%3Awrite+match%3Aread+offline_access&state=abcdefgh"

// pages opens every page there is, each in the state in which it has the most to show.
func pages(t *testing.T, w *world) map[string]*browser {
	t.Helper()
	plain := func() *browser { return open(t, w) }
	signed := func() *browser { return plain().signIn() }
	challenged := func(methods ...string) *browser {
		w.challenges["c"] = identity.Challenge{ID: "c", Methods: methods}
		return plain().get("/sign-in/second-factor?challenge=c")
	}
	all := map[string]*browser{
		"sign-in":            plain().get("/sign-in"),
		"sign-in-client":     plain().get("/sign-in?continue=" + strings.ReplaceAll(strings.ReplaceAll(request, "%", "%25"), "&", "%26")),
		"sign-in-wrong":      plain().get("/sign-in").submit("/sign-in", "email", email, "password", "wrong"),
		"sign-in-empty":      plain().get("/sign-in").submit("/sign-in"),
		"sign-up":            plain().get("/sign-up"),
		"sign-up-wrong":      plain().get("/sign-up").submit("/sign-up", "firstName", "Mara", "password", "short"),
		"check-mail":         plain().get("/sign-up").submit("/sign-up", "email", email, "password", password),
		"verify-email":       plain().get("/user/public/verify-email/u/good"),
		"verify-email-bad":   plain().get("/user/public/verify-email/u/bad").submit("/verify-email"),
		"forgot-password":    plain().get("/forgot-password"),
		"reset-password":     plain().get("/user/public/verify-password-update/u/good"),
		"reset-password-bad": plain().get("/user/public/verify-password-update/u/bad").submit("/reset-password"),
		"second-app":         challenged(identity.AnswerTOTP, identity.AnswerRecovery),
		"second-mail":        challenged(identity.AnswerMail),
		"second-passkey":     challenged(identity.AnswerPasskey, identity.AnswerTOTP, identity.AnswerRecovery),
		"second-only":        challenged(identity.AnswerPasskey),
		"second-wrong":       challenged(identity.AnswerTOTP, identity.AnswerRecovery).submit("/sign-in/second-factor", "code", "000000"),
		"second-recovery":    challenged(identity.AnswerTOTP, identity.AnswerRecovery).get("/sign-in/second-factor?challenge=c&with=recovery"),
		"second-gone":        plain().get("/sign-in/second-factor?challenge=gone"),
		"sign-out":           signed().get("/sign-out"),
		"consent":            signed().get(request),
		"consent-web":        signed().get(strings.Replace(request, "http%3A%2F%2F127.0.0.1%3A43121", "https%3A%2F%2Fward.example", 1)),
		"consent-outsider":   signed().get(request + "&tenantId=0190a0a0-0000-7000-8000-0000000000ff"),
		"authorize-bad":      plain().get("/oauth2/authorize?client_id=x"),
		"invitation":         plain().get("/invitation/i/good"),
		"invitation-member":  signed().get("/invitation/i/good"),
		"invitation-bad":     signed().get("/invitation/i/bad"),
		"totp":               signed().get("/account").submit("/account/totp"),
		"totp-wrong":         signed().get("/account").submit("/account/totp").submit("/account/totp/confirm", "code", "1"),
		"recovery-codes":     signed().get("/account").submit("/account/totp").submit("/account/totp/confirm", "code", "123456"),
		"key":                signed().get("/account").submit("/account/key", "name", "Nightly import", "acRoleIds", role("Clinician", 0).ID),
		"key-wrong":          signed().get("/account").submit("/account/key", "name", ""),
		"stale-form":         plain().post("/sign-in", nil),
		"forbidden":          signed().get("/account").post("/account/organization", nil),
	}
	w.err = fault.Away(nil, "The tenant service cannot be reached just now.")
	all["unavailable"] = plain().get("/sign-in").submit("/sign-in", "email", email, "password", password)
	w.err = &fault.Error{Kind: fault.RateLimited, Code: "rate_limited", RetryAfter: 30 * time.Second}
	all["rate-limited"] = plain().get("/sign-in").submit("/sign-in", "email", email, "password", password)
	w.second()
	w.factors = identity.Factors{TOTP: true, RecoveryCodes: 7, Passkeys: []identity.Passkey{{ID: "p", Name: "YubiKey 5", CreatedAt: w.now.AddDate(0, -2, 0), LastUsedAt: &w.now}}}
	enter := func() *browser {
		b := plain()
		b.cookies["__Host-sign-in"] = w.session(identity.ByPassword, identity.ByOneTime).Cookie
		return b
	}
	all["choose-organization"] = enter().get("/choose-organization")
	all["account"] = enter().get("/account?done=profile")
	all["account-wrong"] = enter().get("/account").submit("/account/password", "currentPassword", "x", "newPassword", "y")
	w.memberships[0].MFARequired, w.memberships[1].MFARequired = true, true
	weak := plain()
	weak.cookies["__Host-sign-in"] = w.session(identity.ByPassword).Cookie
	all["account-weak"] = weak.get("/account")
	w.environment, w.memberships[0].AgreementAccepted = "production", false
	all["sign-up-closed"] = plain().get("/sign-up")
	all["account-production"] = enter().get("/account")
	all["agreement"] = enter().get("/agreement")
	w.status.Accepted, w.status.AcceptedAt = true, &w.now
	all["agreement-accepted"] = enter().get("/agreement")
	all["not-found"] = enter().get("/agreement")
	return all
}

var (
	inline = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|javascript:|<script(?:\s+src="/assets/[^"]+" defer)?>[^<]`)
	script = regexp.MustCompile(`<script[^>]*>`)
	title  = regexp.MustCompile(`<title>[^<]+ · Patient Mesh</title>`)
	field  = regexp.MustCompile(`<(?:input|textarea)[^>]*\sid="([^"]+)"`)
	ids    = regexp.MustCompile(`\sid="([^"]+)"`)
)

// Every page keeps to what its policy allows, says what it is, and has a label to each field.
func TestEveryPage(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("PAGE_DIR") // set: the pages are left there, to be looked at
	for name, b := range pages(t, newWorld()) {
		if b.head.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %d %s %s", name, b.code, b.head, b.body)
			continue
		}
		if found := inline.FindString(b.body); found != "" {
			t.Errorf("%s has inline script or style: %q", name, found)
		}
		for _, tag := range script.FindAllString(b.body, -1) {
			if !strings.Contains(tag, ` src="/assets/`) {
				t.Errorf("%s: %s", name, tag)
			}
		}
		for _, part := range []string{`<html lang="en">`, `href="#main"`, `<main id="main"`, "<h1"} {
			if strings.Count(b.body, part) != 1 {
				t.Errorf("%s has not one %s", name, part)
			}
		}
		if !title.MatchString(b.body) {
			t.Errorf("%s has no title", name)
		}
		seen := map[string]bool{}
		for _, m := range ids.FindAllStringSubmatch(b.body, -1) {
			if seen[m[1]] {
				t.Errorf("%s has two elements with the id %s", name, m[1])
			}
			seen[m[1]] = true
		}
		for _, m := range field.FindAllStringSubmatch(b.body, -1) {
			if !strings.Contains(b.body, `<label for="`+m[1]+`"`) {
				t.Errorf("%s: the field %s has no label", name, m[1])
			}
		}
		headers(t, name, b.head)
		if dir != "" {
			leave(t, dir, name, b)
		}
	}
}

func headers(t *testing.T, name string, h http.Header) {
	t.Helper()
	policy := h.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "style-src 'self'", "script-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("%s: policy without %s: %s", name, want, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("%s: %s", name, policy)
	}
	for header, want := range map[string]string{
		"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Cross-Origin-Opener-Policy": "same-origin",
	} {
		if h.Get(header) != want {
			t.Errorf("%s: %s is %q", name, header, h.Get(header))
		}
	}
}

var assetPath = regexp.MustCompile(`/assets/[a-z0-9.-]+`)

func leave(t *testing.T, dir, name string, b *browser) {
	t.Helper()
	files := map[string]string{name + ".html": strings.ReplaceAll(b.body, `"/assets/`, `"assets/`)}
	for _, path := range assetPath.FindAllString(b.body, -1) {
		b.get(path).want(http.StatusOK)
		files[path] = b.body
	}
	for path, content := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
