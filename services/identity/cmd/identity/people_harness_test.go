package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

const goodPassword = "plum tree at noon"

// The neighbour as far as people are concerned.

func (n *neighbour) member(tenant, user string) (identity.Member, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	m, ok := n.people[tenant][user]
	return m, ok
}

// office is the neighbour whose members are those it was told of.
type office struct{ *neighbour }

func (n office) Memberships(ctx context.Context, user string) ([]identity.Membership, error) {
	if _, err := n.Roles(ctx); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []identity.Membership
	for tenant, people := range n.people {
		if m, ok := people[user]; ok {
			list = append(list, identity.Membership{TenantID: tenant, Name: "Tenant " + tenant, Roles: m.Roles, MFARequired: n.mfa[tenant]})
		}
	}
	slices.SortFunc(list, func(a, b identity.Membership) int { return strings.Compare(a.TenantID, b.TenantID) })
	return list, nil
}

func (n *neighbour) Members(_ context.Context, tenant string, part page.Request) (identity.Members, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]identity.Member, 0, len(n.people[tenant]))
	for _, m := range n.people[tenant] {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b identity.Member) int { return strings.Compare(a.UserID, b.UserID) })
	found := identity.Members{Total: int64(len(all))}
	for _, m := range all {
		if m.UserID > part.After && len(found.List) < part.Size {
			found.List = append(found.List, m)
		} else if m.UserID > part.After {
			found.More = true
		}
	}
	return found, nil
}

func (n *neighbour) Member(_ context.Context, tenant, user string) (identity.Member, error) {
	if m, ok := n.member(tenant, user); ok {
		return m, nil
	}
	return identity.Member{}, fault.New(fault.NotFound, "member_not_found", "There is no such member.")
}

// require lets a tenant require a second factor, or not any more.
func (n *neighbour) require(tenant string, required bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.mfa == nil {
		n.mfa = map[string]bool{}
	}
	n.mfa[tenant] = required
}

func (n *neighbour) TenantName(_ context.Context, tenant string) (string, error) {
	return "Tenant " + tenant, nil
}

func (n *neighbour) PutMember(ctx context.Context, tenant, user string, ids []string) error {
	all, err := n.Roles(ctx)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	m := identity.Member{UserID: user, CreatedAt: time.Now()}
	for _, r := range all {
		if slices.Contains(ids, r.ID) {
			m.Roles = append(m.Roles, r)
		}
	}
	if n.people == nil {
		n.people = map[string]map[string]identity.Member{}
	}
	if n.people[tenant] == nil {
		n.people[tenant] = map[string]identity.Member{}
	}
	n.people[tenant][user] = m
	return nil
}

func (n *neighbour) RemoveMember(_ context.Context, tenant, user string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	owners := 0
	for _, m := range n.people[tenant] {
		if slices.ContainsFunc(m.Roles, func(r identity.Role) bool { return r.ID == ownerRole }) {
			owners++
		}
	}
	if owners == 1 && slices.ContainsFunc(n.people[tenant][user].Roles, func(r identity.Role) bool { return r.ID == ownerRole }) {
		return fault.New(fault.Conflict, "last_owner", "The last Owner stays.")
	}
	delete(n.people[tenant], user)
	return nil
}

func (n *neighbour) CreateTenant(ctx context.Context, payload []byte) error {
	var made identity.NewTenant
	if err := json.Unmarshal(payload, &made); err != nil {
		return err
	}
	if _, err := n.Roles(ctx); err != nil {
		return err
	}
	n.set(made.ID, identity.Standing{Plan: "free", Environment: "demo", AgreementAccepted: true})
	return n.PutMember(ctx, made.ID, made.OwnerID, []string{ownerRole})
}

func (n *neighbour) AddMember(ctx context.Context, payload []byte) error {
	var made identity.NewMember
	if err := json.Unmarshal(payload, &made); err != nil {
		return err
	}
	return n.PutMember(ctx, made.TenantID, made.UserID, made.RoleIDs)
}

// serve makes the people's side of the service, and lets its effects go out.
func (m *meshed) serve(t testing.TB, c settings, db *pg.DB, kept *store.Store, carry *relays) {
	t.Helper()
	post, err := c.post(m.service, kept.Log)
	check(t, err)
	further, err := peopleRelays(db, kept.Log, kept, post, office{m.tenants})
	check(t, err)
	*carry = append(*carry, further...)
	m.people, err = newPeople(c, m.service, kept, m.redis, office{m.tenants}, m.server)
	check(t, err)
	ctx, stop := context.WithCancel(context.Background())
	var loops sync.WaitGroup
	loops.Go(func() { _ = carry.run(ctx) })
	t.Cleanup(func() { stop(); loops.Wait() })
}

