package mesh

import (
	"fmt"
	"net"
	"slices"
	"strings"
)

// Directory knows where the live instances of a service are.
type Directory interface {
	// Watch calls update with the service's live instances, now or as soon as they are known, and again whenever they
	// change, until the directory is closed. Calls of one update do not overlap.
	Watch(service string, update func([]Endpoint))
}

// Endpoint is an instance as a directory knows it.
type Endpoint struct {
	Address string // host:port
	Zone    string // where it runs; "" where nobody said
	Weight  int    // its share of the calls beside the others of its zone; less than one counts as one
}

// Static is a directory that never changes: addresses by service.
type Static map[string][]string

// Watch calls update once, before it returns.
func (s Static) Watch(service string, update func([]Endpoint)) { update(alike(s[service]...)) }

// alike are instances of which only the address is known.
func alike(addresses ...string) []Endpoint {
	list := make([]Endpoint, 0, len(addresses))
	for _, address := range addresses {
		list = append(list, Endpoint{Address: address})
	}
	return list
}

// ParsePeers reads "identity=host:port;tenant=host:port,host:port". Services may be missing: calling one of them says
// so. Blank text is an empty directory. An address may be "dns:name:port", which NewNames understands.
func ParsePeers(text string) (Static, error) {
	peers := Static{}
	for entry := range strings.SplitSeq(text, ";") {
		if strings.TrimSpace(entry) == "" {
			continue
		}
		name, list, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if !ok || name == "" || peers[name] != nil {
			return nil, fmt.Errorf("PEERS is written service=host:port,host:port;service=…, each service once: %q", entry)
		}
		for address := range strings.SplitSeq(list, ",") {
			address = strings.TrimSpace(address)
			if _, _, err := net.SplitHostPort(strings.TrimPrefix(address, namePrefix)); err != nil {
				return nil, fmt.Errorf("PEERS: %s: %w", name, err)
			}
			peers[name] = append(peers[name], address)
		}
		slices.Sort(peers[name])
		peers[name] = slices.Compact(peers[name])
	}
	return peers, nil
}
