package redis

import (
	"fmt"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// Embedded is an imitation of Redis inside this process, for machines without one. Its keys expire to the second.
type Embedded struct {
	server *miniredis.Miniredis
	stop   func()
	done   chan struct{}
}

// Embed starts the imitation at the server's address, with its password.
func (s Server) Embed() (*Embedded, error) {
	server := miniredis.NewMiniRedis()
	server.RequireAuth(s.Password)
	if err := server.StartAddr(s.address()); err != nil {
		return nil, fmt.Errorf("embedded Redis: %w", err)
	}
	stop := make(chan struct{})
	e := &Embedded{server: server, stop: sync.OnceFunc(func() { close(stop) }), done: make(chan struct{})}
	go e.tick(stop)
	return e, nil
}

// tick moves the imitation's clock, which stands still by itself.
func (e *Embedded) tick(stop <-chan struct{}) {
	defer close(e.done)
	const step = time.Second
	tick := time.NewTicker(step)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
			e.server.FastForward(step)
		}
	}
}

// Close ends it.
func (e *Embedded) Close() {
	e.stop()
	<-e.done
	e.server.Close()
}
