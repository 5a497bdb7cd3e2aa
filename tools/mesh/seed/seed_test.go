package seed_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

// services are the two that are seeded: they count what they were asked to make, and fail the request numbered failing.
type services struct {
	made     map[string]int
	requests int
	failing  int
	starting int // requests that are refused before any is taken
}

func (s *services) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.starting > 0 {
		s.starting--
		http.Error(w, "no instance to call", http.StatusServiceUnavailable)
		return
	}
	s.requests++
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id, _ := body["id"].(string)
	name, _ := body["name"].(string)
	tenant, _ := body["tenantId"].(string)
	what := r.Method + " " + r.URL.Path + " " + id + name + " " + tenant
	if id != "" && s.made[what] > 0 {
		_ = json.NewEncoder(w).Encode(map[string]string{"id": id}) // as it is, once more
		return
	}
	if s.requests == s.failing {
		if id != "" {
			s.made[what]++ // it was done, and the answer was lost
		}
		http.Error(w, "away", http.StatusBadGateway)
		return
	}
	s.made[what]++
	_ = json.NewEncoder(w).Encode(map[string]string{"id": "x", "clientId": what, "clientSecret": "s", "token": "t", "sharedSecret": "h"})
}

func keyring(t *testing.T) *principal.Keyring {
	t.Helper()
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Whatever step breaks off, the next run goes on from there and makes nothing twice.
func TestBrokenOffSeedGoesOn(t *testing.T) {
	t.Parallel()
	keys := keyring(t)
	var whole int
	for failing := 0; failing <= max(whole, 1); failing++ {
		fake := &services{made: map[string]int{}, failing: failing}
		server := httptest.NewServer(fake)
		caller := seed.Caller{
			Address: strings.TrimPrefix(server.URL, "http://"), Environment: "demo", Keys: keys, Client: server.Client(), Now: time.Now,
		}
		var saved []byte
		seeder := seed.Seeder{Identity: caller, Tenant: caller, Save: func(p *seed.Progress) (err error) {
			saved, err = json.Marshal(p)
			return err
		}}
		progress, err := seed.Plan("demo")
		if err != nil {
			t.Fatal(err)
		}
		if err := seeder.Save(progress); err != nil {
			t.Fatal(err)
		}
		if err := seeder.Run(t.Context(), progress); (err != nil) != (failing > 0) {
			t.Fatalf("failing request %d: error = %v", failing, err)
		}
		resumed := &seed.Progress{}
		if err := json.Unmarshal(saved, resumed); err != nil {
			t.Fatal(err)
		}
		if err := seeder.Run(t.Context(), resumed); err != nil {
			t.Fatalf("failing request %d: the second run: %v", failing, err)
		}
		if failing == 0 {
			whole = len(fake.made)
		}
		if len(fake.made) != whole {
			t.Errorf("failing request %d: %d things made, want %d", failing, len(fake.made), whole)
		}
		for what, times := range fake.made {
			if times != 1 {
				t.Errorf("failing request %d: %s was made %d times", failing, what, times)
			}
		}
		server.Close()
	}
}

// Services that are up but do not know of each other yet are asked again.
func TestSeedWaitsForAMeshThatStarts(t *testing.T) {
	t.Parallel()
	fake := &services{made: map[string]int{}, starting: 1}
	server := httptest.NewServer(fake)
	defer server.Close()
	caller := seed.Caller{
		Address: strings.TrimPrefix(server.URL, "http://"), Environment: "demo", Keys: keyring(t), Client: server.Client(), Now: time.Now,
	}
	visitor := seed.Visitor{UserID: "u", TenantID: "t", Email: "e@mesh.invalid", Name: "n"}
	if _, key, err := (seed.Seeder{Identity: caller, Tenant: caller}).Visit(t.Context(), visitor); err != nil || key == "" {
		t.Fatal(key, err)
	}
}
