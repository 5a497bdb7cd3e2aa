package replica

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
)

const (
	appliers = 2 // pages that are taken apart at a time, while the next are on their way
	ahead    = 2 // pages that wait for it
)

// load gets all of a tenant's people. What it has read when it fails is forgotten.
func (r *Replica[P]) load(ctx context.Context, t *tenant[P]) (P, error) {
	var none P
	select {
	case r.loads <- struct{}{}:
		defer func() { <-r.loads }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	began := r.o.Now()
	people := r.empty()
	position, err := r.fill(ctx, t, people)
	r.meters.loaded(ctx, r.o.Now().Sub(began), err)
	if err != nil {
		r.drop(t)
		return none, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.people, t.loaded, t.position, t.pulled, t.pause = people, true, position, began, shortestPause
	t.due = r.o.Now().Add(t.pause)
	return people, nil
}

func (r *Replica[P]) fill(ctx context.Context, t *tenant[P], people P) (string, error) {
	work, ctx := errgroup.WithContext(ctx)
	pages := make(chan feed.Page, ahead)
	var position string
	work.Go(func() error {
		defer close(pages)
		var err error
		position, err = r.pages(ctx, t.id, "", loadLimit, func(page feed.Page) error {
			select {
			case pages <- page:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return err
	})
	for range appliers {
		work.Go(func() error {
			for page := range pages {
				people.Apply(page.People)
				if err := r.account(t, people, loading); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := work.Wait()
	return position, err
}
