package deploy

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"testing"
	"time"
)

const (
	patience = time.Minute // until callers know of an instance, or that it is to be left alone
	enough   = 600         // calls that show who gets them
	fewest   = enough / 10 // of those, for one of three instances
)

// spread shows that calls reach each of three instances. With Consul it also shows that it is Consul's word that counts:
// an instance that is well, and that is found by name, is called no more while Consul has it in maintenance.
func spread(t *testing.T, p *project, c caller) {
	t.Helper()
	ids := p.containers("patient")
	if len(ids) != 3 {
		t.Fatalf("%d instances", len(ids))
	}
	stop := c.load("spread")
	defer func() {
		if sent, failed := stop(); failed > 0 {
			t.Errorf("%d of %d requests failed", failed, sent)
		}
	}()
	before := p.calls(ids)
	until(t, "all three instances are called", func() bool {
		now := p.calls(ids)
		return now[0] > before[0] && now[1] > before[1] && now[2] > before[2]
	})
	before = p.calls(ids)
	var shares []int
	until(t, "there were enough calls", func() bool {
		shares = p.calls(ids)
		for n := range shares {
			shares[n] -= before[n]
		}
		return shares[0]+shares[1]+shares[2] >= enough
	})
	t.Logf("calls of the three instances: %v", shares)
	for _, share := range shares {
		if share < fewest {
			t.Errorf("of %v calls one instance has %d", shares, share)
		}
	}
	if p.consul != "" {
		maintenance(t, p, ids)
	}
}

func maintenance(t *testing.T, p *project, ids []string) {
	t.Helper()
	p.maintain(ids[0], true)
	at := p.calls(ids)
	until(t, "the instance is called no more", func() bool {
		now := p.calls(ids)
		if now[0] != at[0] {
			at = now
			return false
		}
		return now[1]+now[2] >= at[1]+at[2]+enough
	})
	p.maintain(ids[0], false)
	until(t, "the instance is called again", func() bool { return p.calls(ids)[0] > at[0] })
}

// maintain tells Consul to name a container of patient to nobody, or to do so again.
func (p *project) maintain(id string, on bool) {
	p.t.Helper()
	address := p.consul + "/v1/agent/service/maintenance/" + url.PathEscape("patient-"+p.host(id)+":8080") + "?enable=" + strconv.FormatBool(on)
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPut, address, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		p.t.Fatalf("%s: %s", address, answer.Status)
	}
}

// answered is a line that counts what a program answered, but for probes.
var answered = regexp.MustCompile(`(?m)^http_server_request_duration_seconds_count\{[^}]*http_route="(/[^"]*)"[^}]*\} ([0-9.e+]+)$`)

// calls are how many each of these containers has answered.
func (p *project) calls(ids []string) []int {
	p.t.Helper()
	counts := make([]int, len(ids))
	for n, id := range ids {
		for _, line := range answered.FindAllStringSubmatch(p.metrics(id, "8080"), -1) {
			if line[1] == "/livez" || line[1] == "/readyz" || line[1] == "/metrics" {
				continue
			}
			count, err := strconv.ParseFloat(line[2], 64)
			if err != nil {
				p.t.Fatal(err)
			}
			counts[n] += int(count)
		}
	}
	return counts
}

// until waits for something to hold; where it does not in time, said may say more.
func until(t *testing.T, what string, holds func() bool, said ...func()) {
	t.Helper()
	ticks := time.NewTicker(200 * time.Millisecond)
	defer ticks.Stop()
	limit := time.After(patience)
	for !holds() {
		select {
		case <-ticks.C:
		case <-limit:
			for _, say := range said {
				say()
			}
			t.Fatalf("not within %s: %s", patience, what)
		}
	}
}
