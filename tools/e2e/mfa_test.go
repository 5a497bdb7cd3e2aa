package e2e

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"golang.org/x/oauth2"
)

// app is an authenticator app, set up at a time.
type app struct {
	t      *testing.T
	secret string
	at     time.Time
}

// code is what the app shows so many half minutes after it was set up. A clock may be off by one, so that the codes of 0
// and 1 are good for half a minute, whenever that began.
func (a app) code(steps int) string {
	a.t.Helper()
	code, err := totp.GenerateCode(a.secret, a.at.Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		a.t.Fatal(err)
	}
	return code
}

// enrol sets an authenticator app up, which spends its code 0, and gives it and the recovery codes.
func (s session) enrol() (a app, recovery []string) {
	t := s.by.t
	t.Helper()
	var begun struct{ Secret, OtpauthURI, QrPng string }
	s.client().get("/mfa/code").is(ok).into(&begun)
	picture, err := base64.StdEncoding.DecodeString(begun.QrPng)
	if err != nil || !strings.HasPrefix(string(picture), "\x89PNG") || !strings.HasPrefix(begun.OtpauthURI, "otpauth://totp/") || !strings.Contains(begun.OtpauthURI, begun.Secret) {
		t.Fatalf("an enrolment of %.60s, %v", begun.OtpauthURI, err)
	}
	a = app{t: t, secret: secretly(begun.Secret), at: time.Now()}
	if got := s.client().post("/mfa/code", map[string]any{"code": "12"}).faults(); !slices.Equal(got, []string{"code wrong_code"}) {
		t.Errorf("a wrong code: %v", got)
	}
	var made struct{ RecoveryCodes []string }
	s.client().post("/mfa/code", map[string]any{"code": a.code(0)}).is(ok).into(&made)
	if len(made.RecoveryCodes) != 10 {
		t.Fatalf("%d recovery codes", len(made.RecoveryCodes))
	}
	for _, code := range made.RecoveryCodes {
		secretly(code)
	}
	return a, made.RecoveryCodes
}

// knock gives e-mail address and password, and comes to the second factor.
func knock(t *testing.T, a account, config oauth2.Config) (p *person, at page, challenge string) {
	t.Helper()
	p = newPerson(t, world)
	seen := p.visit(config.AuthCodeURL(state(), oauth2.S256ChallengeOption(oauth2.GenerateVerifier())))
	at = p.submit(seen, map[string]string{"email": a.email, "password": a.password}).is(ok)
	if at.at.Path != "/sign-in/second-factor" || at.at.Query().Get("challenge") == "" {
		t.Fatalf("at %s: %s", at.at.Path, at.shown())
	}
	return p, at, secretly(at.at.Query().Get("challenge"))
}

func methodsOf(c *client, challenge string) []string {
	c.t.Helper()
	var got struct{ Methods []string }
	c.get("/v2/mfa/config?challenge=" + challenge).is(ok).into(&got)
	return got.Methods
}

// Attack: TOTP replay. An app's code and a recovery code are asked for from then on, and each works once.
func TestAuthenticatorAppAndRecoveryCodes(t *testing.T) {
	who := newAccount(t)
	s := signIn(t, who)
	app, recovery := s.enrol()
	s.client().get("/mfa/code").refused(http.StatusConflict, "already_enrolled")
	s.client().get(patients).is(ok)

	config := publicClient(world)
	used := app.code(0)
	p, at, challenge := knock(t, who, config)
	if got := methodsOf(anyone(t), challenge); !slices.Equal(got, []string{"totp", "recovery"}) {
		t.Errorf("methods %v: a mailed code would be weaker", got)
	}
	p.submit(at, map[string]string{"code": used}).is(bad)
	code := app.code(1)
	if told := p.through(p.submit(at, map[string]string{"code": code}), who, nil); told.Get("code") == "" {
		t.Errorf("told %v", told)
	}
	p.submit(at, map[string]string{"code": code}) // the challenge is over
	p, at, _ = knock(t, who, config)
	p.submit(at, map[string]string{"code": code}).is(bad)

	with := at.at.Query()
	with.Set("with", "recovery")
	at = p.visit("/sign-in/second-factor?" + with.Encode()).is(ok)
	if told := p.through(p.submit(at, map[string]string{"code": recovery[0]}), who, nil); told.Get("code") == "" {
		t.Errorf("told %v", told)
	}
	p, at, _ = knock(t, who, config)
	with = at.at.Query()
	with.Set("with", "recovery")
	at = p.visit("/sign-in/second-factor?" + with.Encode()).is(ok)
	p.submit(at, map[string]string{"code": recovery[0]}).is(bad)
}

// An organization can require a second factor: then six digits are mailed to who has set up none.
func TestAnOrganizationRequiresASecondFactor(t *testing.T) {
	who := newAccount(t)
	s := signIn(t, who)
	s.client().patch("/v2/tenant", map[string]any{"mfaRequired": true}).is(ok)
	s.ended() // a password alone is behind it
	p, at, challenge := knock(t, who, publicClient(world))
	c := anyone(t)
	if got := methodsOf(c, challenge); !slices.Equal(got, []string{"email"}) {
		t.Errorf("methods %v", got)
	}
	before := letters(t, world, who.email)
	sent := c.get("/v2/mfa/send-code?challenge=" + challenge).is(ok)
	if unknown := c.get("/v2/mfa/send-code?challenge=made-up").is(ok); string(sent.raw) != string(unknown.raw) {
		t.Errorf("%s, and for nobody %s", sent.raw, unknown.raw)
	}
	code := codeTo(t, world, who.email, before)
	if told := p.through(p.submit(at, map[string]string{"code": code}), who, nil); told.Get("code") == "" {
		t.Errorf("told %v", told)
	}
	c.get("/v2/mfa/config?challenge="+challenge).refused(missing, "challenge_not_found")
	p.session(s.config, who).refresh().client().get(patients).is(ok)
}

// Attack: brute force of a second factor. Five wrong codes end a challenge, and the right one comes too late.
func TestMFABruteForce(t *testing.T) {
	who := newAccount(t)
	app, _ := signIn(t, who).enrol()
	p, at, challenge := knock(t, who, publicClient(world))
	right := []string{app.code(-1), app.code(0), app.code(1), app.code(2)}
	for guess, sent := 0, 0; sent < 5; guess++ {
		if code := fmt.Sprintf("%06d", guess); !slices.Contains(right, code) {
			p.submit(at, map[string]string{"code": code})
			sent++
		}
	}
	seen := p.submit(at, map[string]string{"code": app.code(1)})
	if seen.status/100 == 3 || p.visit("/account").at.Path == "/account" {
		t.Errorf("the sixth answer got in: %s", seen.shown())
	}
	anyone(t).get("/v2/mfa/config?challenge="+challenge).refused(missing, "challenge_not_found")
}

// Attack: code flooding. However often codes are asked for, few are mailed; the answer is always the same.
func TestMailedCodesAreBounded(t *testing.T) {
	who := newAccount(t)
	signIn(t, who).client().patch("/v2/tenant", map[string]any{"mfaRequired": true}).is(ok)
	_, _, challenge := knock(t, who, publicClient(world))
	before := letters(t, world, who.email)
	for range 12 {
		anyone(t).get("/v2/mfa/send-code?challenge=" + challenge).is(ok)
	}
	eventually(t, 10*time.Second, func() bool { return letters(t, world, who.email) == before+5 })
	owner(t).get("/mfa/code").is(http.StatusForbidden)
	anyone(t).get("/mfa/code").is(unauthorized)
}
