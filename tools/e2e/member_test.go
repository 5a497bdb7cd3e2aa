package e2e

import (
	"net/http"
	"regexp"
	"testing"
	"time"
)

const (
	members     = "/v2/tenant/member"
	invitations = "/v2/tenant/invitation"
)

// invited is the path of the link that an invitation mails.
func invited(t *testing.T, email string, after int) string {
	t.Helper()
	found, err := mailOf(world).Await(t.Context(), email, after, regexp.MustCompile(world.URL()+`(/invitation/[0-9a-f-]{36}/([A-Za-z0-9_-]+))`))
	if err != nil {
		t.Fatal(err)
	}
	secretly(found[2])
	return found[1]
}

// newcomer is what somebody who is invited fills in.
func newcomer(a account) map[string]string {
	return map[string]string{"firstName": "Grace", "lastName": "Hopper", "password": a.password}
}

// An Owner invites a newcomer, who registers by the invitation, works with just their roles, gets others, and is removed.
func TestMembersAndInvitations(t *testing.T) {
	boss := signIn(t, newAccount(t))
	c, who := boss.client(), stranger()
	body := map[string]any{"email": who.email, "roles": []string{"Records Reader"}}
	made := c.post(invitations, body).is(http.StatusCreated).object()
	if made["email"] != who.email || c.get(invitations).is(ok).object()["totalElements"] != 1.0 {
		t.Errorf("invited %v", made)
	}
	link := invited(t, who.email, 0)
	p := newPerson(t, world)
	p.visit(link).is(ok)
	p.submit(p.visit(link), newcomer(who))
	who.tenant = boss.who.tenant
	var s session
	eventually(t, 10*time.Second, func() bool { return c.get(members).is(ok).object()["totalElements"] == 2.0 })
	s = signIn(t, who)
	at, _ := stored(c, ana())
	s.client().get(at).is(ok)
	s.client().patch(at, map[string]any{"middleName": "M"}).refused(http.StatusForbidden, "permission_denied")
	s.client().get(members).refused(http.StatusForbidden, "permission_denied")
	s.client().post(invitations, body).refused(http.StatusForbidden, "permission_denied")
	again := newPerson(t, world)
	again.visit(link).is(bad) // once

	who.id = s.client().get("/v2/user/myself").is(ok).object()["id"].(string)
	c.put(members+"/"+who.id, map[string]any{"roles": []string{"Multi-tenant Administrator"}}).refused(http.StatusForbidden, "permission_denied")
	c.put(members+"/"+who.id, map[string]any{"roles": []string{"King"}}).is(bad)
	c.put(members+"/"+who.id, map[string]any{"roles": []string{"Clinician"}}).is(ok)
	eventually(t, 10*time.Second, func() bool { return s.client().patch(at, map[string]any{"middleName": "M"}).status == ok })
	c.delete(members+"/"+boss.who.id).refused(http.StatusConflict, "last_owner")
	c.put(members+"/"+boss.who.id, map[string]any{"roles": []string{"Records Reader"}}).refused(http.StatusConflict, "last_owner")
	c.delete(members + "/" + who.id).is(ok)
	eventually(t, 10*time.Second, func() bool { return s.client().get(at).status == unauthorized })
	c.delete(members + "/" + who.id).is(missing)
	other(t).delete(members + "/" + boss.who.id).is(missing)
	c.get(at).is(ok)
}

func TestAnInvitationIsWithdrawn(t *testing.T) {
	c, who := signIn(t, newAccount(t)).client(), newAccount(t)
	before := letters(t, world, who.email)
	made := c.post(invitations, map[string]any{"email": who.email, "roles": []string{"Clinician"}}).is(http.StatusCreated).object()
	link := invited(t, who.email, before)
	other(t).delete(invitations + "/" + made["id"].(string)).is(missing)
	p := newPerson(t, world)
	opened := p.visit(link).is(ok)
	c.delete(invitations + "/" + made["id"].(string)).is(ok)
	p.submit(opened, newcomer(who)).is(bad)
	p.visit(link).is(bad)
	c.delete(invitations + "/" + made["id"].(string)).is(missing)
	c.post(invitations, map[string]any{"email": "nobody", "roles": []string{}}).is(bad)
}
