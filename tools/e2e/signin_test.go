package e2e

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/tools/mailbox"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

const (
	formType = "application/x-www-form-urlencoded"
	callback = "http://127.0.0.1/callback"
)

// form posts a form, as the endpoints of OAuth take it.
func (c *client) form(path string, values url.Values) answer {
	c.t.Helper()
	return c.with("Content-Type", formType).post(path, values.Encode())
}

// account is somebody who can sign in.
type account struct{ id, tenant, email, password string }

// first is the person of the first demo tenant, who belongs to the second one as well.
func first(m *mesh.Mesh) account {
	d := m.Demo().Tenants[0]
	return account{id: d.User.ID, tenant: d.ID, email: d.User.Email, password: d.User.Password}
}

// stranger is what somebody new registers with. Nothing of it can stand anywhere by chance.
func stranger() account {
	return account{
		email: secretly("someone-"+strings.ToLower(rand.Text())) + "@hospital.example", password: secretly("Pass-" + rand.Text()),
	}
}

// registration is the body of register-user.
func (a account) registration() map[string]any {
	return map[string]any{
		"email": a.email, "password": a.password, "firstName": "Ada", "lastName": "Lovelace", "organizationName": "Analytical Ward",
	}
}

// newAccount registers somebody, proves the address, and waits for the organization.
func newAccount(t *testing.T) account {
	t.Helper()
	a := stranger()
	c := anyone(t)
	made := c.post("/user/public/register-user", a.registration()).is(http.StatusCreated).object()
	a.id, a.tenant = made["userId"].(string), made["tenantId"].(string)
	c.post(linkTo(t, world, a.email, verifyLink, 0), nil).is(ok)
	eventually(t, 10*time.Second, func() bool {
		var got struct{ Content []any }
		inner(t, "tenant", http.MethodGet, "/internal/user/"+a.id+"/membership", nil, &got)
		return len(got.Content) == 1
	})
	return a
}

const (
	verifyLink = "/user/public/verify-email"
	resetLink  = "/user/public/verify-password-update"
)

// linkTo waits for the link that somebody is mailed, after so many letters, and gives its path.
func linkTo(t *testing.T, m *mesh.Mesh, email, kind string, after int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	found, err := mailOf(m).Await(ctx, email, after, regexp.MustCompile(`(https?://[^/\s]+)(`+kind+`/[0-9a-f-]{36}/([A-Za-z0-9_-]+))`))
	if err != nil {
		t.Fatal(err)
	}
	if found[1] != m.URL() {
		t.Errorf("a mailed link leads to %s", found[1])
	}
	secretly(found[3])
	return found[2]
}

// codeTo waits for the six digits that somebody is mailed, after so many letters.
func codeTo(t *testing.T, m *mesh.Mesh, email string, after int) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	found, err := mailOf(m).Await(ctx, email, after, regexp.MustCompile(`(?m)^([0-9]{6})\r?$`))
	if err != nil {
		t.Fatal(err)
	}
	return found[1]
}

func mailOf(m *mesh.Mesh) mailbox.Folder { return mailbox.Folder(m.Path("mail")) }

// letters is how many somebody has got.
func letters(t *testing.T, m *mesh.Mesh, email string) int {
	t.Helper()
	texts, err := mailOf(m).To(email)
	if err != nil {
		t.Fatal(err)
	}
	return len(texts)
}

