package matchbench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// Freshness is whether a find saw what was answered before it was sent.
type Freshness struct {
	Created, Asked, Stale int64
	Behind                int64 // finds that were told to come back: the index could not catch up
	Rate                  float64
}

// freshness creates so many people a second and asks, right after the answer, for every fifth of them: by all that is known, and
// then, of those, some after a change of name, and after being deleted.
func (b *big) freshness(ctx context.Context, seedOf uint64, perSecond int, over time.Duration) (Freshness, error) {
	generator, err := synth.New(synth.Options{Seed: seedOf + 6, Complete: true})
	if err != nil {
		return Freshness{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, over+time.Minute)
	defer cancel()
	var f Freshness
	var faults []error
	var mu sync.Mutex
	var all sync.WaitGroup
	pace, number := rate.NewLimiter(rate.Limit(perSecond), 16), 0
	slots := make(chan struct{}, 64)
	began := time.Now()
	for r := range generator.Records() {
		if time.Since(began) > over || pace.Wait(ctx) != nil {
			break
		}
		number++
		p, nth := Demographics(&r, 0), number
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := b.fresh(ctx, &f, &p, nth); err != nil {
				mu.Lock()
				faults = append(faults, err)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	f.Rate = float64(f.Created) / time.Since(began).Seconds()
	if len(faults) > 0 {
		return f, fmt.Errorf("%d requests failed, the first: %w", len(faults), faults[0])
	}
	return f, ctx.Err()
}

func (b *big) fresh(ctx context.Context, f *Freshness, p *linkage.Demographics, nth int) error {
	var made struct{ ID int64 }
	l := lineOf(p)
	l.Addresses, l.Contacts, l.Aliases, l.Identifiers = nil, nil, nil, nil
	if err := b.tenant.call(ctx, http.MethodPost, "/v3/patient", l, &made); err != nil {
		return err
	}
	atomic.AddInt64(&f.Created, 1)
	if nth%5 != 0 {
		return nil
	}
	q := namesAndBirth(questionOf(p))
	q.Limit, q.MinScore, q.Last4SSN = 100, 0, p.SSNLast4
	if err := b.sees(ctx, f, q, made.ID, true); err != nil {
		return err
	}
	switch nth % 20 {
	case 0:
		if err := b.tenant.call(ctx, http.MethodDelete, patientPath(made.ID), nil, nil); err != nil {
			return err
		}
		return b.sees(ctx, f, q, made.ID, false)
	case 10:
		q.LastName = "Ottermann-" + q.LastName
		if err := b.tenant.call(ctx, http.MethodPatch, patientPath(made.ID), map[string]any{"lastName": q.LastName}, nil); err != nil {
			return err
		}
		return b.sees(ctx, f, q, made.ID, true)
	}
	return nil
}

// sees counts whether somebody is found, or not, as it has to be.
func (b *big) sees(ctx context.Context, f *Freshness, q question, id int64, there bool) error {
	var got found
	for {
		body := q
		err := b.tenant.once(ctx, http.MethodPost, "/v3/patient/find", mustJSON(body), &got)
		var r *refused
		if errors.As(err, &r) && r.status == http.StatusServiceUnavailable {
			atomic.AddInt64(&f.Behind, 1)
			continue
		}
		if err != nil {
			return err
		}
		break
	}
	is := false
	for _, a := range got.Content {
		is = is || a.PatientID == id
	}
	atomic.AddInt64(&f.Asked, 1)
	if is != there {
		atomic.AddInt64(&f.Stale, 1)
	}
	return nil
}
