package browser

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

var ana = map[string]string{"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29"}

// From signing up to the first call of the interface, and to the end of it.
func TestFromSigningUpToTheFirstCall(t *testing.T) {
	p, app, a := newPerson(t), newClient(t), account{newEmail(), goodPassword}
	p.visit("/")
	p.look("sign-in")
	p.press("Create an account")
	p.look("sign-up")
	p.press("Create account")
	p.sees("Please check the following")
	p.look("sign-up-empty")
	p.fill("firstName", "Maximiliane-Alexandra")
	p.fill("lastName", "von Hohenstein-Wittgenstein")
	p.fill("organizationName", "Universitätsklinikum Hohenstein-Wittgenstein, Abteilung für Kinderheilkunde")
	p.fill("email", a.email)
	p.fill("password", "short")
	p.press("Create account")
	p.sees("Please check the following")
	p.look("sign-up-short-password")
	p.fill("password", a.password)
	p.press("Create account")
	p.sees(a.email)
	p.look("check-mail")

	p.visit(a.mailed(t, 0, verifyLink)[0])
	p.look("verify-email")
	p.press("Confirm my address")
	p.sees("You can sign in now")
	p.look("verified")
	p.visit(a.mailed(t, 0, verifyLink)[0])
	p.press("Confirm my address")
	p.sees("This link can’t be used")
	p.look("verify-email-used")

	p.visit("/sign-in")
	p.signIn(account{a.email, "not my password at all"})
	p.sees("don’t go together")
	p.look("sign-in-wrong")
	p.fill("password", a.password)
	p.press("Sign in")
	if p.at().Path != "/account" {
		t.Errorf("signing in leads to %s", p.at())
	}
	p.settled()
	p.look("account-new")

	p.visit(app.address())
	p.look("consent")
	p.press("Allow")
	p.sees("You can close this window")
	token := app.token()
	raw := call(t, http.MethodPost, "/v3/patient", token.AccessToken, ana, http.StatusOK)
	var made struct {
		ID int64 `json:"id"`
	}
	if err := json.Unmarshal(raw, &made); err != nil || made.ID == 0 {
		t.Fatalf("%s: %v", raw, err)
	}

	stale := *token
	stale.Expiry = time.Now().Add(-time.Minute)
	fresh, err := app.oauth.TokenSource(t.Context(), &stale).Token()
	if err != nil || fresh.AccessToken == token.AccessToken || fresh.RefreshToken == token.RefreshToken {
		t.Fatalf("refreshed: %v", err)
	}
	call(t, http.MethodGet, "/v3/patient", fresh.AccessToken, nil, http.StatusOK)

	call(t, http.MethodPost, "/auth/user/logout", fresh.AccessToken, nil, http.StatusOK)
	for _, dead := range []*oauth2.Token{fresh, token} {
		eventually(t, "the end of a token", func() bool {
			status, _ := try(t, http.MethodGet, "/v3/patient", dead.AccessToken, nil)
			return status == http.StatusUnauthorized
		})
	}
	gone := *fresh
	gone.Expiry = time.Now().Add(-time.Minute)
	var refused *oauth2.RetrieveError
	if _, err = app.oauth.TokenSource(t.Context(), &gone).Token(); !errors.As(err, &refused) || refused.ErrorCode != "invalid_grant" {
		t.Errorf("refresh after logout: %v", err)
	}
	p.visit("/account")
	if p.at().Path != "/sign-in" {
		t.Errorf("signed out, the account is shown at %s", p.at())
	}
}

// The same without any script.
func TestWithoutScript(t *testing.T) {
	p, app, a := newPerson(t), newClient(t), account{newEmail(), goodPassword}
	p.withoutScript()
	p.visit("/sign-up")
	p.fill("firstName", "Noor")
	p.fill("lastName", "Haddad")
	p.fill("organizationName", "Harbour Street Practice")
	p.fill("email", a.email)
	p.fill("password", a.password)
	p.press("Create account")
	p.visit(a.mailed(t, 0, verifyLink)[0])
	p.press("Confirm my address")
	p.look("no-script-sign-in")
	p.inside(a)
	p.look("no-script-account")
	p.signOut()
	p.visit(app.address())
	p.look("sign-in-for-client")
	p.signIn(a)
	p.sees("asks for access")
	p.press("Allow")
	call(t, http.MethodGet, "/v3/patient", app.token().AccessToken, nil, http.StatusOK)
}
