package main

import (
	"encoding/hex"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func TestMintUseAndRevokeAnAPIKey(t *testing.T) {
	t.Parallel()
	m := start(t)
	by := m.caller(principal.KeyManage | principal.PatientRead | principal.DocumentRead | principal.TenantRead)
	made := m.ask(t, by, http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"], "name": "pipeline"}`)
	token := made.text("token")
	if made.status != http.StatusCreated || !strings.HasPrefix(token, made.text("prefix")+"_") || made.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", made.status, made.raw)
	}
	p, found := m.resolve(t, token)
	if !found || p.Kind != principal.APIKey || p.TenantID != m.tenant || p.CredentialID != made.text("id") || p.UserID != by.UserID ||
		p.Permissions != principal.PatientRead|principal.DocumentRead|principal.TenantRead || !p.ExpiresAt.IsZero() {
		t.Errorf("principal %+v, %v", p, found)
	}
	m.service.Uses.Flush(t.Context())
	list := m.ask(t, by, http.MethodGet, "/v2/token", "")
	if list.status != http.StatusOK || strings.Contains(list.raw, token) || strings.Contains(list.raw, `"lastUsedAt":null`) || !strings.Contains(list.raw, "Records Reader") {
		t.Errorf("list: %d %s", list.status, list.raw)
	}

	heard := m.revocations(t)
	stranger := by
	stranger.TenantID = m.newTenant(t)
	for name, r := range map[string]reply{
		"another tenant": m.ask(t, stranger, http.MethodDelete, "/v2/token/"+made.text("id"), ""),
		"no id":          m.ask(t, by, http.MethodDelete, "/v2/token/abc", ""),
	} {
		if r.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	if r := m.ask(t, by, http.MethodDelete, "/v2/token/"+made.text("id"), ""); r.status != http.StatusOK || r.text("message") == "" {
		t.Errorf("revoke: %d %s", r.status, r.raw)
	}
	hear(t, heard, session.Of(token))
	if _, found := m.resolve(t, token); found {
		t.Error("a revoked key is still somebody's")
	}
	if r := m.ask(t, by, http.MethodDelete, "/v2/token/"+made.text("id"), ""); r.status != http.StatusNotFound {
		t.Errorf("revoke again: %d %s", r.status, r.raw)
	}
}

func TestMintRefusals(t *testing.T) {
	t.Parallel()
	m := start(t)
	reader := m.caller(principal.KeyManage | principal.PatientRead | principal.DocumentRead | principal.TenantRead)
	for _, c := range []struct {
		name   string
		by     principal.Principal
		body   string
		status int
		fields []string
	}{
		{"no permission, whatever the body", m.caller(principal.All &^ principal.KeyManage), `{}`, 403, nil},
		{"a role one lacks", reader, `{"acRoleIds": ["` + ownerRole + `"]}`, 403, nil},
		{"a role one lacks among others", reader, `{"acRoleIds": ["` + readerRole + `", "` + adminRole + `"]}`, 403, nil},
		{"no roles", reader, `{}`, 400, []string{"acRoleIds"}},
		{"empty roles", reader, `{"acRoleIds": []}`, 400, []string{"acRoleIds"}},
		{"an unknown role", reader, `{"acRoleIds": ["` + m.tenant + `"]}`, 400, []string{"acRoleIds"}},
		{"everything at once", reader, `{"acRoleIds": "x", "name": 7, "expiresAt": "tomorrow"}`, 400, []string{"acRoleIds", "name", "expiresAt"}},
		{"in the past", reader, `{"acRoleIds": ["` + readerRole + `"], "expiresAt": "2020-01-01T00:00:00Z"}`, 400, []string{"expiresAt"}},
		{"a member twice", reader, `{"acRoleIds": ["` + readerRole + `"], "acRoleIds": []}`, 400, nil},
		{"no object", reader, `[]`, 400, nil},
	} {
		r := m.ask(t, c.by, http.MethodPost, "/v2/token", c.body)
		if r.status != c.status {
			t.Errorf("%s: %d %s", c.name, r.status, r.raw)
		}
		for _, field := range c.fields {
			if !strings.Contains(r.raw, `"field":"`+field+`"`) {
				t.Errorf("%s: %s lacks %s", c.name, r.raw, field)
			}
		}
		if strings.Contains(r.raw, "prs_") {
			t.Errorf("%s: a key was shown", c.name)
		}
	}
}

func TestReplayedMintShowsTheIDAndNoSecret(t *testing.T) {
	t.Parallel()
	m := start(t)
	by, body := m.caller(principal.All), `{"acRoleIds": ["`+readerRole+`"]}`
	first := m.ask(t, by, http.MethodPost, "/v2/token", body, "Idempotency-Key", "a")
	again := m.ask(t, by, http.MethodPost, "/v2/token", body, "Idempotency-Key", "a")
	if first.status != http.StatusCreated || again.status != http.StatusConflict || again.text("code") != "already_created" ||
		again.text("id") != first.text("id") || strings.Contains(again.raw, first.text("token")) {
		t.Errorf("%d %s, then %d %s", first.status, first.raw, again.status, again.raw)
	}
	if r := m.ask(t, by, http.MethodPost, "/v2/token", `{"acRoleIds": ["`+ownerRole+`"]}`, "Idempotency-Key", "a"); r.status != http.StatusUnprocessableEntity {
		t.Errorf("another body: %d %s", r.status, r.raw)
	}
	if r := m.ask(t, by, http.MethodPost, "/v2/token", body, "Idempotency-Key", "é"); r.status != http.StatusBadRequest {
		t.Errorf("a key that is none: %d %s", r.status, r.raw)
	}
	if r := m.ask(t, by, http.MethodGet, "/v2/token", ""); !strings.Contains(r.raw, `"totalElements":1`) {
		t.Errorf("a replay made more: %s", r.raw)
	}
}

func TestKeyExpires(t *testing.T) {
	t.Parallel()
	m := start(t)
	at := m.clock.now().Add(time.Hour).UTC().Format(time.RFC3339)
	made := m.ask(t, m.caller(principal.All), http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"], "expiresAt": "`+at+`"}`)
	if p, found := m.resolve(t, made.text("token")); !found || p.ExpiresAt.IsZero() {
		t.Errorf("principal %+v, %v", p, found)
	}
	m.clock.move(time.Hour)
	if _, found := m.resolve(t, made.text("token")); found {
		t.Error("the key outlived its expiry")
	}
}

func TestAGuessedSecretOpensNothing(t *testing.T) {
	t.Parallel()
	m := start(t)
	one := m.ask(t, m.caller(principal.All), http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"]}`).text("token")
	two := m.ask(t, m.caller(principal.All), http.MethodPost, "/v2/token", `{"acRoleIds": ["`+ownerRole+`"]}`).text("token")
	a, b := strings.Split(one, "_"), strings.Split(two, "_")
	mixed := strings.Join([]string{a[0], a[1], b[2], a[3], a[4]}, "_") // the owner key's id with the reader key's secret
	if _, found := m.resolve(t, mixed); found {
		t.Error("one key's secret opened another")
	}
}

func TestChangesOfTheTenantShowAtTheNextQuestion(t *testing.T) {
	t.Parallel()
	m := start(t)
	made := m.ask(t, m.caller(principal.All), http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"]}`).text("token")
	m.tenants.set(m.tenant, identity.Standing{Plan: "standard", Environment: "demo"})
	if p, found := m.resolve(t, made); !found || p.Plan != "standard" || p.AgreementAccepted {
		t.Errorf("principal %+v, %v", p, found)
	}
	m.tenants.set(m.tenant, identity.Standing{Plan: "standard", Environment: "production"})
	if _, found := m.resolve(t, made); found {
		t.Error("a key of another environment's tenant is good")
	}
}

func TestCredentialsOfAnotherEnvironmentAreRefused(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Owner")
	token := m.token(t, id, secret)
	key := m.ask(t, m.caller(principal.All), http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"]}`).text("token")
	m.service.Environment = "production" // the same database, by mistake, under the other environment's service
	if _, found := m.resolve(t, token); found {
		t.Error("a demo token is good in production")
	}
	if _, found := m.resolve(t, key); found {
		t.Error("a demo key is good in production")
	}
	if c, err := m.service.Authenticate(t.Context(), id, secret); err != nil || c != nil {
		t.Errorf("a demo client is good in production: %v", err)
	}
}

func TestRegisterListAndDeleteClients(t *testing.T) {
	t.Parallel()
	m := start(t)
	admin := m.caller(principal.ClientManage)
	other := m.newTenant(t)
	body := `{"client_name": "Lab", "scope": "patient:read match:read", "tenantId": "` + other + `"}`
	made := m.ask(t, admin, http.MethodPost, "/v2/oauth2/client", body, "Idempotency-Key", "c")
	if made.status != http.StatusCreated || made.text("tenantId") != other || made.text("client_secret") == "" ||
		made.body["client_secret_expires_at"] != float64(0) || made.text("token_endpoint_auth_method") != "client_secret_basic" {
		t.Fatalf("%d %s", made.status, made.raw)
	}
	id, secret := made.text("client_id"), made.text("client_secret")
	if again := m.ask(t, admin, http.MethodPost, "/v2/oauth2/client", body, "Idempotency-Key", "c"); again.status != http.StatusConflict || again.text("id") != id || strings.Contains(again.raw, secret) {
		t.Errorf("again: %d %s", again.status, again.raw)
	}
	token := m.token(t, id, secret)
	if p, found := m.resolve(t, token); !found || p.TenantID != other || p.Permissions != principal.PatientRead|principal.MatchRead {
		t.Errorf("principal %+v, %v", p, found)
	}
	list := m.ask(t, admin, http.MethodGet, "/v2/oauth2/client", "")
	if list.status != http.StatusOK || !strings.Contains(list.raw, id) || strings.Contains(list.raw, secret) {
		t.Errorf("list: %d %s", list.status, list.raw)
	}
	heard := m.revocations(t)
	for _, by := range []principal.Principal{m.caller(principal.All &^ principal.ClientManage)} {
		for _, r := range []reply{
			m.ask(t, by, http.MethodGet, "/v2/oauth2/client", ""), m.ask(t, by, http.MethodPost, "/v2/oauth2/client", body),
			m.ask(t, by, http.MethodDelete, "/v2/oauth2/client/"+id, ""),
		} {
			if r.status != http.StatusForbidden {
				t.Errorf("an owner: %d %s", r.status, r.raw)
			}
		}
	}
	if r := m.ask(t, admin, http.MethodDelete, "/v2/oauth2/client/"+id, ""); r.status != http.StatusOK {
		t.Errorf("delete: %d %s", r.status, r.raw)
	}
	hear(t, heard, session.Revocation{Tenant: other})
	if _, found := m.resolve(t, token); found {
		t.Error("a deleted client's token is good")
	}
	if r := m.post(t, "/oauth2/token", credentialsForm(id, secret)); r.status != http.StatusUnauthorized {
		t.Errorf("a deleted client: %d %s", r.status, r.raw)
	}
	if r := m.ask(t, admin, http.MethodDelete, "/v2/oauth2/client/"+id, ""); r.status != http.StatusNotFound {
		t.Errorf("delete again: %d %s", r.status, r.raw)
	}
}

func TestClientsThatAreRefused(t *testing.T) {
	t.Parallel()
	m := start(t)
	for body, field := range map[string]string{
		`{"scope": "everything"}`:                 "scope",
		`{"scope": 1}`:                            "scope",
		`{"grant_types": ["password"]}`:           "grant_types",
		`{"grant_types": ["authorization_code"]}`: "redirect_uris",
		`{"grant_types": ["authorization_code"], "redirect_uris": ["http://evil.example/"]}`: "redirect_uris",
		`{"grant_types": ["authorization_code"], "redirect_uris": ["https://a.example/#x"]}`: "redirect_uris",
		`{"token_endpoint_auth_method": "none"}`:                                             "grant_types",
		`{"token_endpoint_auth_method": "tls_client_auth"}`:                                  "token_endpoint_auth_method",
		`{"tenantId": "abc"}`: "tenantId",
		`{"tenantId": "01900000-0000-7000-8000-00000000ffff"}`: "tenantId",
		`{"client_name": "` + strings.Repeat("x", 501) + `"}`:  "client_name",
	} {
		if r := m.ask(t, m.caller(principal.ClientManage), http.MethodPost, "/v2/oauth2/client", body); r.status != http.StatusBadRequest || !strings.Contains(r.raw, `"field":"`+field+`"`) {
			t.Errorf("%s: %d %s", body, r.status, r.raw)
		}
	}
}

func TestPagesOfKeys(t *testing.T) {
	t.Parallel()
	m := start(t)
	by := m.caller(principal.All)
	for range 3 {
		if r := m.ask(t, by, http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"]}`); r.status != http.StatusCreated {
			t.Fatalf("%d %s", r.status, r.raw)
		}
	}
	first := m.ask(t, by, http.MethodGet, "/v2/token?size=2", "")
	link := first.header.Get("Link")
	target, _, ok := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	if first.status != http.StatusOK || !ok || !strings.Contains(first.raw, `"totalElements":3`) {
		t.Fatalf("%d %s %q", first.status, first.raw, link)
	}
	second := m.ask(t, by, http.MethodGet, target, "")
	content, _ := second.body["content"].([]any)
	if second.status != http.StatusOK || len(content) != 1 || second.body["page"] != float64(1) || second.header.Get("Link") != "" {
		t.Errorf("%d %s", second.status, second.raw)
	}
	for _, query := range []string{"size=0", "size=501", "page=-1", "page=x", "after=x", "page=0&after=x", "after=eyJhIjoieCIsInAiOjF9"} {
		if r := m.ask(t, by, http.MethodGet, "/v2/token?"+query, ""); r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", query, r.status, r.raw)
		}
	}
}

func TestProvisioning(t *testing.T) {
	t.Parallel()
	m := start(t)
	user := m.ask(t, self(), http.MethodPost, "/internal/user",
		`{"email": "ada@example.org", "password": "correct horse battery", "firstName": "Ada", "lastName": "Marsh", "emailVerified": true}`)
	if user.status != http.StatusCreated || user.body["emailVerified"] != true {
		t.Fatalf("%d %s", user.status, user.raw)
	}
	for body, status := range map[string]int{
		`{"email": "ADA@example.org", "password": "correct horse battery", "firstName": "A", "lastName": "M"}`: 409,
		`{"email": "nobody", "password": "short", "firstName": "", "lastName": null}`:                          400,
	} {
		if r := m.ask(t, self(), http.MethodPost, "/internal/user", body); r.status != status {
			t.Errorf("%s: %d %s", body, r.status, r.raw)
		}
	}
	key := m.ask(t, self(), http.MethodPost, "/internal/key",
		`{"tenantId": "`+m.tenant+`", "userId": "`+user.text("id")+`", "name": "k", "roles": ["owner"]}`)
	if p, found := m.resolve(t, key.text("token")); !found || p.UserID != user.text("id") || p.Permissions != principal.All&^principal.ClientManage {
		t.Errorf("key %d: principal %+v, %v", key.status, p, found)
	}
	application := m.ask(t, self(), http.MethodPost, "/internal/external-application",
		`{"tenantId": "`+m.tenant+`", "name": "App", "launchUrl": "http://127.0.0.1:9090"}`)
	if application.status != http.StatusCreated || application.text("sharedSecret") == "" {
		t.Errorf("%d %s", application.status, application.raw)
	}
	for target, body := range map[string]string{
		"/internal/key":                  `{"tenantId": "` + m.tenant + `", "userId": "x", "name": "k", "roles": ["Emperor"]}`,
		"/internal/client":               `{"tenantId": "x", "name": "k", "roles": [], "grantTypes": ["client_credentials"]}`,
		"/internal/external-application": `{"tenantId": "x", "name": "", "launchUrl": "javascript:alert(1)"}`,
	} {
		if r := m.ask(t, self(), http.MethodPost, target, body); r.status != http.StatusBadRequest {
			t.Errorf("%s %s: %d %s", target, body, r.status, r.raw)
		}
	}
}

// Everything secret that passes through the service is looked for in its logs and in every table.
func TestSecretsAreNeitherLoggedNorKept(t *testing.T) {
	t.Parallel()
	m := start(t)
	id, secret := m.client(t, "Owner")
	token := m.token(t, id, secret)
	key := m.ask(t, m.caller(principal.All), http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"]}`).text("token")
	m.resolve(t, key)
	m.resolve(t, token)
	const password = "a password that is looked for"
	m.ask(t, self(), http.MethodPost, "/internal/user", `{"email": "a@example.org", "password": "`+password+`", "firstName": "A", "lastName": "B"}`)
	shared := m.ask(t, self(), http.MethodPost, "/internal/external-application",
		`{"tenantId": "`+m.tenant+`", "name": "App", "launchUrl": "http://127.0.0.1:9090"}`).text("sharedSecret")
	m.post(t, "/oauth2/token", credentialsForm(id, "wrong-"+secret))
	m.tenants.leave(true)
	if r := m.ask(t, self(), http.MethodPost, "/internal/credential", `{"token": "`+key+`"}`); r.status != http.StatusServiceUnavailable {
		t.Errorf("the tenant service is away: %d %s", r.status, r.raw)
	}
	secrets := map[string]string{
		"client secret": secret, "token": token, "half of the token": strings.Split(token, ".")[0], "key": key,
		"the key's secret": strings.Split(key, "_")[3], "password": password, "shared secret": shared,
	}

	m.logged.Lock()
	logged := m.log.String()
	m.logged.Unlock()
	if logged == "" {
		t.Error("nothing was logged at all: the test looks in the wrong place")
	}
	conn, err := pgx.Connect(t.Context(), m.admin)
	check(t, err)
	defer conn.Close(t.Context())
	var kept strings.Builder
	for _, table := range []string{
		"api_key", "oauth_client", "access_token", "user_account", "external_application", "signing_key", "idempotency_key", "outbox",
	} {
		rows, err := conn.Query(t.Context(), `SELECT row_to_json(r)::text FROM `+table+` r`)
		check(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		check(t, err)
		kept.WriteString(strings.Join(lines, "\n"))
	}
	if !strings.Contains(kept.String(), id) {
		t.Error("not even the client's id was found: the test looks in the wrong place")
	}
	for name, text := range secrets {
		if text == "" || strings.Contains(logged, text) {
			t.Errorf("%s is in the logs", name)
		}
		if strings.Contains(kept.String(), text) || strings.Contains(kept.String(), hex.EncodeToString([]byte(text))) {
			t.Errorf("%s is in the database", name)
		}
	}
}

// A key that a person makes is theirs, whichever application they are signed in at; the shared one is no registered client.
func TestAPersonMintsAKeyAtTheSharedClient(t *testing.T) {
	t.Parallel()
	m := start(t)
	by := m.caller(principal.KeyManage | principal.PatientRead | principal.DocumentRead | principal.TenantRead)
	by.Kind, by.UserID, by.ClientID = principal.Session, newID(t), publicID
	r := m.ask(t, by, http.MethodPost, "/v2/token", `{"acRoleIds": ["`+readerRole+`"]}`)
	if r.status != http.StatusCreated {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if p, found := m.resolve(t, r.text("token")); !found || p.UserID != by.UserID || p.ClientID != "" || p.Kind != principal.APIKey {
		t.Errorf("%+v, %v", p, found)
	}
}
