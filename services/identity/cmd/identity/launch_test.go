package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
)

// beginnings counts the families that the authorization server is asked to begin.
type beginnings struct {
	server *oauth.Server
	mu     sync.Mutex
	drafts []identity.FamilyDraft
}

func (b *beginnings) Start(ctx context.Context, d identity.FamilyDraft) (identity.Tokens, error) {
	b.mu.Lock()
	b.drafts = append(b.drafts, d)
	b.mu.Unlock()
	return b.server.Start(ctx, d)
}

const exchangePath = "/v2/public/external-application/auth/oauth2/user/token"

type application struct{ id, secret string }

// application registers one, for a tenant or for all.
func (m *meshed) application(t testing.TB, tenant string) application {
	t.Helper()
	body := map[string]any{"name": "Ward Dashboard", "launchUrl": "https://dashboard.example/"}
	if tenant != "" {
		body["tenantId"] = tenant
	}
	raw, err := json.Marshal(body)
	check(t, err)
	r := m.ask(t, m.caller(principal.ClientManage), http.MethodPost, "/v2/external-application", string(raw))
	if r.status != http.StatusCreated {
		t.Fatalf("register an application: %d %s", r.status, r.raw)
	}
	return application{id: r.text("id"), secret: r.text("sharedSecret")}
}

// member is a signed-in member of the test's tenant.
func (m *meshed) member(may principal.Permission) principal.Principal {
	by := m.caller(may)
	by.UserID = uuid.NewString()
	m.tenants.join(m.tenant, by.UserID, may)
	return by
}

// launch launches the application and opens the payload.
func (m *meshed) launch(t testing.TB, by principal.Principal, a application) launch.Launch {
	t.Helper()
	r := m.ask(t, by, http.MethodPost, "/v2/external-application/"+a.id+"/launch", "")
	if r.status != http.StatusOK || r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("launch: %d %s", r.status, r.raw)
	}
	u, err := url.Parse(r.text("launchUrl"))
	check(t, err)
	if u.Scheme+"://"+u.Host+u.Path != "https://dashboard.example/auth" {
		t.Fatalf("launched at %s", u)
	}
	l, err := launch.Open(u.Query().Get("lpl"), a.secret, "demo", m.clock.now())
	check(t, err)
	return l
}

func (m *meshed) exchange(t testing.TB, signature, code string) reply {
	t.Helper()
	body, err := json.Marshal(map[string]string{"signature": signature, "securityCode": code})
	check(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.base+exchangePath, strings.NewReader(string(body)))
	check(t, err)
	request.Header.Set("Content-Type", "application/json")
	return send(t, request)
}

func TestLaunchAndExchange(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by := m.application(t, ""), m.member(principal.PatientRead|principal.MatchRead)
	l := m.launch(t, by, a)
	if l.UserID != by.UserID || l.TenantID != m.tenant || l.ApplicationID != a.id || l.Environment != "demo" || l.ExpiresAt.Sub(l.IssuedAt) != time.Minute {
		t.Errorf("the payload says %+v", l)
	}
	r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode)
	if r.status != http.StatusOK || r.text("access_token") == "" || r.text("refresh_token") == "" || r.text("token_type") != "Bearer" ||
		r.body["expires_in"] != float64(900) || r.text("tenantId") != m.tenant || r.text("userId") != by.UserID || r.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	want := identity.FamilyDraft{ClientID: "prs-public", UserID: by.UserID, TenantID: m.tenant, Agent: "Ward Dashboard"}
	if len(m.begun.drafts) != 1 {
		t.Fatalf("begun: %+v", m.begun.drafts)
	}
	got := m.begun.drafts[0]
	scope := "patient:read match:read offline_access"
	if strings.Join(got.Scope, " ") != scope || r.text("scope") != scope {
		t.Errorf("scope %v, answered %q", got.Scope, r.text("scope"))
	}
	if got.ClientID != want.ClientID || got.UserID != want.UserID || got.TenantID != want.TenantID || got.Agent != want.Agent || got.SignInID != nil {
		t.Errorf("begun %+v, want %+v", got, want)
	}
}

