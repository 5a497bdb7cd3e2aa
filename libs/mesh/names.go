package mesh

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"
)

// namePrefix marks an address in PEERS whose host is a name with an address for each live instance, as a headless
// Service of Kubernetes has. Without it a name stands for one instance, whatever is behind it.
const namePrefix = "dns:"

// Names is a directory that asks DNS again and again. While DNS does not answer it keeps the last list, and for a while
// when it says that there is nobody, as Consul's does: a name without addresses is more often a probe that fails
// everywhere at once than the end of all instances. DNS tells neither zones nor weights.
type Names struct {
	peers  Static
	lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	log    *slog.Logger
	every  time.Duration
	cancel context.CancelFunc
	ctx    context.Context //nolint:containedctx // the directory's own life, ended by Close
	tasks  sync.WaitGroup
}

// A list is as old as this at the most, besides what resolvers on the way remember. The first question holds a start up
// no longer than firstAnswer.
const (
	askAgain    = 2 * time.Second
	firstAnswer = time.Second
)

// NewNames makes a directory of peers of which some are names. Close ends it.
func NewNames(peers Static, log *slog.Logger) *Names {
	ctx, cancel := context.WithCancel(context.Background())
	return &Names{peers: peers, lookup: net.DefaultResolver.LookupNetIP, log: log, every: askAgain, ctx: ctx, cancel: cancel}
}

// Close ends all watches and waits for them.
func (n *Names) Close() {
	n.cancel()
	n.tasks.Wait()
}

// Watch calls update before it returns, unless DNS keeps it waiting: a program that says that it can serve should know
// its neighbours.
func (n *Names) Watch(service string, update func([]Endpoint)) {
	if !slices.ContainsFunc(n.peers[service], isName) {
		n.peers.Watch(service, update)
		return
	}
	w := &nameWatch{names: n, service: service, update: update, last: map[string][]string{}, gone: map[string]time.Time{}}
	w.look(firstAnswer)
	n.tasks.Go(w.follow)
}

func isName(address string) bool { return strings.HasPrefix(address, namePrefix) }

// nameWatch is one service that is watched.
type nameWatch struct {
	names   *Names
	service string
	update  func([]Endpoint)
	last    map[string][]string  // by name, what it was when DNS answered last
	gone    map[string]time.Time // by name, since when DNS has known nobody
	told    []string
	knows   bool // all names were answered, be it that there is nobody; what was told is a list
	failing bool // it has been said that DNS does not answer
}

func (w *nameWatch) follow() {
	for {
		timer := time.NewTimer(jitter(w.names.every))
		select {
		case <-w.names.ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		w.look(w.names.every)
	}
}

// look asks for all names of the service and tells what is new.
func (w *nameWatch) look(limit time.Duration) {
	ctx, cancel := context.WithTimeout(w.names.ctx, limit)
	defer cancel()
	var list []string
	answered := true
	for _, entry := range w.names.peers[w.service] {
		if !isName(entry) {
			list = append(list, entry)
			continue
		}
		answered = w.ask(ctx, entry) && answered
		list = append(list, w.last[entry]...)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if !slices.Equal(list, w.told) || answered && !w.knows {
		w.told = list
		w.update(alike(list...))
	}
	w.knows = w.knows || answered
}

// ask brings what is known of one name up to date. It reports whether DNS answered.
func (w *nameWatch) ask(ctx context.Context, entry string) bool {
	found, err := w.names.resolve(ctx, strings.TrimPrefix(entry, namePrefix))
	if err == nil {
		w.last[entry] = found
		delete(w.gone, entry)
		w.failing = false
		return true
	}
	if w.names.ctx.Err() != nil {
		return false
	}
	if !w.failing {
		w.names.log.Warn("name lookup failed; keeping the last list", "service", w.service, "error", err)
	}
	w.failing = true
	var unknown *net.DNSError
	if !errors.As(err, &unknown) || !unknown.IsNotFound {
		return false
	}
	if since, ok := w.gone[entry]; !ok {
		w.gone[entry] = time.Now()
	} else if time.Since(since) >= keepList {
		delete(w.last, entry)
	}
	return true
}

// resolve gives the addresses of a name. Of an instance that has one of each family only the first is taken: it would be
// taken for two.
func (n *Names) resolve(ctx context.Context, address string) ([]string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	found, err := n.lookup(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(found, is4) {
		found = slices.DeleteFunc(found, func(a netip.Addr) bool { return !is4(a) })
	}
	list := make([]string, 0, len(found))
	for _, a := range found {
		list = append(list, net.JoinHostPort(a.Unmap().String(), port))
	}
	return list, nil
}

func is4(a netip.Addr) bool { return a.Is4() || a.Is4In6() }
