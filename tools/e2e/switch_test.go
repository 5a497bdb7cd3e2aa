package e2e

import (
	"net/http"
	"testing"

	"golang.org/x/oauth2"
)

const exchangeTenant = "/tenant/switch-tenant"

// traveller is signed in at the first of two tenants.
func traveller(t *testing.T) (s session, one, two string) {
	t.Helper()
	d := world.Demo().Tenants
	return signInAt(t, world, first(world), publicClient(world), oauth2.SetAuthURLParam("tenantId", d[0].ID)), d[0].ID, d[1].ID
}

// By GET: the refresh that follows mints a token of the other tenant; the old token is dead at once.
func TestSwitchThenRefresh(t *testing.T) {
	s, _, two := traveller(t)
	at, _ := stored(s.client(), ana())
	got := s.client().get("/v2/user/switch-tenant/" + two).is(ok).object()
	if got["tenantId"] != two || got["name"] != world.Demo().Tenants[1].Name || got["roles"] == nil || got["message"] == "" {
		t.Errorf("switched %v", got)
	}
	s.dies()
	next := s.refresh()
	if next.tenant() != two {
		t.Error("the refresh leads to the old tenant")
	}
	next.client().get(at).is(missing)
	owner(t).get(at).is(ok)
}

// By GET without revoking: the old token lives on, for its own tenant alone.
func TestSwitchKeepsTheOldToken(t *testing.T) {
	s, one, two := traveller(t)
	s.client().get("/v2/user/switch-tenant/" + two + "?revokeToken=false").is(ok)
	next := s.refresh()
	if next.tenant() != two || s.tenant() != one {
		t.Error("tokens and tenants are mixed up")
	}
	at, _ := stored(next.client(), ana())
	s.client().get(at).is(missing)
	s.client().get("/v2/user/switch-tenant/" + two + "?revokeToken=x").is(bad)
}

// By POST: the answer brings the tokens.
func TestSwitchByExchange(t *testing.T) {
	inside(t)
	for name, revoke := range map[string]bool{"revoked": true, "kept": false} {
		t.Run(name, func(t *testing.T) {
			s, one, two := traveller(t)
			body := map[string]any{"tenantId": two, "userId": s.who.id, "refreshToken": s.RefreshToken, "revokeToken": revoke}
			var got oauth2.Token
			s.client().post(exchangeTenant, body).is(ok).into(&got)
			next := s
			next.Token = &oauth2.Token{AccessToken: secretly(got.AccessToken), RefreshToken: secretly(got.RefreshToken)}
			if next.tenant() != two {
				t.Error("the new token leads to the old tenant")
			}
			if revoke {
				s.dies()
			} else if s.tenant() != one {
				t.Error("the old token changed its tenant")
			}
			if next.refresh().tenant() != two {
				t.Error("the refresh leads back")
			}
			pass(t, world, s.who.id)
			anyone(t).form("/auth/oauth2/token", s.refreshing()).fails("invalid_grant")
		})
	}
}

func TestWhoMayNotSwitch(t *testing.T) {
	s, _, two := traveller(t)
	elsewhere := newAccount(t)
	c := s.client()
	body := func(tenant, user string) map[string]any {
		return map[string]any{"tenantId": tenant, "userId": user, "refreshToken": s.RefreshToken}
	}
	c.post(exchangeTenant, body(two, elsewhere.id)).refused(http.StatusForbidden, "another_user")
	c.post(exchangeTenant, body(elsewhere.tenant, s.who.id)).refused(http.StatusForbidden, "not_a_member")
	c.get("/v2/user/switch-tenant/"+elsewhere.tenant).refused(http.StatusForbidden, "not_a_member")
	c.post(exchangeTenant, map[string]any{}).is(bad)
	c.post(exchangeTenant+"?tenantId="+two+"&userId="+s.who.id, map[string]any{"refreshToken": "made-up"}).is(bad)
	theirs := signIn(t, elsewhere) // another's refresh token is worth nothing in one's own name
	stolen := body(two, s.who.id)
	stolen["refreshToken"] = theirs.RefreshToken
	c.post(exchangeTenant, stolen).is(bad)
	theirs.refresh()

	owner(t).get("/v2/user/switch-tenant/" + two).is(http.StatusForbidden)
	d := world.Demo().Tenants[0]
	program := as(t, token(t, d.ClientID, d.ClientSecret, oauth2.AuthStyleInHeader).AccessToken)
	program.get("/v2/user/switch-tenant/"+two).refused(http.StatusForbidden, "no_user")
	program.get("/v2/user/myself").refused(http.StatusForbidden, "no_user")
	if got := owner(t).get("/v2/user/myself").is(ok).object(); got["id"] != d.User.ID { // a key answers its maker
		t.Errorf("the key's maker is %v", got)
	}
	s.client().get(patients + "?size=1").is(ok) // nothing of this ended the session
	s.refresh()
}
