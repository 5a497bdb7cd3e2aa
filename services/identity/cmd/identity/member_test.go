package main

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func cookieHash(cookie string) string {
	sum := sha256.Sum256([]byte(cookie))
	return hex.EncodeToString(sum[:])
}

func plainly(faults ...fault.Field) error {
	if len(faults) > 0 {
		return fault.InvalidFields(faults)
	}
	return nil
}

// invite makes an invitation and gives its id.
func (m *meshed) invite(t testing.TB, by principal.Principal, email, role string) string {
	t.Helper()
	r := m.ask(t, by, http.MethodPost, "/v2/tenant/invitation", `{"email": "`+email+`", "roles": ["`+role+`"]}`)
	if r.status != http.StatusCreated || r.header.Get("Location") != "/v2/tenant/invitation/"+r.text("id") {
		t.Fatalf("invite: %d %s", r.status, r.raw)
	}
	return r.text("id")
}

// parts are an invitation's id and identifier, as its link has them.
func parts(link string) (id, identifier string) {
	all := strings.Split(link, "/")
	return all[len(all)-2], all[len(all)-1]
}

func text(value string) *string { return &value }

func newcomer() identity.RegisterDraft {
	return identity.RegisterDraft{Password: text("a pear tree at dusk"), FirstName: text("Grace"), LastName: text("Hopper")}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	other, _ := m.registered(t, "bob@example.org")
	check(t, m.tenants.PutMember(t.Context(), tenant, other, []string{readerRole}))
	by := session1(owner, tenant)
	list := m.ask(t, by, http.MethodGet, "/v2/tenant/member?size=1", "")
	if list.status != http.StatusOK || !strings.Contains(list.raw, "ada@example.org") || !strings.Contains(list.raw, `"totalElements":2`) || list.header.Get("Link") == "" {
		t.Fatalf("%d %s", list.status, list.raw)
	}
	next := strings.TrimPrefix(strings.SplitN(list.header.Get("Link"), ">", 2)[0], "<")
	if r := m.ask(t, by, http.MethodGet, next, ""); !strings.Contains(r.raw, "bob@example.org") || r.header.Get("Link") != "" || strings.Contains(r.raw, "ada@") {
		t.Errorf("%s: %d %s", next, r.status, r.raw)
	}
	put := m.ask(t, by, http.MethodPut, "/v2/tenant/member/"+other, `{"roles": ["owner", "`+readerRole+`"]}`)
	if put.status != http.StatusOK || !strings.Contains(put.raw, `"Owner"`) || !strings.Contains(put.raw, "bob@example.org") {
		t.Errorf("%d %s", put.status, put.raw)
	}
	if r := m.ask(t, by, http.MethodDelete, "/v2/tenant/member/"+other, ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	expect(t, "the last Owner", m.ask(t, by, http.MethodDelete, "/v2/tenant/member/"+owner, ""), http.StatusConflict, "last_owner")
	expect(t, "nobody is made a member unasked", m.ask(t, by, http.MethodPut, "/v2/tenant/member/"+other, `{"roles": ["Owner"]}`), http.StatusNotFound, "member_not_found")
	expect(t, "an unknown role", m.ask(t, by, http.MethodPut, "/v2/tenant/member/"+owner, `{"roles": ["King"]}`), http.StatusBadRequest, "invalid_request")
}

// Attack: giving oneself or a friend more than one may do.
func TestOnlyWhatOneMayDoCanBeGiven(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	lesser := session1(owner, tenant)
	lesser.Permissions = principal.UserManage | principal.PatientRead | principal.DocumentRead | principal.TenantRead
	other, _ := m.registered(t, "bob@example.org")
	check(t, m.tenants.PutMember(t.Context(), tenant, other, []string{readerRole}))
	for name, r := range map[string]reply{
		"a role":               m.ask(t, lesser, http.MethodPut, "/v2/tenant/member/"+other, `{"roles": ["Owner"]}`),
		"an invitation":        m.ask(t, lesser, http.MethodPost, "/v2/tenant/invitation", `{"email": "x@example.org", "roles": ["Owner"]}`),
		"the system's role":    m.ask(t, session1(owner, tenant), http.MethodPut, "/v2/tenant/member/"+other, `{"roles": ["Multi-tenant Administrator"]}`),
		"demoting an Owner":    m.ask(t, lesser, http.MethodPut, "/v2/tenant/member/"+owner, `{"roles": ["Records Reader"]}`),
		"removing an Owner":    m.ask(t, lesser, http.MethodDelete, "/v2/tenant/member/"+owner, ""),
		"without user:manage":  m.ask(t, m.caller(principal.PatientRead), http.MethodGet, "/v2/tenant/member?page=x", ""),
		"inviting without it":  m.ask(t, m.caller(principal.PatientRead), http.MethodPost, "/v2/tenant/invitation", `{}`),
		"withdrawing witho it": m.ask(t, m.caller(principal.PatientRead), http.MethodDelete, "/v2/tenant/invitation/x", ""),
	} {
		expect(t, name, r, http.StatusForbidden, "permission_denied")
	}
	if r := m.ask(t, lesser, http.MethodPut, "/v2/tenant/member/"+other, `{"roles": ["Records Reader"]}`); r.status != http.StatusOK {
		t.Errorf("what one may do oneself: %d %s", r.status, r.raw)
	}
}

// Attack: an organization that anybody can make mails its name to everybody.
func TestAnOrganizationMailsOnlySoManyInvitations(t *testing.T) {
	t.Parallel()
	m := start(t)
	by := m.caller(principal.All &^ principal.ClientManage)
	for range 199 {
		_, err := m.people.Limits.Take(t.Context(), "mail:invitations:"+m.tenant, 200, time.Hour)
		check(t, err)
	}
	m.invite(t, by, "a@example.org", "Records Reader")
	r := m.ask(t, by, http.MethodPost, "/v2/tenant/invitation", `{"email": "b@example.org", "roles": ["Records Reader"]}`)
	if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" {
		t.Errorf("%d %s", r.status, r.raw)
	}
	by.TenantID = m.newTenant(t)
	m.invite(t, by, "b@example.org", "Records Reader")
}

