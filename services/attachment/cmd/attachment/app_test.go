package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
	"github.com/patient-mesh/patient-mesh/services/attachment/rest"
	"github.com/patient-mesh/patient-mesh/services/attachment/store"
)

// wire is the service as its neighbours meet it.
type wire struct {
	app  *web.App
	keys *principal.Keyring
	by   principal.Principal
}

func serveWire(t *testing.T) *wire {
	t.Helper()
	db, err := pg.Open(pg.Config{URL: testkit.Postgres(t, store.Migrations()).URL, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	documents := store.New(db, log)
	service := &attachment.Service{Store: documents, Now: time.Now, NewID: uuid.NewV7}
	server := &rest.Server{Documents: service, Contents: &attachment.Contents{
		Service: service, Store: documents, Blobs: open(t, "file://"+t.TempDir(), blob.Keys{}), Limit: 9,
	}, Sealer: keys}
	app, err := newApp(web.Options{Name: "attachment", Logger: log, Keyring: keys}, server)
	if err != nil {
		t.Fatal(err)
	}
	return &wire{app, keys, principal.Principal{TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "key", Permissions: principal.All}}
}

// ask sends a request as the patient service does, about a patient who is there unless the headers say otherwise.
func (w *wire) ask(t *testing.T, method, target, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("Mesh-Patient", "live")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set(principal.AssertionHeader, w.keys.Sign(principal.Encode(w.by), method, target, time.Now()))
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := w.app.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(raw)
}

func TestAPayloadGoesOutByteForByte(t *testing.T) {
	t.Parallel()
	w := serveWire(t)
	var all []string
	for _, payload := range []string{
		`1.0`, `1e400`, `-0.10E-7`, `12345678901234567890123`, `false`, `""`, `"<a href='&'>"`, `"\u003c\u00e9é\ud83d\ude00😀\/\u2028` + "\u2028" + `"`,
		`{"b": 1.50, "a":2 , "b": {"x":1,"x":null}}`, "[ 1,\n\t2 ]", `{}`, `"` + strings.Repeat(`\u0000`, 1<<20) + `"`,
	} {
		all = append(all, payload)
		resp, made := w.ask(t, http.MethodPost, "/v3/patient/7/attach", `{"payload": `+payload+`}`, "Idempotency-Key", payload[:min(len(payload), 2)]+uuid.NewString())
		if resp.StatusCode != http.StatusOK || !strings.HasSuffix(made, `,"payload":`+payload+`}`) {
			t.Errorf("%.40s: %d %.400s", payload, resp.StatusCode, made)
			continue
		}
		path := resp.Header.Get("Location")
		for _, at := range []string{path, strings.Replace(strings.Replace(path, "/v3/", "/v2/", 1), "/attach/", "/document/", 1)} {
			resp, shown := w.ask(t, http.MethodGet, at, "")
			if resp.StatusCode != http.StatusOK || !strings.HasSuffix(shown, `,"payload":`+payload+`}`) || resp.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%.40s at %s: %d %.400s", payload, at, resp.StatusCode, shown)
			}
		}
	}
	for _, target := range []string{"/v2/patient/7/document", "/v3/patient/7/attach", "/internal/patient/7/document?view=full"} {
		_, list := w.ask(t, http.MethodGet, target, "")
		if !json.Valid([]byte(list)) {
			t.Errorf("%s answers no JSON", target)
		}
		for _, payload := range all {
			if !strings.Contains(list, `,"payload":`+payload+`}`) {
				t.Errorf("%.40s is not in %s", payload, target)
			}
		}
	}
	if _, manifest := w.ask(t, http.MethodGet, "/internal/patient/7/document?view=manifest", ""); strings.Contains(manifest, "payload") {
		t.Error("a manifest shows payloads")
	}
}

func TestARepeatIsTheFirstAnswerByteForByte(t *testing.T) {
	t.Parallel()
	w := serveWire(t)
	for target, status := range map[string]int{"/v2/patient/7/document": http.StatusCreated, "/v3/patient/7/attach": http.StatusOK} {
		const body = `{"title": "<b>", "payload": [1.0, "\u00e9"]}`
		first, made := w.ask(t, http.MethodPost, target, body, "Idempotency-Key", target)
		again, repeated := w.ask(t, http.MethodPost, target, body, "Idempotency-Key", target)
		if first.StatusCode != status || again.StatusCode != status || made != repeated || first.Header.Get("Location") != again.Header.Get("Location") {
			t.Errorf("%d %s, again %d %s", first.StatusCode, made, again.StatusCode, repeated)
		}
		if first.Header.Get("Idempotent-Replayed") != "" || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%v, again %v", first.Header, again.Header)
		}
	}
}

func TestWhoDoesNotSayThatThereIsThePatientAsksAboutNobody(t *testing.T) {
	t.Parallel()
	w := serveWire(t)
	for _, said := range []string{"missing", "", "Live", "live,missing", "true"} {
		resp, body := w.ask(t, http.MethodPost, "/v2/patient/7/document", `{}`, "Mesh-Patient", said)
		if resp.StatusCode != http.StatusNotFound || !strings.Contains(body, `"patient_not_found"`) {
			t.Errorf("%q: %d %s", said, resp.StatusCode, body)
		}
	}
	if resp, body := w.ask(t, http.MethodPost, "/v2/patient/7/document", `{"type": "x"}`, "Mesh-Patient", "missing"); resp.StatusCode != http.StatusBadRequest {
		t.Errorf("a bad request about nobody: %d %s", resp.StatusCode, body)
	}
}

func TestRefusalsAtTheDoor(t *testing.T) {
	t.Parallel()
	w := serveWire(t)
	over := `{"payload": "` + strings.Repeat("a", 1<<20+1) + `"}`
	for name, test := range map[string]struct {
		method, target, body string
		headers              []string
		status               int
		code                 string
	}{
		"no assertion":       {"GET", "/v2/patient/7/document", "", []string{principal.AssertionHeader, ""}, 401, "unauthenticated"},
		"a form":             {"POST", "/v2/patient/7/document", "a=b", []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "unsupported_media_type"},
		"a form of too much": {"POST", "/v2/patient/7/document", over, []string{"Content-Type", "text/plain"}, 415, "unsupported_media_type"},
		"too long a payload": {"POST", "/v3/patient/7/attach", over, nil, 413, "payload_too_large"},
		"too long a patch":   {"PATCH", "/v3/patient/7/attach/x", over, nil, 413, "payload_too_large"},
		"no body":            {"POST", "/v2/patient/7/document", "", nil, 400, "body_required"},
		"another method":     {"PUT", "/v2/patient/7/document", "", nil, 405, ""},
		"no v2 patch":        {"PATCH", "/v2/patient/7/document/" + uuid.NewString(), "{}", nil, 405, ""},
		"a deep body":        {"POST", "/v2/patient/7/document", `{"payload": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, nil, 400, ""},
		"if-match of none":   {"DELETE", "/v3/patient/7/attach/" + uuid.NewString(), "", []string{"If-Match", `"9"`}, 404, "document_not_found"},
	} {
		resp, body := w.ask(t, test.method, test.target, test.body, test.headers...)
		if resp.StatusCode != test.status || test.code != "" && !strings.Contains(body, `"code":"`+test.code+`"`) {
			t.Errorf("%s: %d %s", name, resp.StatusCode, body)
		}
	}
}

func open(t *testing.T, url string, keys blob.Keys) *blob.Store {
	t.Helper()
	s, err := blob.Open(t.Context(), url, keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
