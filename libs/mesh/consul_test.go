package mesh

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/consul/api"
)

func TestParsePeers(t *testing.T) {
	got, err := ParsePeers(" identity=a:1 ; tenant=c:3,b:2,c:3;")
	want := Static{"identity": {"a:1"}, "tenant": {"b:2", "c:3"}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	for _, bad := range []string{"identity", "identity=", "=a:1", "identity=a", "identity=a:1;identity=b:1"} {
		if _, err := ParsePeers(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestNextIndex(t *testing.T) {
	for _, test := range [][3]uint64{{0, 5, 5}, {5, 5, 5}, {5, 9, 9}, {9, 5, 0}, {9, 0, 0}} {
		if got := nextIndex(test[0], test[1]); got != test[2] {
			t.Errorf("nextIndex(%d, %d) = %d", test[0], test[1], got)
		}
	}
}

// script is what a Consul that we play answers, one step a query.
type step struct {
	index string
	ports []int
	fail  bool
}

func TestConsulFollowsChangesAndKeepsWhatItKnew(t *testing.T) {
	steps := []step{
		{index: "10", ports: []int{2, 1}},
		{index: "11", ports: []int{2}},
		{fail: true},                  // Consul is away: the list stays
		{index: "3", ports: []int{7}}, // restored from a backup: the index went backwards
		{index: "4", ports: nil},      // nobody: the list stays for a while
		{index: "4", ports: nil},
	}
	asked := make(chan string, len(steps)+1)
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.Query().Get("index")
		if n == len(steps) {
			<-r.Context().Done() // nothing changes any more
			return
		}
		s := steps[n]
		n++
		if s.fail {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		entries := []map[string]any{}
		for _, port := range s.ports {
			entries = append(entries, map[string]any{
				"Node":    map[string]any{"Address": "10.0.0.1"},
				"Service": map[string]any{"Address": "", "Port": port},
			})
		}
		w.Header().Set("X-Consul-Index", s.index)
		_ = json.NewEncoder(w).Encode(entries)
	}))
	defer server.Close()
	consul, err := NewConsul(server.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	updates := make(chan []Endpoint, len(steps))
	consul.keeps = 0
	consul.Watch("patient", func(list []Endpoint) { updates <- list })
	for _, want := range [][]Endpoint{alike("10.0.0.1:1", "10.0.0.1:2"), alike("10.0.0.1:2"), alike("10.0.0.1:7"), nil} {
		if diff := cmp.Diff(want, <-updates); diff != "" {
			t.Error(diff)
		}
	}
	consul.Close()
	for _, want := range []string{"", "10", "11", "", "3", "4"} {
		if got := <-asked; got != want {
			t.Errorf("asked from index %q, want %q", got, want)
		}
	}
}

// A program knows its neighbours when it begins to serve, and is not kept from it where Consul is away or hangs.
func TestConsulIsWaitedForOnce(t *testing.T) {
	t.Parallel()
	nobody := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("index") != "" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("X-Consul-Index", "1")
		_, _ = w.Write([]byte("[]"))
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		known  bool
	}{
		"nobody is there": {nobody, true},
		"it fails":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, false},
		"it hangs":        {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.answer)
			defer server.Close()
			consul, err := NewConsul(server.URL, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			defer consul.Close()
			client, err := New(consul, Options{})
			if err != nil {
				t.Fatal(err)
			}
			client.Peer("tenant")
			if err := client.Known(t.Context()); (err == nil) != c.known {
				t.Error(err)
			}
		})
	}
}

