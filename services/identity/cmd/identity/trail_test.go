package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// told gives what was kept for a tenant's trail, in its order: "action outcome actor".
func (m *meshed) told(t testing.TB, tenant string) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), m.admin)
	check(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `
		SELECT (e->>'action') || ' ' || (e->>'outcome') || ' ' || (e->'actor'->>'id') FROM audit_entry, json_array_elements(entries) e
		WHERE e->>'tenantId' = $1 ORDER BY seq`, tenant)
	check(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	return list
}

// tells waits until a tenant's trail is to tell all of these, each as often as it is named.
func (m *meshed) tells(t testing.TB, tenant, actor string, want ...string) {
	t.Helper()
	for i := range want {
		want[i] += " " + actor
	}
	slices.Sort(want)
	var got []string
	await(t, fmt.Sprint(want), func() bool {
		got = slices.DeleteFunc(m.told(t, tenant), func(e string) bool { return !slices.Contains(want, e) })
		slices.Sort(got)
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}

func TestTheTrailOfAnAccount(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, own := m.registered(t, "ada@example.org")
	check(t, m.tenants.PutMember(t.Context(), m.tenant, user, []string{readerRole}))
	m.tells(t, own, user, "user.register success", "email.verify success")

	if _, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", "not it"); !fault.Is(err, fault.Unauthenticated) {
		t.Fatal(err)
	}
	in := m.signedIn(t, "ada@example.org", goodPassword).SignIn
	nothing := func(...fault.Field) error { return nil }
	if err := m.people.ChangePassword(t.Context(), in, stranger, "not it", "another tree at noon", nothing); !fault.Is(err, fault.Unauthenticated) {
		t.Fatal(err)
	}
	check(t, m.people.ChangePassword(t.Context(), in, stranger, goodPassword, "another tree at noon", nothing))
	check(t, m.people.RequestReset(t.Context(), "ada@example.org"))
	check(t, m.server.Consent(t.Context(), user, publicID, []string{"patient:read"}))
	check(t, m.people.EndAllSessions(t.Context(), in))
	again := m.signedIn(t, "ada@example.org", "another tree at noon").SignIn
	check(t, m.people.SignOut(t.Context(), again))
	check(t, m.people.SignOut(t.Context(), again)) // what is over ends no second time
	for _, tenant := range []string{own, m.tenant} {
		m.tells(t, tenant, user, "sign_in.failure failure", "sign_in.success success", "password.change failure", "password.change success",
			"password.reset.request success", "consent.grant success", "sign_out.everywhere success", "sign_in.success success", "sign_out success")
	}
	for _, e := range append(m.told(t, own), m.told(t, m.tenant)...) {
		if strings.Contains(e, "@") {
			t.Errorf("an address is told: %s", e)
		}
	}
}

// Nobody waits for the tenant service, and nothing is lost while it is away.
func TestTheTrailWhileTheTenantServiceIsAway(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, own := m.registered(t, "ada@example.org")
	m.tenants.leave(true)
	if _, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", "not it"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("a wrong password: %v", err)
	}
	m.tenants.leave(false)
	m.tells(t, own, user, "sign_in.failure failure")
}

// Whom everybody tries to get in as is told of once for all that are refused, not as often as they like.
func TestALockedAccountIsToldOfOnce(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, own := m.registered(t, "ada@example.org")
	var want []string
	for range 10 {
		want = append(want, "sign_in.failure failure")
	}
	for range 14 {
		_, err := m.people.SignIn(t.Context(), stranger, "ada@example.org", "not it")
		if err == nil {
			t.Fatal("let in")
		}
	}
	m.tells(t, own, user, append(want, "sign_in.locked failure")...)
}

func TestTheTrailOfASessionAtAnApplication(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.user(t)
	two := m.newTenant(t)
	m.tenants.join(two, user, principal.PatientRead)
	check(t, m.tenants.PutMember(t.Context(), two, user, []string{readerRole}))
	r := m.signIn(t, user)
	by, _ := m.resolve(t, r.text("access_token"))
	m.ask(t, by, "GET", "/v2/user/switch-tenant/"+two+"?revokeToken=false", "")
	next := m.post(t, "/oauth2/token", refreshing(r.text("refresh_token")))
	m.clock.move(identity.GraceOfReuse * 2)
	m.refused(t, "reuse", m.post(t, "/oauth2/token", refreshing(r.text("refresh_token"))), 400, "invalid_grant")
	m.refused(t, "after it", m.post(t, "/oauth2/token", refreshing(next.text("refresh_token"))), 400, "invalid_grant")
	m.tells(t, m.tenant, user, "token.grant success")
	m.tells(t, two, user, "tenant.switch success", "token.reuse failure")
	check(t, m.people.Logout(principal.With(t.Context(), by))) // it is over already
	w := m.signIn(t, user)
	by, _ = m.resolve(t, w.text("access_token"))
	check(t, m.people.Logout(principal.With(t.Context(), by)))
	m.tells(t, m.tenant, user, "token.grant success", "token.grant success", "sign_out success")
}

