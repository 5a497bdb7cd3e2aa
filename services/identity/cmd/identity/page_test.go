package main

import (
	"bytes"
	"encoding/base64"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/page"
)

// The pages are what the program serves without an assertion, with cookies and headers as they are.
func TestPagesAreServed(t *testing.T) {
	t.Parallel()
	hasher, err := secret.NewHasher(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 32)))
	check(t, err)
	keyring, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	check(t, err)
	log := slog.New(slog.DiscardHandler)
	app, err := web.New(web.Options{Name: "identity", Logger: log, Keyring: keyring, Public: public})
	check(t, err)
	var people struct{ page.People } // who has no cookie asks nothing of it
	var server struct{ authorizer }
	made, err := newPages(settings{Common: config.Common{Environment: config.Demo}, PublicURL: "https://mesh.example/"}, log,
		&identity.Service{Hasher: hasher}, people, server, nil, nil, nil)
	check(t, err)
	pages(app, made)

	visit := func(method, target string, want int) (*http.Response, string) {
		t.Helper()
		answer, err := app.Test(httptest.NewRequest(method, target, strings.NewReader("")), -1)
		check(t, err)
		defer answer.Body.Close()
		raw, err := io.ReadAll(answer.Body)
		check(t, err)
		if answer.StatusCode != want {
			t.Errorf("%s %s: %d, want %d", method, target, answer.StatusCode, want)
		}
		return answer, string(raw)
	}
	form, body := visit(http.MethodGet, "/sign-in", http.StatusOK)
	if c := form.Cookies(); len(c) != 1 || c[0].Name != "__Host-form" || !c[0].Secure || form.Header.Get("Trace-Id") == "" || form.Header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%v", form.Header)
	}
	asset, _ := visit(http.MethodGet, regexp.MustCompile(`/assets/style\.[0-9a-f]+\.css`).FindString(body), http.StatusOK)
	if asset.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || asset.Header.Get("Content-Type") != "text/css; charset=utf-8" {
		t.Errorf("%v", asset.Header)
	}
	if _, body := visit(http.MethodHead, "/sign-in", http.StatusOK); body != "" {
		t.Errorf("the answer to a HEAD has a body: %s", body)
	}
	visit(http.MethodGet, "/", http.StatusSeeOther)
	visit(http.MethodGet, "/user/public/verify-email/u/i", http.StatusOK)
	visit(http.MethodPost, "/sign-in", http.StatusUnsupportedMediaType)
	visit(http.MethodGet, "/v2/token", http.StatusUnauthorized)
	visit(http.MethodGet, "/sign-in/", http.StatusUnauthorized)
}