// Attack: an application that was allowed little launches another to get hold of everything.
func TestALaunchCarriesNoMoreThanTheSessionThatLaunched(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by := m.application(t, ""), m.member(principal.PatientRead|principal.PatientWrite|principal.KeyManage)
	by.Permissions = principal.PatientRead // by the scope of its token
	l := m.launch(t, by, a)
	r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode)
	if p, found := m.resolve(t, r.text("access_token")); !found || p.Permissions != principal.PatientRead || r.text("scope") != "patient:read offline_access" {
		t.Errorf("%d %s: %+v", r.status, r.raw, p)
	}
}

// Attack: whoever had a session launches in the minute before its user sets a new password.
func TestLaunchesUnderWayEndWithThePassword(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by, other := m.application(t, ""), m.member(principal.PatientRead), m.member(principal.PatientRead)
	l, spared := m.launch(t, by, a), m.launch(t, other, a)
	check(t, m.people.SignIns.EndEverything(t.Context(), by.UserID, m.clock.now(), audit.Entry{}))
	if r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.raw)
	}
	if r := m.exchange(t, launch.Sign(a.secret, spared.SecurityCode), spared.SecurityCode); r.status != http.StatusOK {
		t.Errorf("somebody else's launch: %d %s", r.status, r.raw)
	}
}

// What an exchange gives is a session of the user like any other: it opens what the user may do, is refreshed, and ends.
func TestTokensOfALaunchAreTheUsers(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by := m.application(t, ""), m.member(principal.PatientRead|principal.MatchRead)
	l := m.launch(t, by, a)
	r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode)
	p, found := m.resolve(t, r.text("access_token"))
	if !found || p.Kind != principal.Session || p.UserID != by.UserID || p.TenantID != m.tenant || p.ClientID != "prs-public" ||
		p.Permissions != principal.PatientRead|principal.MatchRead {
		t.Errorf("%d %s: principal %+v, %v", r.status, r.raw, p, found)
	}
	fresh := m.post(t, "/auth/oauth2/token", refreshing(r.text("refresh_token")))
	if fresh.status != http.StatusOK || fresh.text("refresh_token") == r.text("refresh_token") {
		t.Errorf("refresh: %d %s", fresh.status, fresh.raw)
	}
	if p, found := m.resolve(t, fresh.text("access_token")); !found || p.UserID != by.UserID {
		t.Errorf("refreshed: principal %+v, %v", p, found)
	}
	m.tenants.join(m.tenant, by.UserID, 0)
	if _, found := m.resolve(t, fresh.text("access_token")); found {
		t.Error("who left the tenant is still let in")
	}
}

// shapeless leaves out of a problem document what names the request itself.
func shapeless(t *testing.T, r reply) string {
	t.Helper()
	delete(r.body, "traceId")
	delete(r.body, "instance")
	raw, err := json.Marshal(r.body)
	check(t, err)
	return r.header.Get("WWW-Authenticate") + string(raw)
}

