package federation_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// The first time the account is proved as before; from then on the provider is enough, for this tenant.
func TestFirstSignInAndNext(t *testing.T) {
	t.Parallel()
	r := start(t)
	ann := r.user("ann@example.org", true)

	f, err := r.signIn("ann")
	check(t, err)
	if f.Link == nil || f.Entered.Cookie != "" || f.Continue != onward || f.Link.Invited || f.Link.Email != "Ann@example.org" || f.Link.Provider != "Example Hospital" {
		t.Fatalf("first sign-in: %+v", f)
	}
	if len(r.people.entered) != 0 {
		t.Fatal("entered without proof")
	}
	waiting, err := r.Waiting(t.Context(), chrome, f.Link.Token)
	check(t, err)
	if waiting != *f.Link {
		t.Errorf("waiting: %+v, not %+v", waiting, *f.Link)
	}
	_, err = r.Waiting(t.Context(), firefox, f.Link.Token)
	wants(t, "in another browser", err, fault.Invalid, "sign_in_expired")
	onwards, err := r.Link(t.Context(), r.proved(ann), chrome, f.Link.Token)
	check(t, err)
	if onwards != onward {
		t.Errorf("on to %q", onwards)
	}
	wants(t, "the token again", r.link(r.proved(ann), chrome, f.Link.Token), fault.Invalid, "sign_in_expired")

	f, err = r.signIn("ann")
	check(t, err)
	if f.Link != nil || f.Continue != onward || f.Entered.SignIn.UserID != ann || !f.Entered.SignIn.Admits(r.tenant) || f.Entered.SignIn.Admits(newID(t)) {
		t.Fatalf("second sign-in: %+v", f)
	}

	r.people.leave(ann)
	_, err = r.signIn("ann")
	wants(t, "a member no more", err, fault.Denied, "not_invited")
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.people.leave(r.user("outside@example.org", true)) // has an account, and is no member
	r.user("pending@example.org", false)
	r.user("unsure@example.org", true)
	r.provider.people.add("stranger", "stranger@example.org", true)
	r.provider.people.add("outside", "outside@example.org", true)
	r.provider.people.add("pending", "pending@example.org", true)
	r.provider.people.add("unsure", "unsure@example.org", false)
	r.provider.people.add("nameless", "", true)

	for _, name := range []string{"stranger", "outside", "pending"} {
		_, err := r.signIn(name)
		wants(t, name, err, fault.Denied, "not_invited")
	}
	for _, name := range []string{"unsure", "nameless"} {
		_, err := r.signIn(name)
		wants(t, name, err, fault.Denied, "email_unverified")
	}

	r.Invited = func(ctx context.Context, tenant, email string) (bool, error) {
		return r.kept.Invited(ctx, tenant, email, r.clock.now())
	}
	invite := func(tenant, email string, until time.Time) {
		_, err := r.kept.Invite(t.Context(), identity.Invitation{
			ID: newID(t), TenantID: tenant, Email: email, RoleIDs: []string{newID(t)}, Environment: "demo", Hash: []byte(tenant + email),
			CreatedAt: r.clock.now(), ExpiresAt: until,
		}, identity.Letter{}, idempotency.Key{}, nil, audit.Entry{})
		check(t, err)
	}
	invite(newID(t), "outside@example.org", r.clock.now().Add(time.Hour)) // by somebody else
	invite(r.tenant, "pending@example.org", r.clock.now())                // expired
	for _, name := range []string{"stranger", "outside", "pending"} {
		_, err := r.signIn(name)
		wants(t, name, err, fault.Denied, "not_invited")
	}
	invite(r.tenant, "Stranger@example.org", r.clock.now().Add(time.Hour))
	f, err := r.signIn("stranger")
	check(t, err)
	if f.Link == nil || !f.Link.Invited {
		t.Fatalf("invited: %+v", f)
	}
	_, err = r.signIn("outside")
	wants(t, "not invited", err, fault.Denied, "not_invited")
	// They take the invitation, which makes them a user and a member, and are linked.
	check(t, r.link(r.proved(r.user("stranger@example.org", true)), chrome, f.Link.Token))
	f, err = r.signIn("stranger")
	check(t, err)
	if f.Link != nil {
		t.Error("not linked")
	}
}

