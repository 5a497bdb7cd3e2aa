package federation_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

const (
	publicURL = "http://127.0.0.1:1" // nothing listens there: what comes back to us is read off the address
	onward    = "/oauth2/authorize?client_id=x"
	chrome    = "the cookie of one browser"
	firefox   = "the cookie of another browser"
)

// people stands in for identity's people: who is a member of what, and who was let in.
type people struct {
	mu      sync.Mutex
	members map[string][]identity.Membership
	entered []string
}

func (p *people) Memberships(_ context.Context, user string) ([]identity.Membership, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.members[user], nil
}

func (p *people) SignInFederated(_ context.Context, _ identity.Caller, user, tenant string) (identity.Entered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.entered = append(p.entered, user)
	return identity.Entered{Cookie: "cookie", SignIn: identity.SignIn{
		ID: "s", UserID: user, TenantID: &tenant, Methods: []string{identity.ByFederated},
	}}, nil
}

func (p *people) join(user, tenant string, mfa bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members[user] = append(p.members[user], identity.Membership{TenantID: tenant, MFARequired: mfa})
}

func (p *people) leave(user string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.members[user] = nil
}

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

// rig is the verbs on a real database, with one tenant whose provider is a real one.
type rig struct {
	*federation.Service
	t        *testing.T
	kept     *store.Store
	database testkit.Database
	people   *people
	clock    *clock
	tenant   string
	provider *provider
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newID(t *testing.T) string {
	t.Helper()
	id, err := uuid.NewV7()
	check(t, err)
	return id.String()
}

func start(t *testing.T) *rig {
	t.Helper()
	r := bare(t, publicURL)
	r.provider = newProvider(t, r.Callback(r.tenant))
	r.provider.people.add("ann", "Ann@example.org", true)
	r.name(r.tenant, r.provider)
	return r
}

// bare is a rig whose tenant has no provider yet.
func bare(t *testing.T, public string) *rig {
	t.Helper()
	database := testkit.Postgres(t, store.Migrations())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 4})
	check(t, err)
	t.Cleanup(db.Close)
	r := &rig{
		t: t, kept: &store.Store{DB: db, Log: slog.New(slog.DiscardHandler)}, database: database, tenant: newID(t),
		people: &people{members: map[string][]identity.Membership{}}, clock: &clock{at: time.Now()},
	}
	hasher, err := secret.NewHasher(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32)))
	check(t, err)
	sealer, err := seal.New(hasher.Key("seal"), rand.Reader)
	check(t, err)
	r.Service = federation.New(federation.Service{
		Store: r.kept, People: r.people, Hasher: hasher, Sealer: sealer, Environment: "demo", PublicURL: public,
		Now: r.clock.now, Random: rand.Reader, NewID: uuid.NewV7,
	})
	return r
}

func administrator(tenant string) context.Context {
	return principal.With(context.Background(), principal.Principal{
		Kind: principal.Session, TenantID: tenant, UserID: "u", Permissions: principal.TenantAdmin,
	})
}

func draft(issuer, id, secret, name string) identity.ProviderDraft {
	d := identity.ProviderDraft{Issuer: &issuer, ClientID: &id, Name: &name}
	if secret != "" {
		d.ClientSecret = &secret
	}
	return d
}

func further(faults ...fault.Field) error {
	if len(faults) == 0 {
		return nil
	}
	return fault.InvalidFields(faults)
}

// name makes a provider a tenant's.
func (r *rig) name(tenant string, p *provider) {
	r.t.Helper()
	_, err := r.Put(administrator(tenant), draft(p.issuer, clientID, clientSecret, "Example Hospital"), further)
	check(r.t, err)
}

// user makes a user who is a member of the rig's tenant.
func (r *rig) user(email string, verified bool) string {
	r.t.Helper()
	u := identity.User{ID: newID(r.t), Environment: "demo", Email: email, PasswordHash: "x", FirstName: "A", LastName: "B", CreatedAt: r.clock.now()}
	if verified {
		at := r.clock.now()
		u.EmailVerifiedAt = &at
	}
	_, err := r.kept.CreateUser(context.Background(), u)
	check(r.t, err)
	r.people.join(u.ID, r.tenant, false)
	return u.ID
}

// travel goes to the provider and comes back, as somebody in a browser.
func (r *rig) travel(name, browser string) url.Values {
	r.t.Helper()
	to, err := r.Begin(r.t.Context(), r.tenant, onward, browser)
	check(r.t, err)
	back := visit(r.t, to, name)
	if !strings.HasPrefix(back.String(), r.Callback(r.tenant)+"?") {
		r.t.Fatalf("sent back to %s", back)
	}
	return back.Query()
}

func (r *rig) finish(browser string, query url.Values) (federation.Finished, error) {
	return r.Finish(r.t.Context(), identity.Caller{}, browser, r.tenant, query)
}

// signIn is the whole way.
func (r *rig) signIn(name string) (federation.Finished, error) {
	r.t.Helper()
	return r.finish(chrome, r.travel(name, chrome))
}

// proved is a sign-in with a user's own password, now.
func (r *rig) proved(user string) identity.SignIn {
	return identity.SignIn{ID: "p", UserID: user, Methods: []string{identity.ByPassword}, CreatedAt: r.clock.now()}
}

// link is Link, without the way on.
func (r *rig) link(s identity.SignIn, browser, token string) error {
	_, err := r.Link(context.Background(), s, browser, token)
	return err
}

// linked connects somebody at the provider with a user.
func (r *rig) linked(name, user string) {
	r.t.Helper()
	f, err := r.signIn(name)
	check(r.t, err)
	if f.Link == nil {
		r.t.Fatal("entered without proof")
	}
	check(r.t, r.link(r.proved(user), chrome, f.Link.Token))
}

// wants fails unless err is the fault.
func wants(t *testing.T, what string, err error, kind fault.Kind, code string) {
	t.Helper()
	if f := fault.Of(err); err == nil || f.Kind != kind || f.Code != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}
