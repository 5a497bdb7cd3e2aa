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
	"github.com/patient-mesh/patient-mesh/services/patient/peer"
)

func TestATenantsNameIsAskedForOnceInTheCallersName(t *testing.T) {
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int32
	var away atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		by, err := keys.Verify(r.Header.Get(principal.AssertionHeader), r.Method, r.RequestURI, time.Now())
		if err != nil || r.Method != http.MethodGet || r.RequestURI != "/v2/tenant" || by.Kind != principal.APIKey {
			t.Errorf("%s %s as %+v, %v", r.Method, r.RequestURI, by, err)
		}
		if away.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id": "` + by.TenantID + `", "name": "Clinic of ` + by.TenantID + `", "plan": "free"}`))
	}))
	t.Cleanup(server.Close)
	client, err := mesh.New(mesh.Static{"tenant": {strings.TrimPrefix(server.URL, "http://")}}, mesh.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	tenants := peer.NewTenants(client.Caller("tenant", keys, "patient"))
	name := func(tenant string) (string, error) {
		return tenants.Name(principal.With(t.Context(), principal.Principal{TenantID: tenant, Kind: principal.APIKey, CredentialID: "k"}), tenant)
	}

	away.Store(true)
	if got, err := name("t1"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("nobody answers: %q, %v", got, err)
	}
	away.Store(false)
	asked.Store(0)
	for range 3 {
		for _, tenant := range []string{"t1", "t2"} {
			if got, err := name(tenant); err != nil || got != "Clinic of "+tenant {
				t.Errorf("%s is called %q, %v", tenant, got, err)
			}
		}
	}
	if asked.Load() != 2 {
		t.Errorf("asked %d times for two names", asked.Load())
	}
	if _, err := tenants.Name(t.Context(), "t3"); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("in nobody's name: %v", err)
	}
}