func TestTheTrailOfInvitations(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	by := session1(owner, tenant)
	m.invite(t, by, "grace@example.org", "Records Reader")
	made := m.ask(t, by, "POST", "/v2/tenant/invitation", `{"email": "lin@example.org", "roles": ["Records Reader"]}`)
	m.ask(t, by, "DELETE", "/v2/tenant/invitation/"+made.text("id"), "")
	m.ask(t, by, "DELETE", "/v2/tenant/invitation/"+made.text("id"), "")
	m.tells(t, tenant, owner, "member.invite success", "member.invite success", "invitation.withdraw success")
	newcomer, last := identity.RegisterDraft{FirstName: new(string), LastName: new(string), Password: new(string)}, m.mailed(t, "grace@example.org", 1).link(t)
	*newcomer.FirstName, *newcomer.LastName, *newcomer.Password = "Grace", "Hopper", goodPassword
	part := strings.Split(last, "/")
	for range 2 { // a look spends nothing
		offer, err := m.people.Offered(t.Context(), part[2], part[3])
		if err != nil || offer.Organization != "Tenant "+tenant || offer.Email != "grace@example.org" {
			t.Errorf("%+v, %v", offer, err)
		}
	}
	for _, wrong := range [][2]string{{part[2], part[3] + "x"}, {newID(t), part[3]}, {"x", part[3]}, {part[2], ""}} {
		if offer, err := m.people.Offered(t.Context(), wrong[0], wrong[1]); fault.Of(err).Code != "invalid_link" || offer != (identity.Offer{}) {
			t.Errorf("%v: %+v, %v", wrong, offer, err)
		}
	}
	check(t, m.people.AcceptInvitation(t.Context(), nil, part[2], part[3], newcomer, func(...fault.Field) error { return nil }))
	if _, err := m.people.Offered(t.Context(), part[2], part[3]); fault.Of(err).Code != "invalid_link" {
		t.Errorf("after it was accepted: %v", err)
	}
	await(t, "the acceptance", func() bool {
		return slices.ContainsFunc(m.told(t, tenant), func(e string) bool { return strings.HasPrefix(e, "invitation.accept success ") })
	})
}

// A message that comes twice makes the same entries, which a trail takes once.
func TestAnEntryThatIsHandledTwiceIsOne(t *testing.T) {
	t.Parallel()
	var kept [][]audit.Entry
	member, now := []identity.Membership{}, time.Now()
	trail := identity.Trail{
		Memberships: func(context.Context, string) ([]identity.Membership, error) { return member, nil },
		Now:         func() time.Time { return now },
		Keep:        func(_ context.Context, list ...audit.Entry) error { kept = append(kept, list); return nil },
	}
	payload := []byte(`{"id": "` + newID(t) + `", "actor": {"type": "user", "id": "u"}, "action": "sign_out", "at": "` + now.UTC().Format(time.RFC3339Nano) + `"}`)
	if err := trail.Handle(t.Context(), payload); err == nil || len(kept) > 0 {
		t.Error("nobody's yet, and given up")
	}
	member = []identity.Membership{{TenantID: "one"}, {TenantID: "two"}}
	for range 2 {
		check(t, trail.Handle(t.Context(), payload))
	}
	if len(kept) != 2 || len(kept[0]) != 2 || !slices.Equal(kept[0], kept[1]) || kept[0][0].ID == kept[0][1].ID || kept[0][1].TenantID != "two" {
		t.Errorf("%+v", kept)
	}
	member, now, kept = nil, now.Add(time.Hour), nil
	if err := trail.Handle(t.Context(), payload); err != nil || len(kept) != 1 || len(kept[0]) != 0 {
		t.Errorf("nobody's for good: %v, %+v", err, kept)
	}
}
