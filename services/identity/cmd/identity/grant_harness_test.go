package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

const (
	publicID = "prs-public"
	loopback = "http://127.0.0.1:49152/callback"
	issuer   = "https://mesh.example"
)

func (n *neighbour) MemberStanding(_ context.Context, tenant, user string) (identity.Standing, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return identity.Standing{}, fault.Away(nil, "The tenant service is away.")
	}
	s, ok := n.tenants[tenant]
	permissions, member := n.members[tenant+user]
	if !ok || !member {
		return identity.Standing{}, fault.New(fault.NotFound, "member_not_found", "There is no such member.")
	}
	s.Permissions, s.MFARequired = permissions, n.mfa[tenant]
	return s, nil
}

// join makes the user a member; without permissions, none any more.
func (n *neighbour) join(tenant, user string, permissions principal.Permission) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.members == nil {
		n.members = map[string]principal.Permission{}
	}
	n.members[tenant+user] = permissions
	if permissions == 0 {
		delete(n.members, tenant+user)
	}
}

func newID(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	check(t, err)
	return id.String()
}

// user makes a member of the test's tenant, who may read and write patients.
func (m *meshed) user(t testing.TB) string {
	t.Helper()
	id := newID(t)
	m.tenants.join(m.tenant, id, principal.PatientRead|principal.PatientWrite)
	return id
}

// family makes a member of the user, signs them in at the public client, and gives that sign-in's id.
func (m *meshed) family(t testing.TB, user, tenant string) string {
	t.Helper()
	m.tenants.join(tenant, user, principal.PatientRead)
	tokens, err := m.server.Start(t.Context(), identity.FamilyDraft{ClientID: publicID, UserID: user, TenantID: tenant})
	check(t, err)
	return tokens.FamilyID
}

func challengeOf(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// asking is a good authorization request of the public client, with changes.
func asking(verifier string, changes ...string) url.Values {
	form := url.Values{
		"client_id": {publicID}, "response_type": {"code"}, "redirect_uri": {loopback}, "scope": {"patient:read patient:write tenant:read"},
		"state": {"a state of eight"}, "code_challenge": {challengeOf(verifier)}, "code_challenge_method": {"S256"},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
		if changes[i+1] == "" {
			form.Del(changes[i])
		}
	}
	return form
}

// browsing signs the user in in a browser, by the methods, and gives that session's id.
func (m *meshed) browsing(t testing.TB, user string, methods ...string) string {
	t.Helper()
	const anyHash = "$argon2id$any"
	now := m.clock.now()
	_, err := m.service.Users.CreateUser(t.Context(), identity.User{
		ID: user, Environment: "demo", Email: user + "@example.org", EmailVerifiedAt: &now, PasswordHash: anyHash, CreatedAt: now,
	})
	check(t, err)
	in := identity.SignIn{ID: newID(t), UserID: user, Methods: methods, CreatedAt: now, SeenAt: now, ExpiresAt: now.Add(12 * time.Hour)}
	hash := sha256.Sum256([]byte(in.ID))
	if done, err := m.people.SignIns.KeepSignIn(t.Context(), in, hash[:], anyHash, audit.Entry{}); err != nil || !done {
		t.Fatalf("sign in: %v, %v", done, err)
	}
	return in.ID
}

// grant lets the user consent to the request in the test's tenant, and gives where the browser is sent.
func (m *meshed) grant(t testing.TB, user string, request url.Values) url.Values {
	t.Helper()
	a, refused, err := m.server.BeginAuthorize(t.Context(), request)
	if err != nil || refused != nil {
		t.Fatalf("the request is refused: %+v, %v", refused, err)
	}
	r, err := m.server.Grant(t.Context(), a, oauth.Decision{UserID: user, TenantID: m.tenant, SignInID: m.browsing(t, user, identity.ByPassword), Agent: "Firefox", Scopes: a.Scopes})
	check(t, err)
	return m.sentTo(t, r)
}

// sentTo reads a redirect, which must carry the issuer (RFC 9207).
func (m *meshed) sentTo(t testing.TB, r oauth.Response) url.Values {
	t.Helper()
	u, err := url.Parse(r.Header["Location"])
	check(t, err)
	if r.Status != http.StatusSeeOther || u.Query().Get("iss") != issuer || u.Fragment != "" || r.Header["Cache-Control"] != "no-store" {
		t.Errorf("redirect %d %s %v", r.Status, r.Header["Location"], r.Header)
	}
	return u.Query()
}

func (m *meshed) code(t testing.TB, user string, request url.Values) string {
	t.Helper()
	sent := m.grant(t, user, request)
	if sent.Get("code") == "" || sent.Get("state") != request.Get("state") {
		t.Fatalf("sent back with %v", sent)
	}
	return sent.Get("code")
}

func redemption(code, verifier string, changes ...string) url.Values {
	form := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {publicID}, "code": {code}, "redirect_uri": {loopback}, "code_verifier": {verifier},
	}
	for i := 0; i+1 < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return form
}

func refreshing(token string, changes ...string) url.Values {
	form := url.Values{"grant_type": {"refresh_token"}, "client_id": {publicID}, "refresh_token": {token}}
	for i := 0; i+1 < len(changes); i += 2 {
		form.Set(changes[i], changes[i+1])
	}
	return form
}

// signIn takes a user through the whole flow, and gives the token response.
func (m *meshed) signIn(t testing.TB, user string) reply {
	t.Helper()
	verifier := rand.Text() + rand.Text()
	r := m.post(t, "/oauth2/token", redemption(m.code(t, user, asking(verifier)), verifier))
	if r.status != http.StatusOK || r.text("access_token") == "" || r.text("refresh_token") == "" {
		t.Fatalf("redeem: %d %s", r.status, r.raw)
	}
	return r
}

func (m *meshed) refused(t testing.TB, what string, r reply, status int, code string) {
	t.Helper()
	if r.status != status || r.text("error") != code || r.text("access_token") != "" || r.text("refresh_token") != "" {
		t.Errorf("%s: %d %s, want %d %s", what, r.status, r.raw, status, code)
	}
}

// webClient registers a client that people sign in at.
func (m *meshed) webClient(t testing.TB, changes ...string) (id, secret string) {
	t.Helper()
	member := map[string]string{
		"client_name": `"web"`, "grant_types": `["authorization_code", "refresh_token"]`,
		"redirect_uris": `["https://app.example/back?x=1"]`, "scope": `"patient:read patient:write offline_access"`,
	}
	for i := 0; i+1 < len(changes); i += 2 {
		member[changes[i]] = changes[i+1]
	}
	var parts []string
	for name, value := range member {
		parts = append(parts, `"`+name+`": `+value)
	}
	r := m.ask(t, m.caller(principal.ClientManage), http.MethodPost, "/v2/oauth2/client", "{"+strings.Join(parts, ", ")+"}")
	if r.status != http.StatusCreated {
		t.Fatalf("register: %d %s", r.status, r.raw)
	}
	return r.text("client_id"), r.text("client_secret")
}

const webBack = "https://app.example/back?x=1"
