package mesh

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/consul/api"
)

// Registration is one instance of a service as Consul is told about it.
type Registration struct {
	Service string
	Address string // host:port that peers and Consul's check reach; without a host, Register finds it out
	Version string // of the program; "" says nothing
	Zone    string // where it runs; "" says nothing
	Weight  int    // its share of the calls beside others; one when it is less
}

// What the catalogue says of an instance: as meta, which programs read, and as tags name=value, which people and
// Consul's DNS select by.
const (
	versionMeta = "version"
	zoneMeta    = "zone"
)

// The check: a program that is not ready leaves the lists within two intervals, and one that vanished without a word
// leaves the catalogue after a minute, the shortest that Consul knows.
const (
	checkInterval   = "2s"
	checkTimeout    = "1s"
	deregisterAfter = "1m"
)

// lookAgain is how often an instance looks whether the agent still knows it.
const lookAgain = 15 * time.Second

// Register puts the instance into Consul and keeps it there (an agent that was replaced has forgotten it) until leave
// is called, at the start of the drain. A Consul that is away is tried again; only an address that is none is an error.
func (c *Consul) Register(r Registration) (leave func(context.Context) error, err error) {
	if r.Address, err = reachable(r.Address, c.addr); err != nil {
		return nil, err
	}
	entry, err := r.entry()
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(c.ctx)
	done := make(chan struct{})
	c.tasks.Go(func() {
		defer close(done)
		c.keep(ctx, entry)
	})
	return func(ctx context.Context) error {
		stop()
		<-done
		return c.client.Agent().ServiceDeregisterOpts(entry.ID, (&api.QueryOptions{}).WithContext(ctx))
	}, nil
}

func (r Registration) entry() (*api.AgentServiceRegistration, error) {
	host, text, err := net.SplitHostPort(r.Address)
	if err != nil {
		return nil, fmt.Errorf("ADVERTISE_ADDR: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil || host == "" || port <= 0 {
		return nil, fmt.Errorf("ADVERTISE_ADDR is host:port, both known to others: %q", r.Address)
	}
	tags, meta := []string{}, map[string]string{}
	for _, about := range [][2]string{{versionMeta, r.Version}, {zoneMeta, r.Zone}} {
		if about[1] != "" {
			tags, meta[about[0]] = append(tags, about[0]+"="+about[1]), about[1]
		}
	}
	return &api.AgentServiceRegistration{
		ID: r.Service + "-" + r.Address, Name: r.Service, Address: host, Port: port,
		Tags: tags, Meta: meta, Weights: &api.AgentWeights{Passing: max(r.Weight, 1), Warning: 1},
		Check: &api.AgentServiceCheck{
			Name: "readyz", HTTP: "http://" + r.Address + "/readyz", Interval: checkInterval, Timeout: checkTimeout,
			DeregisterCriticalServiceAfter: deregisterAfter,
		},
	}, nil
}

// keep registers at the start, whatever the agent knows of one that was at the same address before, and whenever the agent
// does not know the instance as it is.
func (c *Consul) keep(ctx context.Context, entry *api.AgentServiceRegistration) {
	pause, told := firstPause, false
	for {
		wait := c.looks
		if !told || !c.known(ctx, entry) {
			options := api.ServiceRegisterOpts{}.WithContext(ctx)
			if err := c.client.Agent().ServiceRegisterOpts(entry, options); err != nil {
				if ctx.Err() != nil {
					return
				}
				c.log.Warn("consul registration failed; trying again", "service", entry.Name, "error", err)
				wait, pause = pause, min(2*pause, lastPause)
			} else {
				pause, told = firstPause, true
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// known reports whether the agent has the instance, and all that others go by.
func (c *Consul) known(ctx context.Context, entry *api.AgentServiceRegistration) bool {
	s, _, err := c.client.Agent().Service(entry.ID, (&api.QueryOptions{}).WithContext(ctx))
	return err == nil && s != nil && s.Service == entry.Name && s.Address == entry.Address && s.Port == entry.Port &&
		slices.Equal(s.Tags, entry.Tags) && maps.Equal(s.Meta, entry.Meta) && s.Weights == *entry.Weights
}

// reachable is an address with the host that others reach this machine by, where the address names none, as in ":8080"
// or "0.0.0.0:8080": the one from which this machine reaches Consul. In a container, that is the one thing about it
// that nobody knows beforehand.
func reachable(address, consul string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("ADVERTISE_ADDR: %w", err)
	}
	if ip := net.ParseIP(host); host != "" && (ip == nil || !ip.IsUnspecified()) {
		return address, nil
	}
	own, err := ownHost(consul)
	if err != nil {
		return "", fmt.Errorf("ADVERTISE_ADDR is not set, and the own address cannot be found out: %w", err)
	}
	return net.JoinHostPort(own, port), nil
}

// ownHost asks the kernel by which address it would go to Consul; nothing is sent. Where Consul's name is not known
// yet, it is the first address that is not this machine's alone.
func ownHost(consul string) (string, error) {
	if u, err := url.Parse(consul); err == nil && u.Host != "" {
		consul = u.Host
	}
	if _, _, err := net.SplitHostPort(consul); err != nil {
		consul = net.JoinHostPort(consul, "8500")
	}
	if conn, err := net.Dial("udp", consul); err == nil { //nolint:noctx // it sends nothing
		defer conn.Close() //nolint:errcheck // nothing was sent
		host, _, err := net.SplitHostPort(conn.LocalAddr().String())
		return host, err
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "", err
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			return n.IP.String(), nil
		}
	}
	return "", errNoAddress
}

var errNoAddress = errors.New("this machine has no address but its own loopback")
