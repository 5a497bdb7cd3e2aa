package main

import (
	"encoding/base64"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/rest"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// withFactors serves the whole with second factors, and gives a user of them.
func withFactors(t *testing.T) (*meshed, *identity.People, identity.User) {
	t.Helper()
	m := start(t)
	kept, ok := m.service.Keys.(*store.Store)
	if !ok {
		t.Fatal("the keys are not kept in the store")
	}
	people := &identity.People{
		Users: kept, Sealer: m.service.Sealer, Hasher: m.service.Hasher, Settings: identity.PeopleSettings{PublicURL: "https://mesh.example"},
		Families: m.server, Now: m.clock.now, NewID: uuid.NewV7, Nudge: func() {},
	}
	check(t, secondFactors(people, "demo", slog.New(slog.DiscardHandler), kept))
	app, err := web.New(web.Options{Name: "identity", Logger: slog.New(slog.DiscardHandler), Keyring: m.keys, Public: public})
	check(t, err)
	routes(app, &rest.Server{Identity: m.service, People: people}, m.server)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	go func() { _ = app.Listener(listener) }()
	t.Cleanup(func() { _ = app.Shutdown() })
	m.base = "http://" + listener.Addr().String()
	id, err := uuid.NewV7()
	check(t, err)
	u, err := kept.CreateUser(t.Context(), identity.User{
		ID: id.String(), Environment: "demo", Email: "ada@example.org", PasswordHash: "x", FirstName: "Ada", LastName: "L", CreatedAt: m.clock.now(),
	})
	check(t, err)
	return m, people, u
}

func TestSettingUpAnAppByTheAPI(t *testing.T) {
	t.Parallel()
	m, _, u := withFactors(t)
	by := m.caller(0)
	by.UserID, by.CredentialID, by.ClientID = u.ID, m.family(t, u.ID, m.tenant), publicID
	// Attack: an application that was allowed to read patients makes itself the second factor.
	other := by
	other.ClientID = newID(t)
	expect(t, "another application", m.ask(t, other, http.MethodGet, "/mfa/code", ""), http.StatusForbidden, "own_client_required")
	expect(t, "another application", m.ask(t, other, http.MethodPost, "/mfa/code", `{"code": "123456"}`), http.StatusForbidden, "own_client_required")
	key := by
	key.Kind = principal.APIKey
	for name, r := range map[string]reply{
		"begun by a key":     m.ask(t, key, http.MethodGet, "/mfa/code", ""),
		"confirmed by a key": m.ask(t, key, http.MethodPost, "/mfa/code", `{"code": "123456"}`),
		"by a program":       m.ask(t, self(), http.MethodGet, "/mfa/code", ""),
	} {
		if r.status != http.StatusForbidden || r.text("code") != "user_required" {
			t.Errorf("%s: %d %s", name, r.status, r.raw)
		}
	}
	begun := m.ask(t, by, http.MethodGet, "/mfa/code", "")
	picture, err := base64.StdEncoding.DecodeString(begun.text("qrPng"))
	if begun.status != http.StatusOK || begun.header.Get("Cache-Control") != "no-store" || err != nil || !strings.HasPrefix(string(picture), "\x89PNG") ||
		!strings.HasPrefix(begun.text("otpauthUri"), "otpauth://totp/Patient%20Mesh%20%28demo%29:ada@example.org?") {
		t.Fatalf("%d %.300s, %v", begun.status, begun.raw, err)
	}
	for body, code := range map[string]string{`{}`: "required", `{"code": null}`: "required", `{"code": 1}`: "invalid_type", `{"code": "12"}`: "wrong_code"} {
		r := m.ask(t, by, http.MethodPost, "/mfa/code", body)
		if r.status != http.StatusBadRequest || !strings.Contains(r.raw, `"field":"code","code":"`+code+`"`) {
			t.Errorf("%s: %d %s", body, r.status, r.raw)
		}
	}
	code, err := totp.GenerateCode(begun.text("secret"), m.clock.now())
	check(t, err)
	confirmed := m.ask(t, by, http.MethodPost, "/mfa/code", `{"code": "`+code+`"}`)
	if list, ok := confirmed.body["recoveryCodes"].([]any); confirmed.status != http.StatusOK || !ok || len(list) != 10 || confirmed.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", confirmed.status, confirmed.raw)
	}
	for _, r := range []reply{m.ask(t, by, http.MethodGet, "/mfa/code", ""), m.ask(t, by, http.MethodPost, "/mfa/code", `{"code": "`+code+`"}`)} {
		if r.status != http.StatusConflict || r.text("code") != "already_enrolled" {
			t.Errorf("again: %d %s", r.status, r.raw)
		}
	}
}

func TestChallengesByTheAPI(t *testing.T) {
	t.Parallel()
	m, people, u := withFactors(t)
	c, err := people.NewChallenge(t.Context(), u, identity.Caller{}, nil, identity.Carry{})
	check(t, err)
	get := func(target string) reply {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, m.base+target, nil)
		check(t, err)
		return send(t, request)
	}
	if r := get("/v2/mfa/config?challenge=" + c.ID); r.status != http.StatusOK || r.raw != `{"methods":["email"]}` || r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%d %s", r.status, r.raw)
	}
	for _, target := range []string{"/v2/mfa/config?challenge=x", "/v2/mfa/config?challenge=", "/v2/mfa/config"} {
		if r := get(target); r.status != http.StatusNotFound || r.text("code") != "challenge_not_found" {
			t.Errorf("%s: %d %s", target, r.status, r.raw)
		}
	}
	first := get("/v2/mfa/send-code?challenge=" + c.ID)
	for range 6 { // one past the bound
		if r := get("/v2/mfa/send-code?challenge=" + c.ID); r.status != http.StatusOK || r.raw != first.raw {
			t.Errorf("again: %d %s", r.status, r.raw)
		}
	}
	m.clock.move(10 * time.Minute)
	for _, challenge := range []string{"?challenge=x", "", "?challenge=" + c.ID} {
		if r := get("/v2/mfa/send-code" + challenge); r.status != http.StatusOK || r.raw != first.raw || r.text("message") == "" {
			t.Errorf("%q: %d %s", challenge, r.status, r.raw)
		}
	}
	if r := get("/v2/mfa/config?challenge=" + c.ID); r.status != http.StatusNotFound {
		t.Errorf("ten minutes later: %d %s", r.status, r.raw)
	}
}
