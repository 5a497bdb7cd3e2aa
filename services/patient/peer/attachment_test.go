package peer_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/peer"
)

// documents asks a server that stands in for the attachment service.
func documents(t *testing.T, handler func(w http.ResponseWriter, r *http.Request, by principal.Principal)) *peer.Documents {
	t.Helper()
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		by, err := keys.Verify(r.Header.Get(principal.AssertionHeader), r.Method, r.RequestURI, time.Now())
		if err != nil {
			t.Error(err)
		}
		handler(w, r, by)
	}))
	t.Cleanup(server.Close)
	client, err := mesh.New(mesh.Static{"attachment": {strings.TrimPrefix(server.URL, "http://")}}, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return peer.NewDocuments(client.Caller("attachment", keys, "patient"))
}

func TestDocumentsInEachView(t *testing.T) {
	t.Parallel()
	// The payload is as nobody who decodes and encodes it would leave it.
	const list = `[{"id":"d","payload":{"b": 1.50,"a":12345678901234567890123,"c":"<\u00e9>"}}]`
	after := page.Request{Page: 2, Size: 5, After: "d"}
	tests := []struct {
		view           patient.View
		part           page.Request
		target, answer string
		shown, next    string
		truncated      bool
	}{
		{patient.FullView, page.Request{}, "?view=full", `{"content":` + list + `,"totalElements":9,"truncated":true}`, list, "", true},
		{patient.FullView, page.Request{}, "?view=full", `{"content":[],"totalElements":0,"truncated":false}`, `[]`, "", false},
		{
			patient.PageView,
			page.Request{Page: 2, Size: 5},
			"?view=page&size=5&page=2",
			`{"content":` + list + `,"page":2,"size":5,"totalElements":99,"next":"abc"}`, `{"content":` + list + `,"page":2,"size":5,"totalElements":99}`, "abc", false,
		},
		{patient.PageView, after, "?view=page&size=5&after=" + after.Cursor(), `{"content":[],"page":2,"size":5,"totalElements":9}`, `{"content":[],"page":2,"size":5,"totalElements":9}`, "", false},
		{
			patient.ManifestView,
			page.Request{},
			"?view=manifest", `{"count":501,"items":[{"id":"d"}],"truncated":true}`,
			`{"count":501,"items":[{"id":"d"}]}`, "", true,
		},
	}
	for _, test := range tests {
		d := documents(t, func(w http.ResponseWriter, r *http.Request, by principal.Principal) {
			if want := "/internal/patient/7/document" + test.target; r.RequestURI != want || by.UserID != "u" {
				t.Errorf("%s asked for by %+v, want %s", r.RequestURI, by, want)
			}
			fmt.Fprint(w, test.answer)
		})
		ctx := principal.With(t.Context(), principal.Principal{Kind: principal.Session, TenantID: "t", UserID: "u"})
		got, err := d.Documents(ctx, 7, test.view, test.part)
		if err != nil || string(got.Shown) != test.shown || got.Next != test.next || got.Truncated != test.truncated {
			t.Errorf("%s: %s, %+v, %v", test.target, got.Shown, got, err)
		}
	}
}

// Whatever goes wrong over there, the documents are away: it is not that the caller may not, or that nobody is there.
func TestDocumentsAway(t *testing.T) {
	t.Parallel()
	for status, body := range map[int]string{
		http.StatusOK:                  `{}`,
		http.StatusAccepted:            `{"content":null}`,
		http.StatusCreated:             `{"content":[`,
		http.StatusBadRequest:          `{"code":"invalid_request","detail":"d"}`,
		http.StatusForbidden:           `{"code":"permission_denied","detail":"d"}`,
		http.StatusNotFound:            `{"code":"not_found","detail":"d"}`,
		http.StatusInternalServerError: `{"code":"internal","detail":"d"}`,
		http.StatusServiceUnavailable:  `{"code":"overloaded","detail":"d"}`,
	} {
		d := documents(t, func(w http.ResponseWriter, _ *http.Request, _ principal.Principal) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
		ctx := principal.With(t.Context(), principal.Principal{Kind: principal.Session, TenantID: "t"})
		if got, err := d.Documents(ctx, 7, patient.FullView, page.Request{}); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%d: %s, %v", status, got.Shown, err)
		}
	}
}
