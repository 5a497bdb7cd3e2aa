package peer_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity/peer"
)

func TestAgreements(t *testing.T) {
	t.Parallel()
	agreements := peer.NewAgreements(caller(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.Method + " " + r.URL.Path {
		case "GET /v2/agreement/current":
			_, _ = w.Write([]byte(`{"id": "a", "version": 3, "title": "Agreement", "text": "Text"}`))
		case "GET /v2/agreement/status":
			_, _ = w.Write([]byte(`{"agreementId": "a", "version": 3, "accepted": true, "acceptedAt": "2030-01-02T03:04:05.000Z"}`))
		case "POST /v2/agreement/accept":
			var sent map[string]string
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil || sent["agreementId"] != "a" {
				t.Errorf("%v %v", sent, err)
			}
			_, _ = w.Write([]byte(`{}`))
		default:
			t.Errorf("%s %s", r.Method, r.URL)
		}
	}))
	ctx := principal.With(t.Context(), principal.Principal{Kind: principal.Session, TenantID: "t", UserID: "u"})
	a, err := agreements.Current(ctx)
	if err != nil || a.ID != "a" || a.Version != 3 || a.Title != "Agreement" || a.Text != "Text" {
		t.Errorf("%+v %v", a, err)
	}
	s, err := agreements.Status(ctx)
	if err != nil || !s.Accepted || s.AcceptedAt == nil {
		t.Errorf("%+v %v", s, err)
	}
	if err := agreements.Accept(ctx, "a"); err != nil {
		t.Error(err)
	}
	if _, err := agreements.Current(t.Context()); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("in nobody's name: %v", err)
	}
}