func TestInvitationOfANewcomer(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	m.invite(t, session1(owner, tenant), "grace@example.org", "Records Reader")
	l := m.mailed(t, "grace@example.org", 1)
	if l.subject != "You are invited to Tenant "+tenant {
		t.Errorf("%+v", l)
	}
	id, identifier := parts(l.link(t))
	if err := m.people.AcceptInvitation(t.Context(), nil, id, identifier, identity.RegisterDraft{Password: text("short")}, plainly); len(fault.Of(err).Fields) != 3 {
		t.Errorf("%v", err)
	}
	check(t, m.people.AcceptInvitation(t.Context(), nil, id, identifier, newcomer(), plainly))
	entered := m.signedIn(t, "grace@example.org", "a pear tree at dusk")
	await(t, "the membership", func() bool {
		member, there := m.tenants.member(tenant, entered.SignIn.UserID)
		return there && len(member.Roles) == 1 && member.Roles[0].ID == readerRole
	})
	if list, err := m.people.Memberships(t.Context(), entered.SignIn.UserID); err != nil || len(list) != 1 {
		t.Errorf("a newcomer has an organization of their own: %+v, %v", list, err)
	}
	if err := m.people.AcceptInvitation(t.Context(), &entered.SignIn, id, identifier, identity.RegisterDraft{}, plainly); fault.Of(err).Code != "invalid_link" {
		t.Errorf("a second time: %v", err)
	}
}

