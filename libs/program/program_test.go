package program_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/program"
)

// A program that starts waits for what it checks, and until it was told once where its neighbours are.
func TestStartWaitsForPeers(t *testing.T) {
	for directory, known := range map[string]bool{"": true, "127.0.0.1:1": false} { // a list, and a Consul that is not there
		c := config.Common{
			Environment: config.Demo, LogLevel: "error", Weight: 1, ConsulAddr: directory, Peers: "tenant=127.0.0.1:1",
			MeshKey: "k:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
		}
		p, err := program.Start(t.Context(), "patient", "127.0.0.1:0", c)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		p.Peers.Peer("tenant")
		options := p.WebOptions()
		if len(options.Checks) != 0 || len(options.Start) != 1 || options.Start[0].Name != "peers" {
			t.Fatalf("checks %v, at the start %v", options.Checks, options.Start)
		}
		if err := options.Start[0].Probe(t.Context()); (err == nil) != known {
			t.Errorf("Consul at %q: %v", directory, err)
		}
	}
}