// publicClient is the client that everybody shares, as a client library has it.
func publicClient(m *mesh.Mesh, scopes ...string) oauth2.Config {
	return oauth2.Config{
		ClientID: m.Demo().PublicClientID, RedirectURL: callback, Scopes: scopes,
		Endpoint: oauth2.Endpoint{
			AuthURL: m.URL() + "/oauth2/authorize", TokenURL: m.URL() + "/auth/oauth2/token", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
}

// through goes from a page to the client application, by whatever forms it is shown on the way, and gives what the
// client is told. With is asked for what a second factor wants.
func (p *person) through(seen page, a account, with func(page) string) url.Values {
	p.t.Helper()
	for range 8 {
		switch {
		case seen.status/100 == 3:
			return seen.callback()
		case seen.status != ok:
			p.t.Fatalf("%s answered %d: %s", seen.at.Path, seen.status, seen.shown())
		case seen.asks("password"):
			seen = p.submit(seen, map[string]string{"email": a.email, "password": a.password})
		case seen.asks("decision"):
			seen = p.submit(seen, map[string]string{"decision": "allow"})
		case seen.asks("tenantId"):
			seen = p.submit(seen, map[string]string{"tenantId": a.tenant})
		case seen.asks("challenge") && with != nil:
			seen = p.submit(seen, map[string]string{"code": with(seen)})
		default:
			p.t.Fatalf("what now? %s", seen.shown())
		}
	}
	p.t.Fatal("in a circle")
	return nil
}

// asks reports whether a form on the page has an input, or a button, of a name.
func (s page) asks(name string) bool {
	for _, f := range s.forms {
		for _, n := range f.names {
			if n == name {
				return true
			}
		}
	}
	return false
}

// session is somebody's sign-in at a client.
type session struct {
	*oauth2.Token

	by     *person
	who    account
	config oauth2.Config
	mesh   *mesh.Mesh
}

// state is one that nobody can guess.
func state() string { return rand.Text() }

// codeFor is a code for a client, for whoever is at the browser, and the verifier that goes with it.
func (p *person) codeFor(config oauth2.Config, a account, more ...oauth2.AuthCodeOption) (code, verifier string) {
	p.t.Helper()
	verifier = secretly(oauth2.GenerateVerifier())
	asked := state()
	told := p.through(p.visit(config.AuthCodeURL(asked, append(more, oauth2.S256ChallengeOption(verifier))...)), a, nil)
	if told.Get("state") != asked || told.Get("iss") != p.base || told.Get("code") == "" {
		p.t.Fatalf("the client is told %v", told)
	}
	return secretly(told.Get("code")), verifier
}

// signInAt takes somebody through the whole flow at a client.
func signInAt(t *testing.T, m *mesh.Mesh, a account, config oauth2.Config, more ...oauth2.AuthCodeOption) session {
	t.Helper()
	s := newPerson(t, m).session(config, a, more...)
	s.mesh = m
	return s
}

// session is a new one at a client, of whoever is at the browser.
func (p *person) session(config oauth2.Config, a account, more ...oauth2.AuthCodeOption) session {
	p.t.Helper()
	p.stop = config.RedirectURL
	code, verifier := p.codeFor(config, a, more...)
	got, err := config.Exchange(p.t.Context(), code, oauth2.VerifierOption(verifier))
	if err != nil {
		p.t.Fatal(err)
	}
	secretly(got.AccessToken)
	secretly(got.RefreshToken)
	return session{Token: got, by: p, who: a, config: config, mesh: world}
}

// signIn takes somebody of the shared mesh to the shared client.
func signIn(t *testing.T, a account) session {
	t.Helper()
	return signInAt(t, world, a, publicClient(world))
}

// client calls the gateway with the session's access token.
func (s session) client() *client { return at(s.by.t, s.mesh, s.AccessToken) }

// refreshing is the form that refreshes the session.
func (s session) refreshing() url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {s.config.ClientID}, "refresh_token": {s.RefreshToken}}
}

// refresh is the session with new tokens.
func (s session) refresh() session {
	s.by.t.Helper()
	got, err := s.config.TokenSource(s.by.t.Context(), &oauth2.Token{RefreshToken: s.RefreshToken}).Token()
	if err != nil {
		s.by.t.Fatal(err)
	}
	if got.RefreshToken == s.RefreshToken || got.AccessToken == s.AccessToken {
		s.by.t.Error("a refresh that changes nothing")
	}
	secretly(got.AccessToken)
	secretly(got.RefreshToken)
	s.Token = got
	return s
}

// dies waits until a token is worthless at the gateway: the contract gives a revocation one second.
func (s session) dies() {
	s.by.t.Helper()
	eventually(s.by.t, time.Second, func() bool { return s.client().get("/v2/user/myself").status == unauthorized })
}

// ended fails unless the refresh token is worthless as well.
func (s session) ended() {
	s.by.t.Helper()
	s.dies()
	anyone(s.by.t).form("/auth/oauth2/token", s.refreshing()).fails("invalid_grant")
}

// tenant is where the session's access token stands.
func (s session) tenant() string {
	s.by.t.Helper()
	return s.client().get("/v2/tenant").is(ok).object()["id"].(string)
}

// fails checks a refusal of OAuth (RFC 6749 §5.2), which carries nothing but itself.
func (a answer) fails(code string) {
	a.t.Helper()
	status := bad
	if code == "invalid_client" {
		status = unauthorized
	}
	a.is(status)
	if got := a.object(); got["error"] != code || got["access_token"] != nil || got["refresh_token"] != nil {
		a.t.Fatalf("refused with %s, want %s", a.raw, code)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		a.t.Errorf("Cache-Control %q", a.header.Get("Cache-Control"))
	}
}