// Whatever is wrong with a code or its signature, the answer is the same, and no session begins.
func TestEveryRefusedExchangeIsAnsweredAlike(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, other, by := m.application(t, ""), m.application(t, ""), m.member(principal.PatientRead)
	spent, expired, deleted := m.launch(t, by, a), m.launch(t, by, a), m.launch(t, by, other)
	fresh := m.launch(t, by, a)
	left := m.member(principal.PatientRead)
	gone := m.launch(t, left, a)
	m.tenants.join(m.tenant, left.UserID, 0)
	m.tenants.join(m.newTenant(t), left.UserID, principal.PatientRead)
	sign := func(l launch.Launch) string { return launch.Sign(a.secret, l.SecurityCode) }
	if r := m.exchange(t, sign(spent), spent.SecurityCode); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	if r := m.ask(t, m.caller(principal.ClientManage), http.MethodDelete, "/v2/external-application/"+other.id, ""); r.status != http.StatusOK {
		t.Fatalf("%d %s", r.status, r.raw)
	}
	answers := map[string]reply{
		"replayed":                           m.exchange(t, sign(spent), spent.SecurityCode),
		"unknown":                            m.exchange(t, launch.Sign(a.secret, "unknown"), "unknown"),
		"signed as the decoy is":             m.exchange(t, launch.Sign(strings.Repeat("0", 43), "unknown"), "unknown"),
		"another application's signature":    m.exchange(t, launch.Sign(other.secret, fresh.SecurityCode), fresh.SecurityCode),
		"upper case":                         m.exchange(t, strings.ToUpper(sign(fresh)), fresh.SecurityCode),
		"empty":                              m.exchange(t, "", ""),
		"far too long":                       m.exchange(t, strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<16)),
		"of an application that was deleted": m.exchange(t, launch.Sign(other.secret, deleted.SecurityCode), deleted.SecurityCode),
		"of who is no member any more":       m.exchange(t, sign(gone), gone.SecurityCode),
	}
	m.clock.move(time.Minute)
	answers["expired"] = m.exchange(t, sign(expired), expired.SecurityCode)
	want := shapeless(t, answers["unknown"])
	for name, r := range answers {
		if r.status != http.StatusUnauthorized || shapeless(t, r) != want {
			t.Errorf("%s: %d %s, want %s", name, r.status, r.raw, want)
		}
	}
	if len(m.begun.drafts) != 1 {
		t.Errorf("begun: %+v", m.begun.drafts)
	}
}

func TestWhatIsNoExchange(t *testing.T) {
	t.Parallel()
	m := start(t)
	for body, fields := range map[string][]string{
		`{}`: {"signature", "securityCode"}, `{"signature": "a"}`: {"securityCode"}, `{"signature": null, "securityCode": "b"}`: {"signature"},
		`{"signature": 1, "securityCode": ["b"]}`: {"signature", "securityCode"}, `[]`: {"body"}, ``: {"body"}, `{`: {"body"},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.base+exchangePath, strings.NewReader(body))
		check(t, err)
		request.Header.Set("Content-Type", "application/json")
		r := send(t, request)
		if r.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, r.status, r.raw)
		}
		for _, field := range fields {
			if !strings.Contains(r.raw, `"field":"`+field+`"`) {
				t.Errorf("%s: %s lacks %s", body, r.raw, field)
			}
		}
	}
}

func TestFiveWrongSignaturesSpendACode(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by := m.application(t, ""), m.member(principal.PatientRead)
	for wrong, status := range map[int]int{4: http.StatusOK, 5: http.StatusUnauthorized} {
		l := m.launch(t, by, a)
		for range wrong {
			if r := m.exchange(t, launch.Sign("guess", l.SecurityCode), l.SecurityCode); r.status != http.StatusUnauthorized {
				t.Fatalf("%d %s", r.status, r.raw)
			}
		}
		if r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode); r.status != status {
			t.Errorf("after %d wrong signatures: %d %s", wrong, r.status, r.raw)
		}
	}
}

func TestOfParallelExchangesOneWins(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by := m.application(t, ""), m.member(principal.PatientRead)
	l := m.launch(t, by, a)
	signature := launch.Sign(a.secret, l.SecurityCode)
	statuses := make([]int, 24)
	var all sync.WaitGroup
	for i := range statuses {
		all.Go(func() { statuses[i] = m.exchange(t, signature, l.SecurityCode).status })
	}
	all.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	if count[http.StatusOK] != 1 || count[http.StatusUnauthorized] != len(statuses)-1 || len(m.begun.drafts) != 1 {
		t.Errorf("answered %v, begun %d", count, len(m.begun.drafts))
	}
}

