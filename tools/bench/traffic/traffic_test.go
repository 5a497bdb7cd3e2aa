package traffic

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

func TestAChainCarriesWhatItWasGiven(t *testing.T) {
	var mu sync.Mutex
	spent := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		carried := r.PostFormValue("carried")
		if carried == "" || spent[carried] || strings.Count(carried, "+") >= 50 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		spent[carried] = true
		_ = json.NewEncoder(w).Encode(map[string]string{"next": carried + "+"})
	}))
	defer server.Close()
	r, err := Run(t.Context(), Plan{
		Address: strings.TrimPrefix(server.URL, "http://"), Connections: 2, Duration: 10 * time.Second, Method: "POST", Targets: []string{"/"},
		Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"},
		Chain:  &Chain{Prefix: "carried=", Member: "next", First: []string{"a", "b"}},
	})
	if err != nil || len(spent) != 100 || r.Asked != 102 || r.Failures["broken chain"] != 2 || r.Rate != 10 {
		t.Errorf("%d spent, %+v, %v", len(spent), r, err)
	}
}

func TestEachConnectionHasItsBodyAndSuccessIsWhatThePlanSays(t *testing.T) {
	var mu sync.Mutex
	bodies := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies[string(raw)]++
		mu.Unlock()
		if string(raw) == "one" {
			w.WriteHeader(http.StatusSeeOther)
		}
	}))
	defer server.Close()
	r, err := Run(t.Context(), Plan{
		Address: strings.TrimPrefix(server.URL, "http://"), Connections: 2, Duration: 100 * time.Millisecond, Method: "POST",
		Targets: []string{"/"}, Bodies: []string{"one", "two"}, Good: http.StatusSeeOther,
	})
	if err != nil || len(bodies) != 2 || bodies["one"] == 0 || r.Rate <= 0 || r.Failures["200"] == 0 || r.Failures["303"] != 0 {
		t.Errorf("%v, %+v, %v", bodies, r, err)
	}
}
