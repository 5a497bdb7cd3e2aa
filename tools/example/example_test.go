package example_test

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/tools/example"
)

const shared = "a shared secret"

// platform stands in for the gateway. A token is the name of its user and, after a dot, its number.
type platform struct {
	mu        sync.Mutex
	codes     map[string]string // users by code
	dead      map[string]bool   // access tokens
	loggedOut []string
	refreshes int
	forbidden bool
}

func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	user, _, _ := strings.Cut(token, ".")
	switch path := r.URL.Path; {
	case strings.HasPrefix(path, "/v2/public/"):
		var in struct{ Signature, SecurityCode string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		user, ok := p.codes[in.SecurityCode]
		delete(p.codes, in.SecurityCode)
		if !ok || !launch.Signed(shared, in.SecurityCode, in.Signature) {
			answer(401, nil)
			return
		}
		answer(200, map[string]any{"access_token": user + ".1", "refresh_token": user, "expires_in": 900, "tenantId": "tenant", "userId": user})
	case path == "/auth/oauth2/token":
		p.refreshes++
		answer(200, map[string]any{"access_token": r.FormValue("refresh_token") + ".2", "refresh_token": r.FormValue("refresh_token"), "token_type": "Bearer", "expires_in": 900})
	case user == "" || p.dead[token]:
		answer(401, nil)
	case path == "/auth/user/logout":
		p.loggedOut = append(p.loggedOut, user)
		answer(200, map[string]string{"message": "done"})
	case path == "/v2/user/myself":
		answer(200, map[string]any{"id": user, "email": user + "@demo.example", "firstName": user, "lastName": "Marsh", "activeTenant": map[string]string{"name": "Harbour"}})
	case p.forbidden:
		answer(403, nil)
	default:
		answer(200, map[string]any{"content": []map[string]any{{"id": 7, "firstName": "<b>Grace</b>", "lastName": "Hopper", "dob": "1906-12-09"}}, "totalElements": 1})
	}
}

type world struct {
	*platform
	t    *testing.T
	base string
}

func start(t *testing.T) *world {
	t.Helper()
	p := &platform{codes: map[string]string{}, dead: map[string]bool{}}
	gateway := httptest.NewServer(p)
	t.Cleanup(gateway.Close)
	client := &launch.Client{Base: gateway.URL, ApplicationID: "application", Secret: shared, Environment: "demo"}
	app, err := example.New(client, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(app.Handler())
	t.Cleanup(server.Close)
	return &world{platform: p, t: t, base: server.URL}
}

// launched is the address that a user's launch sends a browser to.
func (w *world) launched(user string) string {
	w.t.Helper()
	code, now := rand.Text(), time.Now()
	w.mu.Lock()
	w.codes[code] = user
	w.mu.Unlock()
	payload, err := launch.Seal(launch.Launch{
		SecurityCode: code, UserID: user, TenantID: "tenant", ApplicationID: "application", Environment: "demo", IssuedAt: now, ExpiresAt: now.Add(time.Minute),
	}, shared, rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	return w.base + "/auth?lpl=" + payload
}

// browser keeps cookies and follows redirects.
func browser(t *testing.T) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar}
}

type page struct {
	status int
	path   string
	text   string
}

func read(t *testing.T, response *http.Response, err error) page {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.Header.Get("Referrer-Policy") != "no-referrer" || response.Header.Get("Cache-Control") != "no-store" || response.Header.Get("Content-Security-Policy") == "" {
		t.Errorf("headers %v", response.Header)
	}
	return page{response.StatusCode, response.Request.URL.RequestURI(), string(raw)}
}

func get(t *testing.T, b *http.Client, address string) page {
	t.Helper()
	response, err := b.Get(address)
	return read(t, response, err)
}

func (p page) token() string {
	found := regexp.MustCompile(`name="token" value="([^"]+)"`).FindStringSubmatch(p.text)
	if found == nil {
		return ""
	}
	return found[1]
}

func post(t *testing.T, b *http.Client, address string, form url.Values) page {
	t.Helper()
	response, err := b.PostForm(address, form)
	return read(t, response, err)
}