func TestInvitationOfAUser(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	user, _ := m.registered(t, "bob@example.org")
	m.registered(t, "mallory@example.org")
	by := session1(owner, tenant)
	m.invite(t, by, "Bob@example.org", "Owner")
	first, spent := parts(m.mailed(t, "Bob@example.org", 1).link(t))
	m.invite(t, by, "bob@example.org", "Records Reader")
	id, identifier := parts(m.mailed(t, "bob@example.org", 2).link(t))
	bob, mallory := m.signedIn(t, "bob@example.org", goodPassword).SignIn, m.signedIn(t, "mallory@example.org", goodPassword).SignIn
	accept := func(s *identity.SignIn, id, identifier string) string {
		err := m.people.AcceptInvitation(t.Context(), s, id, identifier, newcomer(), plainly)
		if err == nil {
			return ""
		}
		return fault.Of(err).Code
	}
	for _, c := range []struct{ name, got, want string }{
		{"superseded", accept(&bob, first, spent), "invalid_link"},
		{"another's identifier", accept(&bob, first, identifier), "invalid_link"},
		{"another address", accept(&mallory, id, identifier), "another_address"},
		{"not signed in", accept(nil, id, identifier), "sign_in_first"},
		{"the one who was invited", accept(&bob, id, identifier), ""},
		{"again", accept(&bob, id, identifier), "invalid_link"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
	await(t, "the membership", func() bool { _, there := m.tenants.member(tenant, user); return there })
	if len(m.tenants.people[tenant]) != 2 {
		t.Errorf("%+v", m.tenants.people[tenant])
	}
}

// An invitation adds to what a member may do: it must not demote an Owner.
func TestAnInvitationTakesNothingAway(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	m.invite(t, session1(owner, tenant), "ada@example.org", "Records Reader")
	id, identifier := parts(m.mailed(t, "ada@example.org", 2).link(t))
	s := m.signedIn(t, "ada@example.org", goodPassword).SignIn
	check(t, m.people.AcceptInvitation(t.Context(), &s, id, identifier, identity.RegisterDraft{}, plainly))
	await(t, "both roles", func() bool { member, _ := m.tenants.member(tenant, owner); return len(member.Roles) == 2 })
}

func TestInvitationsAreListedWithdrawnAndEnd(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	by := session1(owner, tenant)
	one, two := m.invite(t, by, "one@example.org", readerRole), m.invite(t, by, "two@example.org", readerRole)
	list := m.ask(t, by, http.MethodGet, "/v2/tenant/invitation?size=1", "")
	if list.status != http.StatusOK || !strings.Contains(list.raw, one) || strings.Contains(list.raw, two) || list.header.Get("Link") == "" || !strings.Contains(list.raw, `"totalElements":2`) || !strings.Contains(list.raw, "Records Reader") {
		t.Errorf("%d %s", list.status, list.raw)
	}
	stranger := by
	stranger.TenantID = m.newTenant(t)
	expect(t, "another tenant's", m.ask(t, stranger, http.MethodDelete, "/v2/tenant/invitation/"+one, ""), http.StatusNotFound, "invitation_not_found")
	if r := m.ask(t, stranger, http.MethodGet, "/v2/tenant/invitation", ""); !strings.Contains(r.raw, `"totalElements":0`) {
		t.Errorf("another tenant sees %s", r.raw)
	}
	if r := m.ask(t, by, http.MethodDelete, "/v2/tenant/invitation/"+one, ""); r.status != http.StatusOK {
		t.Errorf("%d %s", r.status, r.raw)
	}
	id, identifier := parts(m.mailed(t, "one@example.org", 1).link(t))
	if err := m.people.AcceptInvitation(t.Context(), nil, id, identifier, newcomer(), plainly); fault.Of(err).Code != "invalid_link" {
		t.Errorf("withdrawn: %v", err)
	}
	id, identifier = parts(m.mailed(t, "two@example.org", 1).link(t))
	m.clock.move(7*24*time.Hour + time.Second)
	if err := m.people.AcceptInvitation(t.Context(), nil, id, identifier, newcomer(), plainly); fault.Of(err).Code != "invalid_link" {
		t.Errorf("a week later: %v", err)
	}
}

func TestAnInvitationCanBeRepeated(t *testing.T) {
	t.Parallel()
	m := start(t)
	owner, tenant := m.registered(t, "ada@example.org")
	by, body := session1(owner, tenant), `{"email": "one@example.org", "roles": ["Records Reader"]}`
	first := m.ask(t, by, http.MethodPost, "/v2/tenant/invitation", body, "Idempotency-Key", "k")
	again := m.ask(t, by, http.MethodPost, "/v2/tenant/invitation", body, "Idempotency-Key", "k")
	if first.status != http.StatusCreated || again.status != http.StatusCreated || first.raw != again.raw || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("%d %s\n%d %s", first.status, first.raw, again.status, again.raw)
	}
	other := m.ask(t, by, http.MethodPost, "/v2/tenant/invitation", strings.Replace(body, "one", "two", 1), "Idempotency-Key", "k")
	expect(t, "another body", other, http.StatusUnprocessableEntity, "idempotency_key_reused")
}

func TestMyself(t *testing.T) {
	t.Parallel()
	m := start(t)
	user, tenant := m.registered(t, "ada@example.org")
	by := session1(user, tenant)
	by.CredentialID = m.family(t, user, tenant)
	r := m.ask(t, by, http.MethodGet, "/v2/user/myself", "")
	active, _ := r.body["activeTenant"].(map[string]any)
	if r.status != http.StatusOK || r.text("email") != "ada@example.org" || r.body["emailVerified"] != true || active["tenantId"] != tenant || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", r.status, r.raw)
	}
	by.Kind, by.TenantID = principal.APIKey, m.newTenant(t)
	if r := m.ask(t, by, http.MethodGet, "/v2/user/myself", ""); r.status != http.StatusOK || r.text("id") != user || !strings.Contains(r.raw, `"activeTenant":null`) {
		t.Errorf("an API key: %d %s", r.status, r.raw)
	}
	client := principal.Principal{Kind: principal.Client, TenantID: tenant, ClientID: "c"}
	expect(t, "a client", m.ask(t, client, http.MethodGet, "/v2/user/myself", ""), http.StatusForbidden, "no_user")
}
