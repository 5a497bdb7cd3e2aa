package mesh

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// zone is a DNS that answers by name.
type zone struct {
	mu      sync.Mutex
	answers map[string][]string
	away    error // of a name without an answer
}

func (z *zone) set(host string, addresses ...string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.answers[host] = addresses
}

func (z *zone) lookup(_ context.Context, _, host string) ([]netip.Addr, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	var list []netip.Addr
	for _, text := range z.answers[host] {
		list = append(list, netip.MustParseAddr(text))
	}
	if list == nil {
		return nil, z.away
	}
	return list, nil
}

func TestNamesFollowDNSAndKeepWhatTheyKnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		peers, err := ParsePeers("tenant=dns:tenant.mesh.svc.:8080;patient=here:1")
		if err != nil {
			t.Fatal(err)
		}
		const name = "tenant.mesh.svc."
		dns := &zone{away: errors.New("timeout"), answers: map[string][]string{name: {"10.0.0.2", "10.0.0.1", "fd00::1", "::ffff:10.0.0.1"}}}
		names := NewNames(peers, slog.New(slog.DiscardHandler))
		names.lookup = dns.lookup
		defer names.Close()
		told := make(chan []string, 9)
		names.Watch("tenant", func(list []Endpoint) { told <- addressesOf(list) })
		if len(told) != 1 {
			t.Fatal("nothing was known when Watch returned")
		}
		for _, answer := range [][]string{
			{"10.0.0.1", "10.0.0.2"}, // the same, in another order
			{"10.0.0.2"},
			nil, // away: the list stays
			{"fd00::7"},
		} {
			dns.set(name, answer...)
			time.Sleep(2 * askAgain)
			synctest.Wait()
		}
		for _, want := range [][]string{{"10.0.0.1:8080", "10.0.0.2:8080"}, {"10.0.0.2:8080"}, {"[fd00::7]:8080"}} {
			if got := <-told; !slices.Equal(got, want) {
				t.Errorf("told %v, want %v", got, want)
			}
		}
		if len(told) > 0 {
			t.Errorf("told more: %v", <-told)
		}

		var plain []string
		names.Watch("patient", func(list []Endpoint) { plain = addressesOf(list) })
		if !slices.Equal(plain, []string{"here:1"}) {
			t.Errorf("a plain address became %v", plain)
		}
	})
}

// That nobody is there is believed after a while, and forgotten at once when somebody is.
func TestNamesWithoutAddresses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dns := &zone{away: &net.DNSError{IsNotFound: true}, answers: map[string][]string{"a": {"10.0.0.1"}}}
		names := NewNames(Static{"tenant": {"dns:a:1"}}, slog.New(slog.DiscardHandler))
		names.lookup = dns.lookup
		defer names.Close()
		told := make(chan []string, 9)
		names.Watch("tenant", func(list []Endpoint) { told <- addressesOf(list) })
		<-told
		for range 3 {
			dns.set("a")
			time.Sleep(keepList - 2*askAgain)
			dns.set("a", "10.0.0.1")
			time.Sleep(2 * askAgain)
		}
		synctest.Wait()
		if len(told) > 0 {
			t.Errorf("told %v, though nobody was gone for long", <-told)
		}
		dns.set("a")
		time.Sleep(keepList + 4*askAgain)
		synctest.Wait()
		if len(told) != 1 || len(<-told) > 0 {
			t.Error("nobody is told of a service that is gone")
		}
	})
}

// That nobody is there is an answer; that DNS is away is none.
func TestNamesAreKnownOnceDNSAnswered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dns := &zone{away: errors.New("timeout"), answers: map[string][]string{}}
		names := NewNames(Static{"tenant": {"dns:a:1"}}, slog.New(slog.DiscardHandler))
		names.lookup = dns.lookup
		defer names.Close()
		client, err := New(names, Options{})
		if err != nil {
			t.Fatal(err)
		}
		client.Peer("tenant")
		if client.Known(t.Context()) == nil {
			t.Error("known, though DNS has not answered")
		}
		dns.mu.Lock()
		dns.away = &net.DNSError{IsNotFound: true}
		dns.mu.Unlock()
		time.Sleep(2 * askAgain)
		synctest.Wait()
		if err := client.Known(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func addressesOf(list []Endpoint) []string {
	var out []string
	for _, e := range list {
		out = append(out, e.Address)
	}
	return out
}

// One name that cannot be resolved does not hide what others are known to be.
func TestNamesBesideEachOther(t *testing.T) {
	t.Parallel()
	peers, err := ParsePeers("tenant=dns:a:1,dns:b:2,c:3")
	if err != nil {
		t.Fatal(err)
	}
	names := NewNames(peers, slog.New(slog.DiscardHandler))
	names.lookup = (&zone{away: errors.New("timeout"), answers: map[string][]string{"b": {"10.0.0.9"}}}).lookup
	defer names.Close()
	var told []string
	names.Watch("tenant", func(list []Endpoint) { told = addressesOf(list) })
	if want := []string{"10.0.0.9:2", "c:3"}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
	if _, err := ParsePeers("tenant=dns:nowhere"); err == nil {
		t.Error("a name without a port was taken")
	}
}