func TestRegisterAndLeave(t *testing.T) {
	type call struct{ method, path string }
	calls := make(chan call, 10)
	var entry struct {
		Name, Address string
		Port          int
		Tags          []string
		Weights       struct{ Passing int }
		Check         struct{ HTTP, DeregisterCriticalServiceAfter string }
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/v1/agent/service/patient-10.0.0.1:8083":
			w.WriteHeader(http.StatusNotFound)
			return
		case "/v1/agent/service/register":
			_ = json.NewDecoder(r.Body).Decode(&entry)
		}
		calls <- call{r.Method, r.URL.Path}
	}))
	defer server.Close()
	consul, err := NewConsul(server.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer consul.Close()
	leave, err := consul.Register(Registration{Service: "patient", Address: "10.0.0.1:8083", Version: "v1.2.3", Zone: "east", Weight: 4})
	if err != nil {
		t.Fatal(err)
	}
	if got := <-calls; got.path != "/v1/agent/service/register" {
		t.Errorf("called %v", got)
	}
	if entry.Name != "patient" || entry.Port != 8083 || entry.Check.HTTP != "http://10.0.0.1:8083/readyz" || entry.Check.DeregisterCriticalServiceAfter == "" {
		t.Errorf("registered %+v", entry)
	}
	if diff := cmp.Diff([]string{"version=v1.2.3", "zone=east"}, entry.Tags); diff != "" || entry.Weights.Passing != 4 {
		t.Error(diff, entry.Weights)
	}
	if err := leave(context.Background()); err != nil {
		t.Error(err)
	}
	if got := <-calls; got.path != "/v1/agent/service/deregister/patient-10.0.0.1:8083" {
		t.Errorf("called %v", got)
	}
	for _, bad := range []string{"", "host", "host:name", "host:0"} {
		if _, err := consul.Register(Registration{Service: "patient", Address: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// An instance that was at the same address before left tags, zone and weight of its own: they are corrected at the start,
// and again when they turn out to be others.
func TestRegisterCorrectsWhatIsThere(t *testing.T) {
	registered := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			select {
			case registered <- struct{}{}:
			case <-r.Context().Done():
			}
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"ID": "patient-10.0.0.1:8083", "Service": "patient", "Address": "10.0.0.1", "Port": 8083,
			"Tags": []string{"version=v1"}, "Meta": map[string]string{"version": "v1"}, "Weights": map[string]int{"Passing": 1, "Warning": 1},
		})
	}))
	defer server.Close()
	consul, err := NewConsul(server.URL, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer consul.Close()
	consul.looks = time.Millisecond
	if _, err := consul.Register(Registration{Service: "patient", Address: "10.0.0.1:8083", Version: "v2"}); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		select {
		case <-registered:
		case <-time.After(10 * time.Second):
			t.Fatal("what is there is taken for the instance itself")
		}
	}
}

// The catalogue's zones and weights arrive where calls are shared out.
func TestEndpointsCarryZoneAndWeight(t *testing.T) {
	got := endpoints([]*api.ServiceEntry{
		{Node: &api.Node{}, Service: &api.AgentService{Address: "b", Port: 1, Meta: map[string]string{"zone": "east"}, Weights: api.AgentWeights{Passing: 3}}},
		{Node: &api.Node{Address: "a"}, Service: &api.AgentService{Port: 2}},
		{Node: &api.Node{Address: "a"}, Service: &api.AgentService{Port: 2}},
	})
	if diff := cmp.Diff([]Endpoint{{Address: "a:2"}, {Address: "b:1", Zone: "east", Weight: 3}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestReachable(t *testing.T) {
	for _, own := range []string{":8083", "0.0.0.0:8083", "[::]:8083"} {
		for _, consul := range []string{"127.0.0.1:8500", "http://127.0.0.1:8500", "127.0.0.1"} {
			if got, err := reachable(own, consul); got != "127.0.0.1:8083" || err != nil {
				t.Errorf("%s towards %s: %q, %v", own, consul, got, err)
			}
		}
	}
	for _, told := range []string{"patient:8083", "10.0.0.1:8083", "[fd00::1]:8083"} {
		if got, err := reachable(told, "consul.invalid:8500"); got != told || err != nil {
			t.Errorf("%s: %q, %v", told, got, err)
		}
	}
}
