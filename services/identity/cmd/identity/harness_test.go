package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
	"github.com/patient-mesh/patient-mesh/services/identity/rest"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

const (
	ownerRole  = "01900000-0000-7000-8000-000000000001"
	readerRole = "01900000-0000-7000-8000-000000000004"
	adminRole  = "01900000-0000-7000-8000-000000000007"
)

// neighbour stands in for the tenant service.
type neighbour struct {
	mu      sync.Mutex
	tenants map[string]identity.Standing
	people  map[string]map[string]identity.Member // by tenant and user
	mfa     map[string]bool
	members map[string]principal.Permission // by tenant and user
	away    bool
}

func (n *neighbour) Roles(context.Context) ([]identity.Role, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.away {
		return nil, fault.Away(nil, "The tenant service is away.")
	}
	return []identity.Role{
		{ID: ownerRole, Name: "Owner", Permissions: principal.All &^ principal.ClientManage},
		{ID: readerRole, Name: "Records Reader", Permissions: principal.PatientRead | principal.DocumentRead | principal.TenantRead},
		{ID: adminRole, Name: "Multi-tenant Administrator", Permissions: principal.ClientManage | principal.TenantRead},
	}, nil
}

func (n *neighbour) Standing(ctx context.Context, tenant string, roleIDs []string) (identity.Standing, error) {
	roles, err := n.Roles(ctx)
	if err != nil {
		return identity.Standing{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.tenants[tenant]
	if !ok {
		return identity.Standing{}, fault.New(fault.NotFound, "tenant_not_found", "There is no such tenant.")
	}
	for _, r := range roles {
		for _, id := range roleIDs {
			if r.ID == id {
				s.Permissions |= r.Permissions
			}
		}
	}
	return s, nil
}

func (n *neighbour) set(tenant string, s identity.Standing) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tenants[tenant] = s
}

func (n *neighbour) leave(away bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.away = away
}

// clock is the tests' time, which they move on.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(by)
}

// meshed is the whole service on a port of its own, on a real database and a real Redis.
type meshed struct {
	base    string
	keys    *principal.Keyring
	tenants *neighbour
	tenant  string
	service *identity.Service
	server  *oauth.Server
	people  *identity.People
	grants  identity.GrantStore
	mail    string // the folder that letters are written to
	begun   *beginnings

	launcher *identity.Launcher
	clock    *clock
	redis    redis.UniversalClient
	log      *bytes.Buffer
	logged   *sync.Mutex
	database string // URL of the database as the service has it
	admin    string // URL of the database for a superuser
}

type lockedWriter struct {
	mu *sync.Mutex
	to io.Writer
}

func (w lockedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

func start(t testing.TB, options ...func(*settings)) *meshed {
	t.Helper()
	return startAt(t, "https://mesh.example/", options...)
}

// startAt is start at another public address.
func startAt(t testing.TB, publicURL string, options ...func(*settings)) *meshed {
	t.Helper()
	m := &meshed{
		tenants: &neighbour{tenants: map[string]identity.Standing{}}, clock: &clock{at: time.Now()},
		log: &bytes.Buffer{}, logged: &sync.Mutex{},
	}
	log := slog.New(slog.NewJSONHandler(lockedWriter{m.logged, m.log}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	m.tenant = m.newTenant(t)
	database := testkit.Postgres(t, store.Migrations())
	m.database, m.admin = database.URL, database.AdminURL
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 8})
	check(t, err)
	t.Cleanup(db.Close)
	m.redis, err = cache.Open(testkit.Redis(t), cache.Telemetry{})
	check(t, err)
	t.Cleanup(func() { _ = m.redis.Close() })
	m.keys, err = principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	check(t, err)

	relay, err := outbox.NewRelay(db, log, outbox.Options{Handlers: map[string]outbox.Handler{session.Effect: session.Handler(m.redis)}})
	check(t, err)
	carry := &relays{relay}

	c := settings{
		Common: config.Common{Environment: config.Demo}, PublicURL: publicURL,
		CredentialKey:  base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32)),
		PublicClientID: "prs-public", PublicRedirectURIs: []string{"http://127.0.0.1/callback", "http://[::1]/callback"},
	}
	m.mail = t.TempDir()
	c.PeopleSettings = PeopleSettings{
		MailDir: m.mail, SignInFor: 12 * time.Hour, SignInIdle: 2 * time.Hour,
		SignInsPerAddress: 20, RegistrationsPerAddress: 10, ResetsPerAddress: 20,
	}
	for _, o := range options {
		o(&c)
	}
	kept := &store.Store{DB: db, Log: log}
	service, server, err := assemble(c, log, m.tenants, kept, m.redis, func() { carry.nudge() })
	check(t, err)
	service.Now = m.clock.now
	service.Passwords = password.New(password.Cost{Memory: 64, Passes: 1}, 2, rand.Reader) // the race detector makes OWASP's very dear
	m.grants = kept
	m.service, m.server, m.begun = service, server, &beginnings{server: server}
	federated, err := federate(c, service, kept)
	check(t, err)
	m.serve(t, c, db, kept, carry)
	federated.People = m.people
	app, err := web.New(web.Options{Name: "identity", Logger: log, Keyring: m.keys, Public: public})
	check(t, err)
	m.launcher = launcher(service, kept, m.begun)
	routes(app, &rest.Server{Identity: service, People: m.people, Launcher: m.launcher, Federation: federated}, server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() { _ = app.Shutdown() })
	m.base = "http://" + listener.Addr().String()
	return m
}

