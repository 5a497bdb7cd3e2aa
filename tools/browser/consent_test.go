package browser

import (
	"net/http"
	"testing"

	"golang.org/x/oauth2"
)

func TestConsentIsAskedRefusedAndRemembered(t *testing.T) {
	p, app := newPerson(t), newClient(t)
	p.inside(newAccount(t, "Ida", "Berg", "Berg Family Practice"))
	p.visit(app.address())
	p.sees("asks for access")
	p.press("Don’t allow")
	p.sees("You can close this window")
	if back := app.back(); back.Get("error") != "access_denied" || back.Has("code") {
		t.Errorf("refused: %v", back)
	}

	p.visit(app.address())
	p.sees("asks for access") // a refusal is not remembered
	p.press("Allow")
	p.sees("You can close this window")
	call(t, http.MethodGet, "/v3/patient", app.token().AccessToken, nil, http.StatusOK)

	p.visit(app.address())
	p.sees("You can close this window")
	app.token()

	p.visit(app.address(oauth2.SetAuthURLParam("prompt", "consent")))
	p.sees("asks for access")
	p.press("Allow")
	app.token()

	app.oauth.Scopes = append(app.oauth.Scopes, "document:read") // more than was allowed
	p.visit(app.address())
	p.sees("Read patients’ documents")
	p.press("Don’t allow")
	app.back()

	p.visit(app.address(oauth2.SetAuthURLParam("redirect_uri", "https://elsewhere.example/callback")))
	p.sees("This sign-in link can’t be used")
	p.look("authorize-unusable")
	p.visit("/account")
	p.sees("Sessions")
	p.look("account-connected")
}

func TestWhoBelongsToSeveralOrganizationsChooses(t *testing.T) {
	first, second := world.Demo().Tenants[0], world.Demo().Tenants[1]
	p, app := newPerson(t), newClient(t)
	p.visit(app.address())
	p.signIn(account{first.User.Email, first.User.Password})
	p.sees("Choose an organization")
	p.look("choose-organization")
	p.tick(second.Name)
	p.press("Continue")
	p.sees(second.Name)
	p.look("consent-several")
	p.press("Change")
	p.tick(first.Name)
	p.press("Continue")
	p.sees(first.Name)
	p.press("Allow")
	if raw := call(t, http.MethodGet, "/v2/tenant", app.token().AccessToken, nil, http.StatusOK); !contains(raw, first.ID) {
		t.Errorf("not the chosen tenant: %s", raw)
	}

	p.visit("/account")
	p.sees("Working at " + first.Name)
	p.look("account-demo")
	p.press("Switch to " + second.Name)
	p.sees("Working at " + second.Name)
	p.look("account-switched")
	p.visit(app.address())
	p.sees("You can close this window")
	if raw := call(t, http.MethodGet, "/v2/tenant", app.token().AccessToken, nil, http.StatusOK); !contains(raw, second.ID) {
		t.Errorf("not the tenant that was switched to: %s", raw)
	}
}
