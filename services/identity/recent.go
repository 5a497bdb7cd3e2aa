package identity

import (
	"sync"
	"time"
)

// How long a client that has just authenticated is remembered, and how many are.
const (
	recentFor  = time.Second
	recentMost = 10_000
)

// Recent remembers clients that authenticated a moment ago, so that one that fetches many tokens is not looked up for
// each. That is safe without any word between replicas: a token is worth nothing without its client, so what a client
// is given in the second after its deletion opens nothing. It is safe for concurrent use; the zero value is empty.
type Recent struct {
	mu      sync.Mutex
	clients map[string]recentClient
}

type recentClient struct {
	client Client
	until  time.Time
}

// find gives a client that is remembered; nil for others.
func (r *Recent) find(id string, now time.Time) *Client {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, ok := r.clients[id]
	if !ok || now.After(found.until) {
		return nil
	}
	return &found.client
}

// keep remembers a client. When too many are remembered all are forgotten: they come back by themselves.
func (r *Recent) keep(c Client, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.clients == nil || len(r.clients) >= recentMost {
		r.clients = map[string]recentClient{}
	}
	r.clients[c.ID] = recentClient{client: c, until: now.Add(recentFor)}
}

// forget is for a client that was deleted here.
func (r *Recent) forget(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.clients, id)
}
