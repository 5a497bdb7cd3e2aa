package federation_test

import (
	"context"
	"crypto/rand"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// organizations is what the verbs of people ask the tenant service, as far as these tests come.
type organizations struct {
	identity.Organizations

	people *people
}

func (o organizations) Memberships(ctx context.Context, user string) ([]identity.Membership, error) {
	return o.people.Memberships(ctx, user)
}

// The session that a provider's word opens is for its organization: no other can be chosen, and no other session ended.
func TestSessionIsConfined(t *testing.T) {
	t.Parallel()
	r := start(t)
	ann := r.user("ann@example.org", true)
	r.linked("ann", ann)
	real := &identity.People{
		Users: r.kept, SignIns: r.kept, Organizations: organizations{people: r.people}, Now: r.clock.now, Random: rand.Reader, NewID: uuid.NewV7,
		Settings: identity.PeopleSettings{Environment: "demo", SignInFor: time.Hour, SignInIdle: time.Hour},
	}
	r.People = real
	other := newID(t)
	r.people.join(ann, other, false)

	f, err := r.signIn("ann")
	check(t, err)
	if f.Entered.Device != "" {
		t.Error("the browser was given proof that a password was known there")
	}
	in, user, err := real.Browser(t.Context(), f.Entered.Cookie)
	check(t, err)
	if in == nil || user.ID != ann || !in.Federated() || !in.Admits(r.tenant) || in.Admits(other) {
		t.Fatalf("session: %+v", in)
	}
	wants(t, "another organization", real.ChooseTenant(t.Context(), *in, other), fault.Denied, "confined")
	check(t, real.ChooseTenant(t.Context(), *in, r.tenant))
	wants(t, "another session", real.EndSession(t.Context(), *in, newID(t)), fault.Denied, "confined")
	in, _, err = real.Browser(t.Context(), f.Entered.Cookie)
	check(t, err)
	if in == nil || in.Admits(other) {
		t.Error("not confined any more")
	}
	nobody := identity.SignIn{Methods: []string{identity.ByFederated}}
	if nobody.Admits("") || nobody.Admits(r.tenant) {
		t.Error("of no organization, and good for one")
	}
}