func TestLaunchListAndLogout(t *testing.T) {
	t.Parallel()
	w, b := start(t), browser(t)
	if p := get(t, b, w.base); p.status != 200 || !strings.Contains(p.text, "Nobody is signed in") {
		t.Fatalf("%+v", p)
	}
	p := get(t, b, w.launched("ada"))
	if p.status != 200 || p.path != "/" || !strings.Contains(p.text, "ada@demo.example") || !strings.Contains(p.text, "&lt;b&gt;Grace&lt;/b&gt; Hopper") {
		t.Fatalf("%+v", p)
	}
	w.mu.Lock()
	w.dead["ada.1"] = true // expired
	w.mu.Unlock()
	if p = get(t, b, w.base); p.status != 200 || !strings.Contains(p.text, "Hopper") || w.refreshes != 1 {
		t.Fatalf("after %d refreshes: %+v", w.refreshes, p)
	}
	if forged := post(t, b, w.base+"/logout", url.Values{"token": {"guess"}}); forged.status != http.StatusForbidden || len(w.loggedOut) != 0 {
		t.Errorf("forged: %+v, %v", forged, w.loggedOut)
	}
	if p = post(t, b, w.base+"/logout", url.Values{"token": {p.token()}}); !strings.Contains(p.text, "Nobody is signed in") || len(w.loggedOut) != 1 {
		t.Errorf("%+v, %v", p, w.loggedOut)
	}
}

func TestALaunchThatDoesNotHold(t *testing.T) {
	t.Parallel()
	w, b := start(t), browser(t)
	used := w.launched("ada")
	get(t, browser(t), used)
	for name, address := range map[string]string{"used": used, "garbage": w.base + "/auth?lpl=x", "none": w.base + "/auth"} {
		if p := get(t, b, address); p.status != http.StatusBadRequest || !strings.Contains(p.text, "Launch the application again") {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p := get(t, b, w.base); !strings.Contains(p.text, "Nobody is signed in") {
		t.Errorf("%+v", p)
	}
}

// Login CSRF: somebody else's launch, opened in a browser that is signed in, changes nothing until its user says so in
// a form that was shown to that browser.
func TestAnotherUsersLaunchTakesNoPlaceUnasked(t *testing.T) {
	t.Parallel()
	w, b := start(t), browser(t)
	get(t, b, w.launched("ada"))
	asked := get(t, b, w.launched("eve"))
	if asked.path != "/continue" || !strings.Contains(asked.text, "Continue as eve Marsh") || !strings.Contains(asked.text, "ada@demo.example") {
		t.Fatalf("%+v", asked)
	}
	still := func() {
		t.Helper()
		if p := get(t, b, w.base); !strings.Contains(p.text, "ada@demo.example") {
			t.Fatalf("ada is not signed in any more: %+v", p)
		}
	}
	still()
	eves := browser(t)
	get(t, eves, w.launched("bob"))
	hers := get(t, eves, w.launched("eve"))
	for name, token := range map[string]string{"none": "", "a guess": "guess", "from another browser": hers.token()} {
		if p := post(t, b, w.base+"/continue", url.Values{"token": {token}, "decision": {"continue"}}); p.status != http.StatusForbidden {
			t.Errorf("token %s: %+v", name, p)
		}
		still()
	}
	post(t, b, w.base+"/continue", url.Values{"token": {asked.token()}, "decision": {"stay"}})
	still()
	if len(w.loggedOut) != 1 || w.loggedOut[0] != "eve" {
		t.Errorf("signed out: %v", w.loggedOut)
	}
	asked = get(t, b, w.launched("eve"))
	if p := post(t, b, w.base+"/continue", url.Values{"token": {asked.token()}, "decision": {"continue"}}); !strings.Contains(p.text, "eve@demo.example") {
		t.Errorf("%+v", p)
	}
	if w.loggedOut[len(w.loggedOut)-1] != "ada" {
		t.Errorf("signed out: %v", w.loggedOut)
	}
	if p := post(t, b, w.base+"/continue", url.Values{"token": {asked.token()}, "decision": {"continue"}}); p.status != http.StatusForbidden {
		t.Errorf("the form again: %+v", p)
	}
}

func TestAFreshLaunchOfTheSameUserGivesANewCookie(t *testing.T) {
	t.Parallel()
	w, b := start(t), browser(t)
	at, err := url.Parse(w.base)
	if err != nil {
		t.Fatal(err)
	}
	get(t, b, w.launched("ada"))
	before := b.Jar.Cookies(at)[0].Value
	if p := get(t, b, w.launched("ada")); p.path != "/" {
		t.Errorf("%+v", p)
	}
	if after := b.Jar.Cookies(at)[0].Value; after == before || len(w.loggedOut) != 1 {
		t.Errorf("the cookie stayed, or signed out: %v", w.loggedOut)
	}
	thief := browser(t)
	thief.Jar.SetCookies(at, []*http.Cookie{{Name: "example_session", Value: before, Path: "/"}})
	if p := get(t, thief, w.base); !strings.Contains(p.text, "Nobody is signed in") {
		t.Errorf("the old cookie is good: %+v", p)
	}
}

func TestWhoMayNotReadPatients(t *testing.T) {
	t.Parallel()
	w, b := start(t), browser(t)
	w.forbidden = true
	if p := get(t, b, w.launched("ada")); p.status != 200 || !strings.Contains(p.text, "may not read") {
		t.Errorf("%+v", p)
	}
}
