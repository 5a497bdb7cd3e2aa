package launch_test

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/launch"
)

const shared = "a shared secret"

// platform stands in for the real one: it knows one access and one refresh token at a time.
type platform struct {
	mu        sync.Mutex
	turn      int // of tokens
	refreshes int
	lose      int // so many answers to a refresh
	over      bool
	bodies    []string
	user      string // whom tokens are made out to
	spent     map[string]bool
}

func (p *platform) access() string  { return fmt.Sprintf("access-%d", p.turn) }
func (p *platform) refresh() string { return fmt.Sprintf("refresh-%d", p.turn) }

func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	answer := func(status int, body any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(body)
	}
	tokens := func() map[string]any {
		return map[string]any{
			"access_token": p.access(), "refresh_token": p.refresh(), "token_type": "Bearer", "expires_in": 900,
			"scope": "patient:read offline_access", "tenantId": "tenant", "userId": p.user,
		}
	}
	switch r.URL.Path {
	case "/v2/public/external-application/auth/oauth2/user/token":
		var in struct{ Signature, SecurityCode string }
		_ = json.NewDecoder(r.Body).Decode(&in)
		if p.spent[in.SecurityCode] || in.Signature != launch.Sign(shared, in.SecurityCode) {
			answer(401, nil)
			return
		}
		p.spent[in.SecurityCode] = true
		answer(200, tokens())
	case "/auth/oauth2/token":
		_ = r.ParseForm()
		p.refreshes++
		if p.over || r.Form.Get("grant_type") != "refresh_token" || r.Form.Get("client_id") != "prs-public" || r.Form.Get("refresh_token") != p.refresh() {
			answer(400, map[string]string{"error": "invalid_grant"})
			return
		}
		if p.lose > 0 {
			p.lose--
			panic(http.ErrAbortHandler)
		}
		p.turn++
		answer(200, tokens())
	default:
		if r.Header.Get("Authorization") != "Bearer "+p.access() {
			answer(401, nil)
			return
		}
		body, _ := io.ReadAll(r.Body)
		p.bodies = append(p.bodies, string(body))
		if r.URL.Path == "/elsewhere" {
			http.Redirect(w, r, strings.Replace("http://"+r.Host, "127.0.0.1", "localhost", 1)+"/v2/user/myself", http.StatusFound)
			return
		}
		answer(200, map[string]any{"id": p.user, "email": "ada@demo.example", "activeTenant": map[string]string{"tenantId": "tenant", "name": "Clinic"}})
	}
}

func begin(t *testing.T) (*platform, *launch.Client, launch.Launch, string) {
	t.Helper()
	p := &platform{user: "user", spent: map[string]bool{}}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	c := &launch.Client{Base: server.URL, ApplicationID: "application", Secret: shared, Environment: "demo", HTTP: server.Client()}
	now := time.Now()
	l := launch.Launch{
		SecurityCode: rand.Text(), UserID: "user", TenantID: "tenant", ApplicationID: "application", Environment: "demo",
		IssuedAt: now, ExpiresAt: now.Add(time.Minute),
	}
	payload, err := launch.Seal(l, shared, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return p, c, l, payload
}

func signedIn(t *testing.T) (*platform, *launch.Client, *launch.Session) {
	t.Helper()
	p, c, l, _ := begin(t)
	tokens, err := c.Exchange(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	return p, c, c.Session(tokens)
}

func TestIdentify(t *testing.T) {
	t.Parallel()
	_, c, _, payload := begin(t)
	me, err := c.Identify(t.Context(), payload, time.Now())
	if err != nil || me.ID != "user" || me.Email != "ada@demo.example" || me.ActiveTenant.Name != "Clinic" {
		t.Fatalf("%+v, %v", me, err)
	}
	if _, err := c.Identify(t.Context(), payload, time.Now()); !errors.Is(err, launch.ErrRefused) {
		t.Errorf("the same payload again: %v", err)
	}
	c.ApplicationID = "another"
	if _, err := c.Identify(t.Context(), payload, time.Now()); !errors.Is(err, launch.ErrPayload) {
		t.Errorf("a payload for another application: %v", err)
	}
}

func TestTokensOfSomebodyElseAreRefused(t *testing.T) {
	t.Parallel()
	p, c, l, _ := begin(t)
	p.user = "somebody else"
	if tokens, err := c.Exchange(t.Context(), l); err == nil {
		t.Errorf("took %+v", tokens)
	}
}

func TestOneRefreshFor401(t *testing.T) {
	t.Parallel()
	p, c, s := signedIn(t)
	p.turn++
	tokens := s.Tokens()
	tokens.RefreshToken = p.refresh() // good, unlike the access token
	s = c.Session(tokens)
	var kept []launch.Tokens
	s.Keep(func(fresh launch.Tokens) { kept = append(kept, fresh) })
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.Base+"/v3/patient", strings.NewReader("a body"))
			if err != nil {
				t.Error(err)
				return
			}
			response, err := s.HTTP().Do(request)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Errorf("%v, %v", response, err)
				return
			}
			_ = response.Body.Close()
		})
	}
	all.Wait()
	if p.refreshes != 1 || len(kept) != 1 || kept[0] != s.Tokens() || kept[0].UserID != "user" {
		t.Errorf("%d refreshes, kept %+v", p.refreshes, kept)
	}
	if len(p.bodies) != 20 {
		t.Errorf("%d requests arrived", len(p.bodies))
	}
	for _, body := range p.bodies {
		if body != "a body" {
			t.Errorf("the body became %q", body)
		}
	}
}

