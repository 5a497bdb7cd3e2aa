package mesh

import (
	"cmp"
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
// list it was told: instances outlive their registry. It does so for a while, too, when Consul says that there is
// nobody any more: a Consul that lost its memory knows nobody until all have registered anew, and a check that fails
// everywhere at once says more about the check than about all instances. Who is really gone is found out by calling.
type Consul struct {
	client *api.Client
	addr   string
	log    *slog.Logger
	wait   time.Duration // the longest blocking query
	keeps  time.Duration // how long the last list outlives an empty one
	looks  time.Duration // how often a registration is looked at
	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // the directory's own life, ended by Close
	tasks  sync.WaitGroup
}

// The pause after a failed query grows from the first to the second.
const (
	firstPause = 200 * time.Millisecond
	lastPause  = 15 * time.Second
)

// keepList is how long the last list outlives an empty one: as long as an instance that is gone stays in the catalogue,
// so that an address that was given to somebody else is not called for longer than it would be anyway.
const keepList = time.Minute

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
	return &Consul{
		client: client, addr: address, log: log, wait: time.Minute, keeps: keepList, looks: lookAgain, ctx: ctx, cancel: cancel,
	}, nil
}

// Close ends all watches and waits for them.
func (c *Consul) Close() {
	c.cancel()
	c.tasks.Wait()
}

// Watch follows the instances whose checks pass. As with Names, update is called before it returns, unless Consul keeps it
// waiting or cannot be asked.
func (c *Consul) Watch(service string, update func([]Endpoint)) {
	asked := make(chan struct{})
	c.tasks.Go(func() { c.follow(service, update, sync.OnceFunc(func() { close(asked) })) })
	timer := time.NewTimer(firstAnswer)
	defer timer.Stop()
	select {
	case <-asked:
	case <-timer.C:
	case <-c.ctx.Done():
	}
}

// follow calls asked when Consul has answered, or has not.
func (c *Consul) follow(service string, update func([]Endpoint), asked func()) {
	var index uint64
	var list []Endpoint   // as it was told last
	var emptied time.Time // when Consul began to know nobody; zero while it knows somebody
	wait, pause := c.wait, firstPause
	for c.ctx.Err() == nil {
		query := (&api.QueryOptions{WaitIndex: index, WaitTime: wait, AllowStale: true}).WithContext(c.ctx)
		entries, meta, err := c.client.Health().Service(service, "", true, query)
		if err != nil {
			if c.ctx.Err() == nil {
				c.log.Warn("consul query failed; keeping the last list", "service", service, "error", err)
			}
			asked()
			index = 0 // whatever changed meanwhile is told at once
			pause = c.rest(pause)
			continue
		}
		pause, wait = firstPause, c.wait
		next := nextIndex(index, meta.LastIndex)
		switch now := endpoints(entries); {
		case len(now) > 0 || len(list) == 0:
			emptied = time.Time{}
			if next != index || index == 0 {
				list = now
				update(list)
			}
		case emptied.IsZero():
			emptied, wait = time.Now(), c.keeps
			c.log.Warn("consul knows no instance any more; keeping the last list for a while", "service", service)
		case time.Since(emptied) < c.keeps:
			wait = max(c.keeps-time.Since(emptied), time.Millisecond)
		default:
			list = nil
			update(list)
		}
		asked()
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

func endpoints(entries []*api.ServiceEntry) []Endpoint {
	list := make([]Endpoint, 0, len(entries))
	for _, e := range entries {
		host := e.Service.Address
		if host == "" {
			host = e.Node.Address
		}
		list = append(list, Endpoint{
			Address: net.JoinHostPort(host, strconv.Itoa(e.Service.Port)),
			Zone:    e.Service.Meta[zoneMeta], Weight: e.Service.Weights.Passing,
		})
	}
	slices.SortFunc(list, func(a, b Endpoint) int { return cmp.Compare(a.Address, b.Address) })
	return slices.CompactFunc(list, func(a, b Endpoint) bool { return a.Address == b.Address })
}