func entryIn(t testing.TB, tenant string) audit.Entry {
	t.Helper()
	return audit.Of(t.Context(), time.Now(), uuid.NewV7, "test").In(tenant)
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m *meshed) newTenant(t testing.TB) string {
	t.Helper()
	id, err := uuid.NewV7()
	check(t, err)
	m.tenants.set(id.String(), identity.Standing{Plan: "free", Environment: "demo", AgreementAccepted: true})
	return id.String()
}

// reply is an answer as it was read.
type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

func (r reply) text(name string) string { s, _ := r.body[name].(string); return s }

func send(t testing.TB, request *http.Request) reply {
	t.Helper()
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	check(t, err)
	r := reply{status: response.StatusCode, header: response.Header, raw: string(raw)}
	_ = json.Unmarshal(raw, &r.body)
	return r
}

// ask sends JSON as the principal, as the gateway does.
func (m *meshed) ask(t testing.TB, p principal.Principal, method, target, body string, header ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, m.base+target, strings.NewReader(body))
	check(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(principal.AssertionHeader, m.keys.Sign(principal.Encode(p), method, target, time.Now()))
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	return send(t, request)
}

func self() principal.Principal {
	return principal.Principal{Kind: principal.Service, ClientID: "test"}
}

func (m *meshed) caller(may principal.Permission) principal.Principal {
	return principal.Principal{Kind: principal.Session, TenantID: m.tenant, UserID: "01900000-0000-7000-8000-0000000000c1", Permissions: may}
}

// post sends a form.
func (m *meshed) post(t testing.TB, path string, form url.Values, header ...string) reply {
	t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, m.base+path, strings.NewReader(form.Encode()))
	check(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
	}
	return send(t, request)
}

// client makes a client with the role in the test's tenant.
func (m *meshed) client(t testing.TB, role string) (id, secret string) {
	t.Helper()
	r := m.ask(t, self(), http.MethodPost, "/internal/client",
		`{"tenantId": "`+m.tenant+`", "name": "c", "roles": ["`+role+`"], "grantTypes": ["client_credentials"]}`)
	if r.status != http.StatusCreated {
		t.Fatalf("make a client: %d %s", r.status, r.raw)
	}
	return r.text("clientId"), r.text("clientSecret")
}

func (m *meshed) token(t testing.TB, id, secret string) string {
	t.Helper()
	r := m.post(t, "/oauth2/token", url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}})
	if r.status != http.StatusOK {
		t.Fatalf("fetch a token: %d %s", r.status, r.raw)
	}
	return r.text("access_token")
}

// resolve asks whose a token is; found is false for 404.
func (m *meshed) resolve(t testing.TB, token string) (p principal.Principal, found bool) {
	t.Helper()
	body, err := json.Marshal(map[string]string{"token": token})
	check(t, err)
	r := m.ask(t, self(), http.MethodPost, "/internal/credential", string(body))
	if r.status == http.StatusNotFound {
		return p, false
	}
	if r.status != http.StatusOK {
		t.Fatalf("resolve: %d %s", r.status, r.raw)
	}
	check(t, json.Unmarshal([]byte(r.raw), &p))
	return p, true
}

// revocations hears what is published from now on.
func (m *meshed) revocations(t testing.TB) <-chan *redis.Message {
	t.Helper()
	sub := m.redis.Subscribe(context.Background(), "revocations")
	_, err := sub.Receive(context.Background())
	check(t, err)
	t.Cleanup(func() { _ = sub.Close() })
	return sub.Channel()
}

// hear waits until the revocation is published. Other tests' are on the same channel.
func hear(t testing.TB, messages <-chan *redis.Message, want session.Revocation) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		select {
		case message := <-messages:
			var got session.Revocation
			check(t, json.Unmarshal([]byte(message.Payload), &got))
			if got == want {
				return
			}
		case <-late:
			t.Fatalf("revocation %+v was not published", want)
		}
	}
}
