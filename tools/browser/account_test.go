package browser

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

func contains(raw []byte, text string) bool { return bytes.Contains(raw, []byte(text)) }

func TestAnotherBrowserIsSignedOut(t *testing.T) {
	here, there := newPerson(t), newPerson(t)
	a := newAccount(t, "Jonas", "Falk", "Falk & Daughters")
	here.inside(a)
	there.inside(a)
	here.visit("/account")
	here.look("account-two-sessions")
	here.do(chromedp.Click(chromedp.CSS(`#sessions form[action="/account/session/end"] button`), chromedp.NodeVisible))
	here.sees("The session is ended.")
	here.look("session-ended")
	there.visit("/account")
	if there.at().Path != "/sign-in" {
		t.Errorf("the ended browser is at %s", there.at())
	}
	here.visit("/account")
	if here.at().Path != "/account" {
		t.Errorf("this browser was signed out: %s", here.at())
	}
}

func TestKeyIsMadeShownOnceAndRevoked(t *testing.T) {
	p := newPerson(t)
	p.inside(newAccount(t, "Priya", "Raman", "Lakeside"))
	p.open("Make a key")
	p.press("Make key")
	p.sees("Please check the following")
	p.look("key-wrong")
	p.fill("name", "Nightly import")
	p.tick("Records Reader")
	p.press("Make key")
	p.sees("Your new API key")
	p.look("key")
	key := ask(p, chromedp.Value(chromedp.CSS("#token")))
	call(t, http.MethodGet, "/v3/patient", key, nil, http.StatusOK)
	call(t, http.MethodPost, "/v3/patient", key, ana, http.StatusForbidden)
	p.press("I have copied it")
	p.sees("Nightly import")
	if strings.Contains(ask(p, chromedp.OuterHTML(chromedp.CSS("html"))), key) {
		t.Error("the key is shown again")
	}
	p.look("account-key")
	p.open("Revoke Nightly import")
	p.look("account-key-revoking")
	p.press("Revoke the key")
	p.sees("The key is revoked.")
	eventually(t, "the end of the key", func() bool {
		status, _ := try(t, http.MethodGet, "/v3/patient", key, nil)
		return status == http.StatusUnauthorized
	})
}

func TestProfileAndPasswordAreChanged(t *testing.T) {
	p, a := newPerson(t), newAccount(t, "Tom", "Ashe", "Ashe Clinic")
	p.inside(a)
	p.fill("firstName", "Thomas")
	p.press("Save profile")
	p.sees("Your profile is saved.")
	p.open("Change your password")
	p.fill("currentPassword", "not my password")
	p.fill("newPassword", "another kettle beneath jupiter")
	p.press("Change password")
	p.sees("Current password is not right.")
	p.look("password-wrong")
	p.fill("currentPassword", a.password)
	p.fill("newPassword", "another kettle beneath jupiter")
	p.press("Change password")
	p.sees("Your password is changed.")
	p.signOut()
	p.signIn(account{a.email, "another kettle beneath jupiter"})
	p.sees("Your account")
}

func TestForgottenPassword(t *testing.T) {
	p, other := newPerson(t), newPerson(t)
	a := newAccount(t, "Lena", "Okafor", "Okafor Health")
	other.inside(a)
	p.visit("/sign-in")
	p.press("Forgot your password?")
	p.look("forgot-password")
	p.fill("email", a.email)
	p.press("Send the link")
	p.sees(a.email)
	p.look("forgot-password-sent")
	link := a.mailed(t, 0, resetLink)[0]
	p.visit(link)
	p.look("reset-password")
	p.fill("password", "password1234")
	p.press("Save new password")
	p.sees("Please check the following")
	p.look("reset-password-common")
	fresh := account{a.email, "seven quiet lanterns at dusk"}
	p.fill("password", fresh.password)
	p.press("Save new password")
	p.sees("Your password is changed")
	p.look("reset-done")
	other.visit("/account")
	if other.at().Path != "/sign-in" {
		t.Errorf("the other browser is still signed in, at %s", other.at())
	}
	p.signIn(a)
	p.sees("don’t go together")
	p.signIn(fresh)
	p.sees("Your account")
	p.visit(link)
	p.fill("password", "an entirely new one again")
	p.press("Save new password")
	p.sees("This link can’t be used")
}
