package federation_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
)

func TestPutGetRemove(t *testing.T) {
	t.Parallel()
	r := start(t)
	ctx := administrator(r.tenant)
	first, err := r.Own(ctx)
	check(t, err)
	if first.Issuer != r.provider.issuer || first.ClientID != clientID || strings.Contains(string(first.SecretSealed), clientSecret) {
		t.Errorf("stored: %+v", first)
	}
	// The secret stays for the same client at the same issuer, and for nobody else.
	again, err := r.Put(ctx, draft(r.provider.issuer, clientID, "", "Renamed"), further)
	check(t, err)
	if again.Name != "Renamed" || string(again.SecretSealed) != string(first.SecretSealed) || !again.CreatedAt.Equal(first.CreatedAt) {
		t.Errorf("changed: %+v", again)
	}
	_, err = r.Put(ctx, draft(r.provider.issuer, "another", "", "n"), further)
	wants(t, "another client without its secret", err, fault.Invalid, "invalid_request")
	_, err = r.Put(ctx, draft(newProvider(t).issuer, clientID, "", "n"), further)
	wants(t, "another issuer without a secret", err, fault.Invalid, "invalid_request")

	other := administrator(newID(t))
	_, err = r.Own(other)
	wants(t, "another tenant", err, fault.NotFound, "identity_provider_not_found")
	wants(t, "another tenant's removal", r.Remove(other), fault.NotFound, "identity_provider_not_found")
	check(t, r.Remove(ctx))
	wants(t, "twice", r.Remove(ctx), fault.NotFound, "identity_provider_not_found")
	if p, err := r.Provider(ctx, r.tenant); p != nil || err != nil {
		t.Errorf("still there: %v, %v", p, err)
	}
}

func TestPermission(t *testing.T) {
	t.Parallel()
	r := start(t)
	for _, may := range []principal.Permission{0, principal.All &^ principal.TenantAdmin} {
		ctx := principal.With(context.Background(), principal.Principal{Kind: principal.Session, TenantID: r.tenant, Permissions: may})
		_, err := r.Own(ctx)
		wants(t, "get", err, fault.Denied, "permission_denied")
		_, err = r.Put(ctx, draft(r.provider.issuer, clientID, "s", "n"), further)
		wants(t, "put", err, fault.Denied, "permission_denied")
		wants(t, "delete", r.Remove(ctx), fault.Denied, "permission_denied")
	}
	_, err := r.Own(context.Background())
	wants(t, "nobody", err, fault.Unauthenticated, "unauthenticated")
}

func refusedFor(err error, field, code string) bool {
	f := fault.Of(err)
	return err != nil && f.Kind == fault.Invalid && len(f.Fields) == 1 && f.Fields[0].Field == field && f.Fields[0].Code == code
}

