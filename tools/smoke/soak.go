package smoke

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Soak is what a mesh was asked for, again and again, while something was done to it.
type Soak struct {
	Requests int64
	Failed   int64
	First    error         // of the failures
	Slowest  time.Duration // of the requests that went well
}

// Soak creates, reads, changes and deletes patients until the time is over, with so many workers, each sending a request
// when it has its answer. Nothing is sent twice: what fails is counted.
func (c Check) Soak(ctx context.Context, workers int, long time.Duration) (Soak, error) {
	if err := c.Ready(ctx); err != nil {
		return Soak{}, err
	}
	end := time.Now().Add(long)
	var s soak
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for time.Now().Before(end) && ctx.Err() == nil {
				s.round(ctx, c)
			}
		})
	}
	all.Wait()
	return Soak{
		Requests: s.requests.Load(), Failed: s.failed.Load(), First: s.first, Slowest: time.Duration(s.slowest.Load()),
	}, ctx.Err()
}

// soak counts while it is under way.
type soak struct {
	requests, failed, slowest atomic.Int64
	once                      sync.Once
	first                     error
}

// round is the life of one patient.
func (s *soak) round(ctx context.Context, c Check) {
	sent := patient{FirstName: "Soak", LastName: "Test" + strings.ToLower(rand.Text()[:10]), DOB: "1970-01-01"}
	var stored, read patient
	if !s.ask(func() error { return c.call(ctx, http.MethodPost, "/v3/patient", sent, &stored) }) {
		return
	}
	path := fmt.Sprintf("/v3/patient/%d", stored.ID)
	s.ask(func() error {
		err := c.call(ctx, http.MethodGet, path, nil, &read)
		if sent.ID = stored.ID; err == nil && read != sent {
			err = errors.New("what was read is not what was stored")
		}
		return err
	})
	s.ask(func() error {
		return c.call(ctx, http.MethodPost, "/v3/patient/find", map[string]string{"firstName": sent.FirstName, "lastName": sent.LastName}, nil)
	})
	s.ask(func() error { return c.call(ctx, http.MethodPatch, path, map[string]string{"gender": "female"}, nil) })
	s.ask(func() error { return c.call(ctx, http.MethodDelete, path, nil, nil) })
}

// ask counts one request, and reports whether it went well.
func (s *soak) ask(do func() error) bool {
	began := time.Now()
	err := do()
	s.requests.Add(1)
	if err != nil {
		s.failed.Add(1)
		s.once.Do(func() { s.first = err })
		return false
	}
	took := int64(time.Since(began))
	for {
		slowest := s.slowest.Load()
		if took <= slowest || s.slowest.CompareAndSwap(slowest, took) {
			return true
		}
	}
}
