package peer_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity/peer"
)

// serve makes Tenants whose neighbour is the handler.
func serve(t *testing.T, now func() time.Time, handler http.HandlerFunc) *peer.Tenants {
	t.Helper()
	return peer.NewTenants(caller(t, handler), now)
}

// caller asks the handler.
func caller(t *testing.T, handler http.HandlerFunc) *mesh.Caller {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	client, err := mesh.New(mesh.Static{"tenant": {strings.TrimPrefix(server.URL, "http://")}}, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return client.Caller("tenant", keys, "identity")
}

func TestRolesAreAskedForOnceAMinute(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	at := time.Now()
	tenants := serve(t, func() time.Time { return at }, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if r.URL.Path != "/internal/role" || r.Header.Get(principal.AssertionHeader) == "" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"content": [{"id": "r", "name": "Reader", "permissions": ["patient:read", "of:tomorrow"]}]}`))
	})
	for _, want := range []int32{1, 1, 2} {
		if want == 2 {
			at = at.Add(time.Minute)
		}
		roles, err := tenants.Roles(t.Context())
		if err != nil || len(roles) != 1 || roles[0].Permissions != principal.PatientRead || asked.Load() != want {
			t.Errorf("%+v, %v, asked %d times", roles, err, asked.Load())
		}
	}
}

func TestStanding(t *testing.T) {
	t.Parallel()
	tenants := serve(t, time.Now, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/internal/tenant/t1/standing" {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"code": "tenant_not_found", "detail": "x"}`))
			return
		}
		if got := r.URL.Query(); len(got["role"]) != 2 && got.Get("user") != "u" {
			t.Errorf("asked for %v", got)
		}
		_, _ = w.Write([]byte(`{"tenant": {"plan": "standard", "environment": "demo", "mfaRequired": true, "agreementAccepted": true}, "permissions": ["match:read"]}`))
	})
	s, err := tenants.Standing(t.Context(), "t1", []string{"a", "b"})
	if err != nil || s.Plan != "standard" || s.Environment != "demo" || !s.AgreementAccepted || s.Permissions != principal.MatchRead {
		t.Errorf("%+v, %v", s, err)
	}
	s, err = tenants.MemberStanding(t.Context(), "t1", "u")
	if err != nil || !s.MFARequired || s.Plan != "standard" || s.Permissions != principal.MatchRead {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := tenants.MemberStanding(t.Context(), "t2", "u"); !fault.Is(err, fault.NotFound) {
		t.Errorf("who is no member: %v", err)
	}
	if _, err := tenants.Standing(t.Context(), "t2", nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("a tenant that is not there: %v", err)
	}
}
