package mesh

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/consul/api"
)

// Consul is a directory that follows a Consul catalogue by blocking queries. While Consul is away it keeps the last
// list it was told: instances outlive their registry.
type Consul struct {
	client *api.Client
	log    *slog.Logger
	wait   time.Duration // the longest blocking query
	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // the directory's own life, ended by Close
	tasks  sync.WaitGroup
}

// The pause after a failed query grows from the first to the second.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 15 * time.Second
)

// NewConsul makes a directory of the Consul agent at an address (host:port or URL). It asks nothing yet: an agent that
// is away is asked again and again. Close ends it.
func NewConsul(address string, log *slog.Logger) (*Consul, error) {
	config := api.DefaultConfig() // CONSUL_HTTP_TOKEN and the TLS variables hold too
	config.Address = address
	client, err := api.NewClient(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	return &Consul{client: client, log: log, wait: time.Minute, ctx: ctx, cancel: cancel}, nil
}

// Close ends all watches and waits for them.
func (c *Consul) Close() {
	c.cancel()
	c.tasks.Wait()
}

// Watch follows the instances whose checks pass.
func (c *Consul) Watch(service string, update func([]string)) {
	c.tasks.Go(func() { c.follow(service, update) })
}

func (c *Consul) follow(service string, update func([]string)) {
	var index uint64
	pause := firstPause
	for c.ctx.Err() == nil {
		query := (&api.QueryOptions{WaitIndex: index, WaitTime: c.wait, AllowStale: true}).WithContext(c.ctx)
		entries, meta, err := c.client.Health().Service(service, "", true, query)
		if err != nil {
			if c.ctx.Err() == nil {
				c.log.Warn("consul query failed; keeping the last list", "service", service, "error", err)
			}
			index = 0 // whatever changed meanwhile is told at once
			pause = c.rest(pause)
			continue
		}
		pause = firstPause
		next := nextIndex(index, meta.LastIndex)
		if next != index || index == 0 {
			update(addresses(entries))
		}
		if next == 0 { // nothing to block on: do not spin
			c.rest(firstPause)
		}
		index = next
	}
}

// nextIndex is what to block on next: a Consul whose index went backwards was restored or replaced, and is asked anew
// from the start (Consul's own advice for blocking queries).
func nextIndex(before, now uint64) uint64 {
	if now < before {
		return 0
	}
	return now
}

// rest waits a little, with jitter so that many programs do not come back at once, and gives the next pause.
func (c *Consul) rest(pause time.Duration) time.Duration {
	timer := time.NewTimer(jitter(pause))
	defer timer.Stop()
	select {
	case <-c.ctx.Done():
	case <-timer.C:
	}
	return min(2*pause, lastPause)
}

// jitter is a pause of about this length.
func jitter(pause time.Duration) time.Duration {
	return pause/2 + rand.N(pause) //nolint:gosec // spreads load, guards nothing
}

func addresses(entries []*api.ServiceEntry) []string {
	list := make([]string, 0, len(entries))
	for _, e := range entries {
		host := e.Service.Address
		if host == "" {
			host = e.Node.Address
		}
		list = append(list, net.JoinHostPort(host, strconv.Itoa(e.Service.Port)))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