func TestARequestIsRepeatedOnce(t *testing.T) {
	t.Parallel()
	var calls, refreshes int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/auth/oauth2/token" {
			refreshes++
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token": "b", "refresh_token": "s", "token_type": "Bearer", "expires_in": 900}`)
			return
		}
		calls++
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	c := &launch.Client{Base: server.URL, Secret: shared, Environment: "demo", HTTP: server.Client()}
	if _, err := c.Myself(t.Context(), c.Session(launch.Tokens{AccessToken: "a", RefreshToken: "r"})); err == nil || calls != 2 || refreshes != 1 {
		t.Errorf("%d calls, %d refreshes, %v", calls, refreshes, err)
	}
}

func TestALostRefreshIsAskedForAgain(t *testing.T) {
	t.Parallel()
	p, c, s := signedIn(t)
	p.lose = 1
	fresh, err := c.Refresh(t.Context(), s.Tokens())
	if err != nil || fresh.AccessToken != "access-1" || fresh.TenantID != "tenant" {
		t.Errorf("%+v, %v", fresh, err)
	}
	p.lose = 2
	if _, err := c.Refresh(t.Context(), fresh); err == nil || errors.Is(err, launch.ErrSignedOut) {
		t.Errorf("a platform that is away: %v", err)
	}
}

func TestASessionThatHasEnded(t *testing.T) {
	t.Parallel()
	p, c, s := signedIn(t)
	p.over, p.turn = true, 7
	if _, err := c.Myself(t.Context(), s); !errors.Is(err, launch.ErrSignedOut) {
		t.Errorf("myself: %v", err)
	}
	if err := c.Logout(t.Context(), s); err != nil {
		t.Errorf("logout: %v", err)
	}
}

func TestTheTokenGoesNowhereElse(t *testing.T) {
	t.Parallel()
	_, c, s := signedIn(t)
	for _, address := range []string{"http://localhost:1/x", "https://evil.example/", c.Base + "/elsewhere"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.HTTP().Do(request); err == nil || !strings.Contains(err.Error(), "for the platform alone") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestTokenSource(t *testing.T) {
	t.Parallel()
	p, _, s := signedIn(t)
	if token, err := s.Token(); err != nil || token.AccessToken != "access-0" || p.refreshes != 0 {
		t.Errorf("%+v, %v after %d refreshes", token, err, p.refreshes)
	}
	tokens := s.Tokens()
	tokens.Expiry = time.Now().Add(-time.Second)
	again := sessionOf(t, p, tokens)
	if token, err := again.Token(); err != nil || token.AccessToken != "access-1" || p.refreshes != 1 {
		t.Errorf("%+v, %v after %d refreshes", token, err, p.refreshes)
	}
}

func sessionOf(t *testing.T, p *platform, tokens launch.Tokens) *launch.Session {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	return (&launch.Client{Base: server.URL, HTTP: server.Client()}).Session(tokens)
}
