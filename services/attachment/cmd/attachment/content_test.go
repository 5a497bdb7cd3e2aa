package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

func TestADocumentGetsItsBytes(t *testing.T) {
	t.Parallel()
	w := serveWire(t)
	_, made := w.ask(t, http.MethodPost, "/v2/patient/7/document", `{"filename": "a.txt", "contentType": "text/plain", "payload": [1.0]}`)
	var d struct{ ID, ContentURL string }
	if err := json.Unmarshal([]byte(made), &d); err != nil {
		t.Fatal(err)
	}
	v3 := "/v3/patient/7/attach/" + d.ID
	if resp, body := w.ask(t, http.MethodPatch, v3, `{"size": "5"}`); resp.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	for _, test := range []struct {
		name, method, target, body string
		headers                    []string
		status                     int
		shows                      string
	}{
		{"no assertion", "PUT", d.ContentURL, "hello", []string{principal.AssertionHeader, ""}, 401, "unauthenticated"},
		{"of nobody", "PUT", d.ContentURL, "hello", []string{"Mesh-Patient", "missing"}, 404, "patient_not_found"},
		{"nothing yet", "GET", d.ContentURL, "", nil, 404, "no_content"},
		{"too long", "PUT", d.ContentURL, "hello, you", nil, 413, "content_too_large"},
		{"not as long as declared", "PUT", d.ContentURL, "hell", nil, 400, "size_mismatch"},
		{"its bytes, of whatever type", "PUT", d.ContentURL, "hello", []string{"Content-Type", "text/html"}, 200, `"payload":[1.0]`},
		{"again in the other interface", "PUT", v3 + "/content", "hello", nil, 200, `"size":"5"`},
		{"other bytes", "PUT", v3 + "/content", "HELLO", nil, 409, "content_exists"},
		{"read", "GET", v3 + "/content", "", nil, 200, "hello"},
		{"read by nobody's", "GET", v3 + "/content", "", []string{"Mesh-Patient", "missing"}, 404, "patient_not_found"},
		{"a size that is not theirs", "PATCH", v3, `{"size": "6"}`, nil, 400, "size_mismatch"},
		{"another method", "POST", v3 + "/content", "hello", nil, 405, "method_not_allowed"},
		{"deactivated", "DELETE", v3, "", nil, 200, "message"},
		{"then read", "GET", v3 + "/content", "", nil, 404, "document_not_found"},
	} {
		resp, body := w.ask(t, test.method, test.target, test.body, test.headers...)
		if resp.StatusCode != test.status || !strings.Contains(body, test.shows) {
			t.Errorf("%s: %d %s", test.name, resp.StatusCode, body)
		}
	}
	for _, path := range []string{d.ContentURL, v3 + "/content"} {
		if resp, body := w.ask(t, http.MethodHead, path, ""); resp.StatusCode != http.StatusNotFound || body != "" {
			t.Errorf("HEAD %s: %d %s", path, resp.StatusCode, body)
		}
	}
}