func TestWhoMayLaunch(t *testing.T) {
	t.Parallel()
	m := start(t)
	own, everybodys, by := m.application(t, m.tenant), m.application(t, ""), m.caller(0)
	stranger, key, client := by, by, by
	stranger.TenantID = m.newTenant(t)
	key.Kind = principal.APIKey
	client.Kind, client.UserID, client.ClientID = principal.Client, "", "c"
	for name, c := range map[string]struct {
		by     principal.Principal
		id     string
		status int
		code   string
	}{
		"a user":              {by, own.id, 200, ""},
		"a user, for all":     {by, everybodys.id, 200, ""},
		"a stranger, for all": {stranger, everybodys.id, 200, ""},
		"a stranger":          {stranger, own.id, 404, "application_not_found"},
		"no such application": {by, m.tenant, 404, "application_not_found"},
		"no id":               {by, "abc", 404, "application_not_found"},
		"a key":               {key, own.id, 403, "no_user"},
		"a key, no id":        {key, "abc", 403, "no_user"},
		"a client":            {client, own.id, 403, "no_user"},
		"a program":           {self(), own.id, 403, "no_user"},
	} {
		if r := m.ask(t, c.by, http.MethodPost, "/v2/external-application/"+c.id+"/launch", ""); r.status != c.status || r.text("code") != c.code {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	for by, want := range map[*principal.Principal]int{&by: 2, &stranger: 1} {
		list, err := m.launcher.Launchable(principal.With(t.Context(), *by))
		if err != nil || len(list) != want {
			t.Errorf("launchable: %d, %v; want %d", len(list), err, want)
		}
	}
}

func TestApplicationsOfAnotherEnvironmentAreNotThere(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by := m.application(t, ""), m.member(principal.PatientRead)
	l := m.launch(t, by, a)
	m.launcher.Environment = "production" // the same database, by mistake, under the other environment's service
	if r := m.exchange(t, launch.Sign(a.secret, l.SecurityCode), l.SecurityCode); r.status != http.StatusUnauthorized {
		t.Errorf("exchange: %d %s", r.status, r.raw)
	}
	if r := m.ask(t, by, http.MethodPost, "/v2/external-application/"+a.id+"/launch", ""); r.status != http.StatusNotFound {
		t.Errorf("launch: %d %s", r.status, r.raw)
	}
	if r := m.ask(t, m.caller(principal.ClientManage), http.MethodDelete, "/v2/external-application/"+a.id, ""); r.status != http.StatusNotFound {
		t.Errorf("delete: %d %s", r.status, r.raw)
	}
	if list, err := m.launcher.Launchable(principal.With(t.Context(), by)); err != nil || len(list) != 0 {
		t.Errorf("launchable: %d, %v", len(list), err)
	}
}

func TestRegisterListAndDeleteApplications(t *testing.T) {
	t.Parallel()
	m := start(t)
	admin, other := m.caller(principal.ClientManage), m.newTenant(t)
	body := `{"name": "Lab", "launchUrl": "http://127.0.0.1:9090/x/", "tenantId": "` + other + `"}`
	made := m.ask(t, admin, http.MethodPost, "/v2/external-application", body, "Idempotency-Key", "a")
	id, shared := made.text("id"), made.text("sharedSecret")
	if made.status != http.StatusCreated || shared == "" || made.text("tenantId") != other || made.text("launchUrl") != "http://127.0.0.1:9090/x" ||
		made.header.Get("Location") != "/v2/external-application/"+id || made.header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %s", made.status, made.raw)
	}
	if again := m.ask(t, admin, http.MethodPost, "/v2/external-application", body, "Idempotency-Key", "a"); again.status != http.StatusConflict ||
		again.text("code") != "already_created" || again.text("id") != id || strings.Contains(again.raw, shared) {
		t.Errorf("again: %d %s", again.status, again.raw)
	}
	m.application(t, "")
	list := m.ask(t, admin, http.MethodGet, "/v2/external-application?size=1", "")
	if list.status != http.StatusOK || !strings.Contains(list.raw, id) || strings.Contains(list.raw, shared) || !strings.Contains(list.raw, `"totalElements":2`) {
		t.Errorf("list: %d %s", list.status, list.raw)
	}
	target, _, _ := strings.Cut(strings.TrimPrefix(list.header.Get("Link"), "<"), ">")
	if next := m.ask(t, admin, http.MethodGet, target, ""); next.status != http.StatusOK || !strings.Contains(next.raw, `"tenantId":null`) {
		t.Errorf("%s: %d %s", target, next.status, next.raw)
	}
	owner := m.caller(principal.All &^ principal.ClientManage)
	for _, r := range []reply{
		m.ask(t, owner, http.MethodGet, "/v2/external-application?size=0", ""), m.ask(t, owner, http.MethodPost, "/v2/external-application", `{}`),
		m.ask(t, owner, http.MethodDelete, "/v2/external-application/"+id, ""),
	} {
		if r.status != http.StatusForbidden {
			t.Errorf("an owner: %d %s", r.status, r.raw)
		}
	}
	if r := m.ask(t, admin, http.MethodDelete, "/v2/external-application/"+id, ""); r.status != http.StatusOK || r.text("message") == "" {
		t.Errorf("delete: %d %s", r.status, r.raw)
	}
	for _, none := range []string{id, "abc"} {
		if r := m.ask(t, admin, http.MethodDelete, "/v2/external-application/"+none, ""); r.status != http.StatusNotFound {
			t.Errorf("delete %s: %d %s", none, r.status, r.raw)
		}
	}
}

func TestApplicationsThatAreRefused(t *testing.T) {
	t.Parallel()
	m := start(t)
	post := func(body string) reply {
		return m.ask(t, m.caller(principal.ClientManage), http.MethodPost, "/v2/external-application", body)
	}
	for _, address := range []string{
		"", "dashboard.example", "//dashboard.example", "/auth", "javascript:alert(1)", "ftp://a.example", "http://a.example", "http://10.0.0.1",
		"http://127.0.0.1.evil.example", "https://user@a.example", "https://a.example?x=1", "https://a.example?", "https://a.example#x",
		"https://a.example#", "https://", "https://:443", `https://a.example\\evil`, "https:a.example", "https://a.example/" + strings.Repeat("x", 2000),
	} {
		if r := post(`{"name": "n", "launchUrl": "` + address + `"}`); r.status != http.StatusBadRequest || !strings.Contains(r.raw, `"field":"launchUrl"`) {
			t.Errorf("%s: %d %s", address, r.status, r.raw)
		}
	}
	for _, address := range []string{"https://a.example", "https://a.example:8443/app", "http://localhost:9090", "http://127.0.0.1:1", "http://[::1]:9090/"} {
		if r := post(`{"name": "n", "launchUrl": "` + address + `"}`); r.status != http.StatusCreated {
			t.Errorf("%s: %d %s", address, r.status, r.raw)
		}
	}
	r := post(`{"name": 1, "launchUrl": null, "tenantId": "` + strings.Repeat("0", 36) + `"}`)
	for _, field := range []string{"name", "launchUrl", "tenantId"} {
		if r.status != http.StatusBadRequest || !strings.Contains(r.raw, `"field":"`+field+`"`) {
			t.Errorf("%d %s lacks %s", r.status, r.raw, field)
		}
	}
	if r := post(`{"name": "n", "launchUrl": "https://a.example", "tenantId": "01900000-0000-7000-8000-00000000ffff"}`); r.status != http.StatusBadRequest {
		t.Errorf("no tenant: %d %s", r.status, r.raw)
	}
}

// Codes, payloads and shared secrets are looked for in the logs and in the table.
func TestLaunchesAreNeitherLoggedNorKept(t *testing.T) {
	t.Parallel()
	m := start(t)
	a, by := m.application(t, ""), m.member(principal.PatientRead)
	l := m.launch(t, by, a)
	signature := launch.Sign(a.secret, l.SecurityCode)
	m.exchange(t, "wrong", l.SecurityCode)
	m.exchange(t, signature, l.SecurityCode)
	m.exchange(t, signature, l.SecurityCode)
	conn, err := pgx.Connect(t.Context(), m.admin)
	check(t, err)
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `
		SELECT row_to_json(c)::text FROM launch_code c UNION ALL SELECT row_to_json(a)::text FROM external_application a`)
	check(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	m.logged.Lock()
	all := strings.Join(lines, "\n") + m.log.String()
	m.logged.Unlock()
	if len(lines) != 2 || !strings.Contains(all, by.UserID) {
		t.Errorf("the test looks in the wrong place: %s", all)
	}
	for name, text := range map[string]string{"code": l.SecurityCode, "signature": signature, "shared secret": a.secret} {
		if strings.Contains(all, text) || strings.Contains(all, hex.EncodeToString([]byte(text))) {
			t.Errorf("the %s is kept or logged", name)
		}
	}
}