// Who is to be linked proves that they are who the provider says, here and now.
func TestLinkNeedsProof(t *testing.T) {
	t.Parallel()
	r := start(t)
	ann, eve := r.user("ann@example.org", true), r.user("eve@example.org", true)
	before := r.proved(ann)
	r.clock.move(time.Second)
	f, err := r.signIn("ann")
	check(t, err)
	token := f.Link.Token

	wants(t, "another browser", r.link(r.proved(ann), firefox, token), fault.Invalid, "sign_in_expired")
	wants(t, "no browser", r.link(r.proved(ann), "", token), fault.Invalid, "sign_in_expired")
	wants(t, "another token", r.link(r.proved(ann), chrome, token+"x"), fault.Invalid, "sign_in_expired")
	wants(t, "another account", r.link(r.proved(eve), chrome, token), fault.Denied, "other_account")
	wants(t, "a sign-in of before", r.link(before, chrome, token), fault.Denied, "proof_required")
	federated := r.proved(ann)
	federated.Methods = []string{identity.ByPassword, identity.ByFederated}
	wants(t, "another provider's word", r.link(federated, chrome, token), fault.Denied, "proof_required")

	r.people.leave(ann)
	wants(t, "no member", r.link(r.proved(ann), chrome, token), fault.Denied, "not_invited")
	r.people.join(ann, r.tenant, true)
	wants(t, "password alone", r.link(r.proved(ann), chrome, token), fault.Denied, "mfa_required")

	strong := r.proved(ann)
	strong.Methods = append(strong.Methods, identity.ByOneTime)
	check(t, r.link(strong, chrome, token))
	if f, err = r.signIn("ann"); err != nil || f.Link != nil {
		t.Errorf("linked: %+v, %v", f, err)
	}
}

func TestLinkExpires(t *testing.T) {
	t.Parallel()
	r := start(t)
	ann := r.user("ann@example.org", true)
	f, err := r.signIn("ann")
	check(t, err)
	r.clock.move(31 * time.Minute)
	wants(t, "late", r.link(r.proved(ann), chrome, f.Link.Token), fault.Invalid, "sign_in_expired")
}

// Of many at once one makes the link.
func TestLinkOnce(t *testing.T) {
	t.Parallel()
	r := start(t)
	ann := r.user("ann@example.org", true)
	f, err := r.signIn("ann")
	check(t, err)
	results := make(chan error, 8)
	for range cap(results) {
		go func() { results <- r.link(r.proved(ann), chrome, f.Link.Token) }()
	}
	made := 0
	for range cap(results) {
		if <-results == nil {
			made++
		}
	}
	if made != 1 {
		t.Errorf("%d links", made)
	}
}

func TestBegin(t *testing.T) {
	t.Parallel()
	r := start(t)
	to, err := r.Begin(t.Context(), r.tenant, onward, chrome)
	check(t, err)
	u, err := url.Parse(to)
	check(t, err)
	q := u.Query()
	for name, want := range map[string]string{
		"client_id": clientID, "response_type": "code", "code_challenge_method": "S256", "redirect_uri": r.Callback(r.tenant), "scope": "openid email profile",
	} {
		if q.Get(name) != want {
			t.Errorf("%s is %q", name, q.Get(name))
		}
	}
	for _, name := range []string{"state", "nonce", "code_challenge"} {
		if len(q.Get(name)) != 43 {
			t.Errorf("%s is %q", name, q.Get(name))
		}
	}
	for _, path := range []string{"", "https://evil.example", "//evil.example", `/\evil.example`, "/a\nb", "evil", "/" + strings.Repeat("x", 9000)} {
		_, err := r.Begin(t.Context(), r.tenant, path, chrome)
		wants(t, path, err, fault.Invalid, "invalid_request")
	}
	_, err = r.Begin(t.Context(), r.tenant, onward, "")
	wants(t, "no browser", err, fault.Invalid, "invalid_request")
	for _, tenant := range []string{newID(t), "", "x", "' OR true"} {
		_, err := r.Begin(t.Context(), tenant, onward, chrome)
		wants(t, tenant, err, fault.NotFound, "identity_provider_not_found")
	}
}

