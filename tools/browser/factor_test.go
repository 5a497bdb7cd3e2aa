package browser

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/pquerna/otp/totp"
)

const step = 30 * time.Second // of an authenticator app

// shows is what the app shows at a time. A code counts for one step before and after its own, and each once, so a second
// one is taken from the step to come.
func shows(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	code, err := totp.GenerateCode(secret, at)
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestAuthenticatorApp(t *testing.T) {
	p, a := newPerson(t), newAccount(t, "Sam", "Okoye", "Okoye Surgery")
	p.inside(a)
	p.press("Set up")
	p.look("totp")
	p.open("Can’t scan it?")
	secret := strings.ReplaceAll(ask(p, chromedp.Text(chromedp.CSS(".key"))), " ", "")
	p.look("totp-key")
	p.fill("code", shows(t, secret, time.Now().Add(time.Hour)))
	p.press("Confirm")
	p.sees("Code is not right")
	p.look("totp-wrong")
	p.fill("code", shows(t, secret, time.Now()))
	p.press("Confirm")
	p.sees("Save your recovery codes")
	p.look("recovery-codes")
	recovery := strings.Fields(ask(p, chromedp.Text(chromedp.CSS("#codes"))))
	if len(recovery) != 10 {
		t.Fatalf("%d recovery codes", len(recovery))
	}
	p.press("I have saved them")
	p.look("account-totp")

	p.signOut()
	p.look("signed-out")
	p.signIn(a)
	p.sees("Confirm it’s you")
	p.look("second-factor")
	p.fill("code", shows(t, secret, time.Now().Add(time.Hour)))
	p.press("Continue")
	p.sees("Code is not right")
	p.look("second-factor-wrong")
	p.fill("code", shows(t, secret, time.Now().Add(step)))
	p.press("Continue")
	p.sees("Your account")

	p.signOut()
	p.signIn(a)
	p.press("Can’t get a code? Use a recovery code")
	p.look("second-factor-recovery")
	p.fill("code", recovery[3])
	p.press("Continue")
	p.sees("9 left")

	p.signOut()
	p.signIn(a)
	p.press("Can’t get a code? Use a recovery code")
	p.fill("code", recovery[3])
	p.press("Continue")
	p.sees("used up")
}

func TestOrganizationThatRequiresASecondFactor(t *testing.T) {
	p, app, a := newPerson(t), newClient(t), newAccount(t, "Vera", "Lund", "Lund Hospital")
	app.oauth.Scopes = []string{"tenant:admin", "patient:read"}
	p.inside(a)
	p.visit(app.address())
	p.press("Allow")
	token := app.token()
	call(t, http.MethodPatch, "/v2/tenant", token.AccessToken, map[string]bool{"mfaRequired": true}, http.StatusOK)

	p.visit("/account")
	p.sees("requires a second factor")
	p.look("account-step-up")
	p.signOut()
	before := a.letters(t)
	p.signIn(a)
	p.sees("Confirm it’s you")
	p.look("second-factor-mail")
	p.press("Send me a code")
	p.sees("on its way")
	p.look("second-factor-mail-sent")
	code := a.mailed(t, before, sixDigits)[1]
	p.fill("code", code)
	p.press("Continue")
	p.sees("Your account")
	p.sees("Working at Lund Hospital")
	p.visit(app.address())
	p.sees("You can close this window")
	call(t, http.MethodGet, "/v3/patient", app.token().AccessToken, nil, http.StatusOK)
}

// authenticator puts a fingerprint reader into the person's device.
func (p *person) authenticator() {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, webauthn.Enable, webauthn.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}})
		return err
	}))
}

// Browsers make passkeys for names only, so these people visit the mesh as localhost.
func TestPasskey(t *testing.T) {
	p, a := newPerson(t), newAccount(t, "Ravi", "Menon", "Menon Cardiology")
	p.visit("/sign-in")
	if strings.Contains(p.text(), "Sign in with a passkey") {
		t.Error("a passkey is offered where none can be")
	}
	p.inside(a)
	p.press("open Patient Mesh as localhost")
	if p.at().Hostname() != "localhost" || p.at().Path != "/sign-in" {
		t.Fatalf("led to %s", p.at())
	}
	p.base = "http://" + p.at().Host
	p.authenticator()
	p.inside(a)
	p.press("Add a passkey")
	p.sees("Your passkey is ready to use.")
	p.look("account-passkey")
	p.signOut()
	p.look("sign-in-passkey")
	p.press("Sign in with a passkey")
	p.sees("Your account")

	p.signOut()
	p.signIn(a) // the password alone is not enough any more
	p.sees("Confirm it’s you")
	p.look("second-factor-passkey")
	p.press("Use your passkey")
	p.sees("Your account")
	p.open("Remove " + ask(p, chromedp.Text(chromedp.CSS("#security .rows .strong"))))
	p.press("Remove it")
	p.sees("The passkey is removed.")
	p.signOut()
	p.signIn(a)
	p.sees("Your account")
}
