package traffic

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const key = "test:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

func TestResultsCountOnlyGoodAnswers(t *testing.T) {
	keys, err := principal.ParseKeyring(key)
	if err != nil {
		t.Fatal(err)
	}
	var calls, unsigned atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := keys.Verify(r.Header.Get(principal.AssertionHeader), r.Method, r.URL.RequestURI(), time.Now())
		if err != nil || p.TenantID != "a-tenant" {
			unsigned.Add(1)
		}
		if calls.Add(1)%2 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	plan := Plan{
		Address: strings.TrimPrefix(server.URL, "http://"), Connections: 2, Duration: 100 * time.Millisecond, Method: "GET",
		Targets: []string{"/a?b=1", "/c"}, Sign: &Sign{MeshKey: key, Principal: principal.Principal{TenantID: "a-tenant"}},
	}
	raw, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Serve(t.Context(), bytes.NewReader(raw), &out); err != nil {
		t.Fatal(err)
	}
	var r Result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Rate <= 0 || r.Failures["503"] == 0 || r.Failed() != r.Failures["503"] {
		t.Errorf("got %+v", r)
	}
	if unsigned.Load() > 0 {
		t.Errorf("%d requests came without an assertion that holds", unsigned.Load())
	}
}

func TestPercentiles(t *testing.T) {
	tallies := []*tally{newTally(), newTally()}
	for ms := range 100 {
		_ = tallies[ms%2].latencies.RecordValue(int64(ms+1) * 1000)
	}
	r := sum(tallies, 2*time.Second)
	near := func(got, want time.Duration) bool {
		return got > want*999/1000 && got < want*1001/1000+time.Microsecond
	}
	if r.Rate != 50 || !near(r.P50, 50*time.Millisecond) || !near(r.P99, 99*time.Millisecond) {
		t.Errorf("got %+v", r)
	}
}
