package mesh

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/hashicorp/consul/api"
)

// Registration is one instance of a service as Consul is told about it.
type Registration struct {
	Service string
	Address string // host:port that peers and Consul's check reach
}

// The check: a program that is not ready leaves the lists within two intervals, and one that vanished without a word
// leaves the catalogue after a minute, the shortest that Consul knows.
const (
	checkInterval   = "2s"
	checkTimeout    = "1s"
	deregisterAfter = "1m"
	lookAgain       = 15 * time.Second
)

// Register puts the instance into Consul and keeps it there (an agent that was replaced has forgotten it) until leave
// is called, at the start of the drain. A Consul that is away is tried again; only an address that is none is an error.
func (c *Consul) Register(r Registration) (leave func(context.Context) error, err error) {
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
	return &api.AgentServiceRegistration{
		ID: r.Service + "-" + r.Address, Name: r.Service, Address: host, Port: port,
		Check: &api.AgentServiceCheck{
			Name: "readyz", HTTP: "http://" + r.Address + "/readyz", Interval: checkInterval, Timeout: checkTimeout,
			DeregisterCriticalServiceAfter: deregisterAfter,
		},
	}, nil
}

// keep registers whenever the agent does not know the instance.
func (c *Consul) keep(ctx context.Context, entry *api.AgentServiceRegistration) {
	pause := firstPause
	for {
		wait := lookAgain
		if !c.known(ctx, entry.ID) {
			options := api.ServiceRegisterOpts{}.WithContext(ctx)
			if err := c.client.Agent().ServiceRegisterOpts(entry, options); err != nil {
				if ctx.Err() != nil {
					return
				}
				c.log.Warn("consul registration failed; trying again", "service", entry.Name, "error", err)
				wait, pause = pause, min(2*pause, lastPause)
			} else {
				pause = firstPause
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

func (c *Consul) known(ctx context.Context, id string) bool {
	service, _, err := c.client.Agent().Service(id, (&api.QueryOptions{}).WithContext(ctx))
	if status, ok := err.(api.StatusError); ok && status.Code == http.StatusNotFound { //nolint:errorlint // returned bare
		return false
	}
	return err == nil && service != nil
}