// await waits until a condition holds.
func await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for late := time.After(20 * time.Second); !holds(); {
		select {
		case <-late:
			t.Fatal(what + ": not in time")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// letter is a mail as its reader has it.
type letter struct {
	to, subject, text, html string
}

var linkForm = regexp.MustCompile(`https://mesh\.example(/\S+)`)

// link is the path of the link in a letter.
func (l letter) link(t testing.TB) string {
	t.Helper()
	found := linkForm.FindStringSubmatch(l.text)
	if found == nil || !strings.Contains(l.html, found[0]) {
		t.Fatalf("no link in %q", l.text)
	}
	return found[1]
}

// letters gives all that was mailed to an address, the oldest first.
func (m *meshed) letters(t testing.TB, to string) []letter {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(m.mail, "*.eml"))
	check(t, err)
	slices.Sort(files)
	var list []letter
	for _, name := range files {
		if l := read(t, name); l.to == to {
			list = append(list, l)
		}
	}
	return list
}

func read(t testing.TB, name string) letter {
	t.Helper()
	file, err := os.Open(name)
	check(t, err)
	defer file.Close()
	message, err := mail.ReadMessage(file)
	check(t, err)
	to, err := message.Header.AddressList("To")
	check(t, err)
	subject, err := new(mime.WordDecoder).DecodeHeader(message.Header.Get("Subject"))
	check(t, err)
	l := letter{to: to[0].Address, subject: subject}
	_, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	check(t, err)
	for parts := multipart.NewReader(message.Body, params["boundary"]); ; {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return l
		}
		check(t, err)
		raw, err := io.ReadAll(part)
		check(t, err)
		if strings.HasPrefix(part.Header.Get("Content-Type"), "text/html") {
			l.html = string(raw)
		} else {
			l.text = string(raw)
		}
	}
}

// mailed waits for the nth letter to an address, counted from one.
func (m *meshed) mailed(t testing.TB, to string, n int) letter {
	t.Helper()
	var list []letter
	await(t, "a letter", func() bool { list = m.letters(t, to); return len(list) >= n })
	return list[n-1]
}

// open sends JSON to a path that needs no credential, from an address.
func (m *meshed) open(t testing.TB, from, target, body string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, m.base+target, strings.NewReader(body))
	check(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-For", from)
	return send(t, request)
}

func registration(email, password, organization string) string {
	body, _ := json.Marshal(map[string]string{
		"email": email, "password": password, "firstName": "Ada", "lastName": "Lovelace", "organizationName": organization,
	})
	return string(body)
}

// registered makes a user with a proved address and waits for their organization.
func (m *meshed) registered(t testing.TB, email string) (user, tenant string) {
	t.Helper()
	r := m.open(t, "192.0.2.1", "/user/public/register-user", registration(email, goodPassword, "General Hospital"))
	if r.status != http.StatusCreated {
		t.Fatalf("register: %d %s", r.status, r.raw)
	}
	user, tenant = r.text("userId"), r.text("tenantId")
	if r := m.open(t, "192.0.2.1", m.mailed(t, email, 1).link(t), ""); r.status != http.StatusOK {
		t.Fatalf("verify: %d %s", r.status, r.raw)
	}
	await(t, "the organization", func() bool { _, there := m.tenants.member(tenant, user); return there })
	return user, tenant
}

// signedIn signs a user in and gives the session with its cookie.
func (m *meshed) signedIn(t testing.TB, email, password string) identity.Entered {
	t.Helper()
	entered, err := m.people.SignIn(t.Context(), stranger, email, password)
	check(t, err)
	if entered.Cookie == "" {
		t.Fatalf("no session: %+v", entered)
	}
	return entered
}

var stranger = identity.Caller{Address: "198.51.100.7", Agent: "Firefox on Linux"}

// browser reports whether a cookie's browser is signed in.
func (m *meshed) browser(t testing.TB, cookie string) *identity.SignIn {
	t.Helper()
	s, _, err := m.people.Browser(t.Context(), cookie)
	check(t, err)
	return s
}

// session is a caller who is signed in as the user.
func session1(user, tenant string) principal.Principal {
	return principal.Principal{
		Kind: principal.Session, UserID: user, TenantID: tenant, ClientID: "prs-public",
		CredentialID: "01900000-0000-7000-8000-0000000000f1", Permissions: principal.All &^ principal.ClientManage,
	}
}
