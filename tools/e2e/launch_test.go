package e2e

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/launch"
)

const (
	applications = "/v2/external-application"
	exchange     = "/v2/public/external-application/auth/oauth2/user/token"
)

func TestAdministratorsManageExternalApplications(t *testing.T) {
	c := admin(t)
	body := map[string]any{"name": "Ward Dashboard", "launchUrl": "https://dashboard.example/", "tenantId": world.Demo().Tenants[0].ID}
	once := c.with("Idempotency-Key", "ward dashboard")
	made := once.post(applications, body).is(http.StatusCreated).object()
	id, secret := fmt.Sprint(made["id"]), fmt.Sprint(made["sharedSecret"])
	if made["launchUrl"] != "https://dashboard.example" || made["tenantId"] != world.Demo().Tenants[0].ID {
		t.Errorf("made %v", made)
	}
	if again := once.post(applications, body); again.refused(http.StatusConflict, "already_created").Status == 0 || strings.Contains(string(again.raw), secret) {
		t.Errorf("again: %s", again.raw)
	}
	list := string(c.get(applications + "?size=500").is(ok).raw)
	if !strings.Contains(list, id) || !strings.Contains(list, world.Demo().ExternalApplication.ID) || strings.Contains(list, secret) {
		t.Errorf("list: %s", list)
	}
	c.post(applications, map[string]any{"name": "", "launchUrl": "http://dashboard.example", "tenantId": "x"}).is(bad)
	owner(t).post(applications, body).refused(http.StatusForbidden, "permission_denied")
	owner(t).get(applications).refused(http.StatusForbidden, "permission_denied")
	owner(t).delete(applications+"/"+id).refused(http.StatusForbidden, "permission_denied")
	anyone(t).get(applications).is(unauthorized)
	c.delete(applications + "/" + id).is(ok)
	c.delete(applications+"/"+id).refused(missing, "application_not_found")
}

// Who is no person cannot launch, and whatever is wrong with a code, the answer is the same.
func TestNobodyLaunchesAndNothingIsExchanged(t *testing.T) {
	app := world.Demo().ExternalApplication
	target := applications + "/" + app.ID + "/launch"
	owner(t).post(target, nil).refused(http.StatusForbidden, "no_user")
	admin(t).post(target, nil).refused(http.StatusForbidden, "no_user")
	anyone(t).post(target, nil).is(unauthorized)

	for name, body := range map[string]any{
		"unknown":       map[string]string{"securityCode": "unknown", "signature": launch.Sign(app.SharedSecret, "unknown")},
		"empty":         map[string]string{"securityCode": "", "signature": ""},
		"more than two": map[string]any{"securityCode": "a", "signature": "b", "userId": world.Demo().Tenants[0].User.ID},
	} {
		if p := anyone(t).post(exchange, body).refused(unauthorized, "launch_refused"); p.Detail != "The code does not hold, or not any more." {
			t.Errorf("%s: %+v", name, p)
		}
	}
	for _, body := range []any{map[string]any{}, map[string]any{"securityCode": "a"}, map[string]any{"securityCode": 1, "signature": "b"}, "[]"} {
		anyone(t).post(exchange, body).is(bad)
	}
	anyone(t).with("Content-Type", "application/x-www-form-urlencoded").post(exchange, "signature=a&securityCode=b").is(http.StatusUnsupportedMediaType)
	anyone(t).get(exchange).is(http.StatusMethodNotAllowed)
}

// launcher is the demo application, as an application imports it.
func launcher() *launch.Client {
	app := world.Demo().ExternalApplication
	return &launch.Client{
		Base: world.URL(), ApplicationID: app.ID, Secret: app.SharedSecret, Environment: "demo", PublicClient: world.Demo().PublicClientID,
	}
}

// launched is the payload that the portal sends a session's browser to the demo application with.
func launched(t *testing.T, s session) string {
	t.Helper()
	app := world.Demo().ExternalApplication
	to, err := url.Parse(s.client().post(applications+"/"+app.ID+"/launch", nil).is(ok).object()["launchUrl"].(string))
	if err != nil {
		t.Fatal(err)
	}
	payload := to.Query().Get("lpl")
	if !strings.HasPrefix(to.String(), app.LaunchURL+"/auth?lpl=") || len(to.Query()) != 1 || strings.ContainsAny(payload, "=+/") {
		t.Errorf("launched to %s", to)
	}
	return secretly(payload)
}