// The provider's metadata and keys are asked for once, and for a new key again.
func TestKeysRotate(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	for range 3 {
		_, err := r.signIn("ann")
		check(t, err)
	}
	if n := r.provider.calls("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("described %d times", n)
	}
	if n := r.provider.calls("/keys"); n != 1 {
		t.Errorf("keys asked for %d times", n)
	}
	r.provider.rotate(t)
	_, err := r.signIn("ann")
	check(t, err)
	if n := r.provider.calls("/keys"); n != 2 {
		t.Errorf("after a rotation keys were asked for %d times", n)
	}
	r.clock.move(61 * time.Minute) // what was withdrawn is forgotten
	r.provider.bend = func(c map[string]any) {
		at := r.clock.now().Unix()
		c["iat"], c["exp"] = at, at+300
	}
	_, err = r.signIn("ann")
	check(t, err)
	if n := r.provider.calls("/.well-known/openid-configuration"); n != 2 {
		t.Errorf("an hour later: described %d times", n)
	}
}

// Whatever part of a provider is away, the answer is to come again.
func TestProviderAway(t *testing.T) {
	t.Parallel()
	for _, part := range []string{"/oauth/token", "/keys", "/userinfo"} {
		r := start(t)
		r.user("ann@example.org", true)
		query := r.travel("ann", chrome)
		r.provider.gone = part
		_, err := r.finish(chrome, query)
		wants(t, part, err, fault.Unavailable, "unavailable")
	}
	r := start(t)
	r.provider.gone = "*"
	r.clock.move(2 * time.Hour)
	_, err := r.Begin(t.Context(), r.tenant, onward, chrome)
	wants(t, "all of it", err, fault.Unavailable, "unavailable")
}

// What is kept of a sign-in that is under way opens nothing, and goes.
func TestNothingInClear(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.user("ann@example.org", true)
	to, err := r.Begin(t.Context(), r.tenant, onward, chrome)
	check(t, err)
	u, err := url.Parse(to)
	check(t, err)
	f, err := r.signIn("ann")
	check(t, err)
	conn, err := pgx.Connect(t.Context(), r.database.AdminURL)
	check(t, err)
	defer conn.Close(t.Context())
	var all string
	check(t, conn.QueryRow(t.Context(), `SELECT concat((SELECT json_agg(s) FROM federation_state s), (SELECT json_agg(l) FROM federation_link l), (SELECT json_agg(p) FROM identity_provider p))`).Scan(&all))
	for _, secret := range []string{u.Query().Get("state"), u.Query().Get("nonce"), f.Link.Token, chrome, "nn@example.org", clientSecret, "oauth2/authorize"} {
		if strings.Contains(all, secret) {
			t.Errorf("%q is there to read", secret)
		}
	}
	_, err = conn.Exec(t.Context(), `UPDATE federation_state SET expires_at = now() - interval '1 s'`)
	check(t, err)
	_, err = conn.Exec(t.Context(), `UPDATE federation_link SET expires_at = now() - interval '1 s'`)
	check(t, err)
	_, err = r.kept.SweepOnce(t.Context())
	check(t, err)
	var left int
	check(t, conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM federation_state) + (SELECT count(*) FROM federation_link)`).Scan(&left))
	if left != 0 {
		t.Errorf("%d rows were left", left)
	}
}

// A provider that takes the secret in the body alone, and puts the address into the ID token, is served as well.
func TestSecretInBody(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.provider.describe = func(d map[string]any) { d["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} }
	r.provider.bend = func(c map[string]any) { c["email"], c["email_verified"] = "ann@example.org", "true" }
	r.name(r.tenant, r.provider)
	r.linked("ann", r.user("ann@example.org", true))
	if n := r.provider.calls("/userinfo"); n != 0 {
		t.Errorf("user info was asked for %d times", n)
	}
	if _, err := r.signIn("ann"); err != nil {
		t.Error(err)
	}
}
