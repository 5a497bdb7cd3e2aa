package main

import (
	"context"
	"net/http"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// interrupted lets something happen between the proof of a password and what it begins.
type interrupted struct {
	identity.Organizations

	meanwhile func()
}

func (i interrupted) Memberships(ctx context.Context, user string) ([]identity.Membership, error) {
	i.meanwhile()
	return i.Organizations.Memberships(ctx, user)
}

// Attack: who knows an old password signs in again and again, so that one sign-in is under way when the owner sets a new
// password. It begins neither a session nor a challenge.
func TestASignInUnderWayEndsWithThePassword(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]bool{"session": false, "challenge": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := start(t)
			user, tenant := m.registered(t, "ada@example.org")
			m.tenants.require(tenant, second)
			m.open(t, "192.0.2.1", "/user/public/reset-password", `{"email": "ada@example.org"}`)
			link := m.mailed(t, "ada@example.org", 2).link(t)
			m.people.Organizations = interrupted{m.people.Organizations, func() {
				if r := m.open(t, "192.0.2.1", link, `{"newPassword": "a new one at midnight"}`); r.status != http.StatusOK {
					t.Errorf("reset: %d %s", r.status, r.raw)
				}
			}}
			entered, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", goodPassword)
			if fault.Of(err).Code != "wrong_credentials" || entered.Cookie != "" || entered.Challenge != nil {
				t.Errorf("the old password of %s: %+v, %v", user, entered, err)
			}
		})
	}
}