// What is no provider that we can use is refused when it is named, not when somebody wants to sign in.
func TestPutRefuses(t *testing.T) {
	t.Parallel()
	r := start(t)
	ctx := administrator(r.tenant)
	for issuer, code := range map[string]string{
		"": "required", "x": "invalid_uri", "ftp://a.example": "invalid_uri", "https://a.example?x=1": "invalid_uri", "https://a.example#x": "invalid_uri",
		"https://user@a.example": "invalid_uri", "//a.example": "invalid_uri", r.provider.issuer + "/nothing": "unreachable", r.provider.issuer + "/": "issuer_mismatch",
	} {
		if _, err := r.Put(ctx, draft(issuer, clientID, "s", "n"), further); !refusedFor(err, "issuer", code) {
			t.Errorf("%q: %v %+v", issuer, err, fault.Of(err).Fields)
		}
	}
	for name, describe := range map[string]func(map[string]any){
		"no code":               func(d map[string]any) { d["response_types_supported"] = []string{"id_token"} },
		"no secret":             func(d map[string]any) { d["token_endpoint_auth_methods_supported"] = []string{"private_key_jwt"} },
		"symmetric":             func(d map[string]any) { d["id_token_signing_alg_values_supported"] = []string{"HS256", "none"} },
		"no keys":               func(d map[string]any) { delete(d, "jwks_uri") },
		"script for an address": func(d map[string]any) { d["authorization_endpoint"] = "javascript://x/%0aalert(1)" },
	} {
		r.provider.describe = describe
		if _, err := r.Put(ctx, draft(r.provider.issuer, clientID, "s", "n"), further); !refusedFor(err, "issuer", "unsupported_provider") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := r.Put(ctx, identity.ProviderDraft{}, further)
	if f := fault.Of(err); len(f.Fields) != 4 {
		t.Errorf("nothing given: %+v", f.Fields)
	}
}

// SSRF: an issuer, or what its document points at, is no way into the network that we are in; and nothing that was not
// reached can be told from anything else by the answer.
func TestServerSideRequestForgery(t *testing.T) {
	t.Parallel()
	var calls atomic.Int64
	inside, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { _ = inside.Close() })
	go func() {
		for {
			conn, err := inside.Accept()
			if err != nil {
				return
			}
			calls.Add(1)
			_ = conn.Close()
		}
	}()
	r := bare(t, "https://mesh.example")
	ctx := administrator(r.tenant)
	address := inside.Addr().String()
	port := address[strings.LastIndex(address, ":"):]
	for _, issuer := range []string{
		"https://" + address, "https://localhost" + port, "https://[::1]" + port, "https://[::ffff:127.0.0.1]" + port, "https://0.0.0.0" + port,
		"https://169.254.169.254", "https://10.0.0.1", "https://192.168.1.1", "https://[fd00:ec2::254]", "https://100.100.100.200",
	} {
		if _, err := r.Put(ctx, draft(issuer, clientID, "s", "n"), further); !refusedFor(err, "issuer", "unreachable") {
			t.Errorf("%s: %v", issuer, err)
		}
	}
	if _, err := r.Put(ctx, draft("http://127.0.0.1"+port, clientID, "s", "n"), further); !refusedFor(err, "issuer", "invalid_uri") {
		t.Errorf("plain http: %v", err)
	}
	if calls.Load() != 0 {
		t.Errorf("%d calls arrived", calls.Load())
	}
}

// A mesh with real data that is told no address, or reached through a proxy, is no developer's.
func TestInProductionNoProviderIsOnTheLoopback(t *testing.T) {
	t.Parallel()
	r := bare(t, "http://127.0.0.1:8080")
	strict := *r.Service
	strict.Environment = "production"
	_, err := federation.New(strict).Put(administrator(r.tenant), draft(newProvider(t).issuer, clientID, "s", "n"), further)
	if !refusedFor(err, "issuer", "invalid_uri") {
		t.Errorf("%v", err)
	}
}

// Not even on a loopback mesh do a provider's endpoints lead elsewhere inside.
func TestEndpointsInside(t *testing.T) {
	t.Parallel()
	r := start(t)
	ann := r.user("ann@example.org", true)
	r.linked("ann", ann)
	r.provider.describe = func(d map[string]any) { d["token_endpoint"] = "https://169.254.169.254/token" }
	r.name(r.tenant, r.provider)
	_, err := r.signIn("ann")
	wants(t, "token endpoint", err, fault.Unavailable, "unavailable")
	r.provider.describe = func(d map[string]any) { d["jwks_uri"] = "http://10.0.0.1/keys" }
	r.name(r.tenant, r.provider)
	_, err = r.signIn("ann")
	wants(t, "keys", err, fault.Unavailable, "unavailable")
}

// Row-level security: without the tenant, the user or the secret there is nothing to see.
func TestRowsAreHidden(t *testing.T) {
	t.Parallel()
	r := start(t)
	r.linked("ann", r.user("ann@example.org", true))
	r.travel("ann", chrome)
	r.provider.people.add("bob", "bob@example.org", true)
	r.user("bob@example.org", true)
	_, err := r.signIn("bob")
	check(t, err)
	conn, err := pgx.Connect(t.Context(), r.database.URL)
	check(t, err)
	defer conn.Close(t.Context())
	admin, err := pgx.Connect(t.Context(), r.database.AdminURL)
	check(t, err)
	defer admin.Close(t.Context())
	for _, table := range []string{"identity_provider", "federated_identity", "federation_state", "federation_link"} {
		var seen, there int
		check(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&seen))
		check(t, admin.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&there))
		if seen != 0 || there == 0 {
			t.Errorf("%s: %d of %d seen", table, seen, there)
		}
	}
}