// opened is a launch as the application sees it.
func opened(t *testing.T, s session) launch.Launch {
	t.Helper()
	l, err := launcher().Open(launched(t, s), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	secretly(l.SecurityCode)
	return l
}

// Flow A from end to end, by the library that applications import: launch, open, sign, exchange, call, refresh, sign out.
func TestLaunchByTheLibrary(t *testing.T) {
	s, app := signIn(t, newAccount(t)), launcher()
	l := opened(t, s)
	if l.UserID != s.who.id || l.TenantID != s.who.tenant || l.ApplicationID != app.ApplicationID || l.Environment != "demo" {
		t.Errorf("opened %+v", l)
	}
	tokens, err := app.Exchange(t.Context(), l)
	if err != nil {
		t.Fatal(err)
	}
	secretly(tokens.AccessToken)
	secretly(tokens.RefreshToken)
	session := app.Session(tokens)
	me, err := app.Myself(t.Context(), session)
	if err != nil || me.ID != s.who.id || me.ActiveTenant.TenantID != s.who.tenant {
		t.Errorf("myself %+v, %v", me, err)
	}
	at, _ := stored(s.client(), ana())
	as(t, tokens.AccessToken).get(at).is(ok)
	next, err := app.Refresh(t.Context(), tokens)
	if err != nil || next.AccessToken == tokens.AccessToken {
		t.Fatal("refresh:", err)
	}
	secretly(next.AccessToken)
	secretly(next.RefreshToken)
	if err := app.Logout(t.Context(), app.Session(next)); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Second, func() bool { return as(t, next.AccessToken).get(at).status == unauthorized })
	if _, err := app.Refresh(t.Context(), next); !errors.Is(err, launch.ErrSignedOut) {
		t.Errorf("a refresh after it: %v", err)
	}
	s.client().get(at).is(ok) // the portal's session is another
	// Flow C: who it is, and no session.
	if me, err := app.Identify(t.Context(), launched(t, s), time.Now()); err != nil || me.ID != s.who.id {
		t.Errorf("identified %+v, %v", me, err)
	}
}

// Attack: replay of a launch; one-time codes of another application, another environment, changed bytes.
func TestLaunchReplayAndForgery(t *testing.T) {
	s, app := signIn(t, newAccount(t)), launcher()
	payload := launched(t, s)
	l, err := app.Open(payload, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	body := map[string]string{"securityCode": secretly(l.SecurityCode), "signature": launch.Sign(app.Secret, l.SecurityCode)}
	wrong := anyone(t).post(exchange, map[string]string{"securityCode": l.SecurityCode, "signature": launch.Sign("guess", l.SecurityCode)})
	first := anyone(t).post(exchange, body).is(ok).object()
	secretly(first["access_token"].(string))
	replay := anyone(t).post(exchange, body)
	shape := func(a answer) problem {
		p := a.refused(unauthorized, "launch_refused")
		p.TraceID, p.Instance = "", ""
		return p
	}
	if fmt.Sprint(shape(wrong)) != fmt.Sprint(shape(replay)) {
		t.Errorf("wrong %s, replayed %s", wrong.raw, replay.raw)
	}
	raw, err := base64.RawURLEncoding.DecodeString(payload)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, 1, 17, 29, len(raw) - 1} {
		changed := append([]byte(nil), raw...)
		changed[at] ^= 1
		if _, err := app.Open(base64.RawURLEncoding.EncodeToString(changed), time.Now()); !errors.Is(err, launch.ErrPayload) {
			t.Errorf("byte %d changed: %v", at, err)
		}
	}
	production := launcher()
	production.Environment = "production"
	if _, err := production.Open(payload, time.Now()); !errors.Is(err, launch.ErrPayload) {
		t.Errorf("in another environment: %v", err)
	}
	if _, err := app.Open(payload, time.Now().Add(2*time.Minute)); !errors.Is(err, launch.ErrExpired) {
		t.Errorf("two minutes later: %v", err)
	}
}

func TestFiveWrongSignaturesSpendACode(t *testing.T) {
	s, app := signIn(t, newAccount(t)), launcher()
	for wrong, want := range map[int]error{4: nil, 5: launch.ErrRefused} {
		l := opened(t, s)
		guessing := launcher()
		guessing.Secret = "guess"
		for range wrong {
			if _, err := guessing.Exchange(t.Context(), l); !errors.Is(err, launch.ErrRefused) {
				t.Fatal(err)
			}
		}
		if tokens, err := app.Exchange(t.Context(), l); !errors.Is(err, want) {
			t.Errorf("after %d wrong signatures: %v", wrong, err)
		} else {
			secretly(tokens.AccessToken)
		}
	}
}

func TestOfParallelExchangesOneWins(t *testing.T) {
	app := launcher()
	l := opened(t, signIn(t, newAccount(t)))
	won := 0
	for _, err := range together(16, func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		_, err := app.Exchange(ctx, l)
		return err
	}) {
		if err == nil {
			won++
		} else if !errors.Is(err, launch.ErrRefused) {
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d of 16 exchanged one code", won)
	}
}

// Attack: an open redirect by launch. An application of another tenant is not there, and who launches says nothing of where.
func TestLaunchLeadsNowhereElse(t *testing.T) {
	s := signIn(t, newAccount(t))
	made := admin(t).post(applications, map[string]any{
		"name": "Theirs", "launchUrl": "https://theirs.example", "tenantId": world.Demo().Tenants[0].ID,
	}).is(http.StatusCreated).object()
	s.client().post(applications+"/"+fmt.Sprint(made["id"])+"/launch", nil).is(missing)
	app := world.Demo().ExternalApplication
	got := s.client().post(applications+"/"+app.ID+"/launch?launchUrl=https://evil.example", map[string]any{"launchUrl": "https://evil.example"}).object()
	if to, there := got["launchUrl"].(string); there && !strings.HasPrefix(to, app.LaunchURL+"/auth?lpl=") {
		t.Errorf("launched to %s", to)
	}
	admin(t).delete(applications + "/" + fmt.Sprint(made["id"])).is(ok)
}
