package replica

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/libs/run"
)

const (
	appliers = 2 // pages that are taken apart at a time, while the next are on their way
	ahead    = 2 // pages that wait for it

	// Most tenants are read within shortPages, and so many of them at a time. Those that are not go on at Options.Loads at
	// a time: nobody who is small waits for somebody large.
	shortPages = 4
	shortLoads = 8
)

// errGone is what those are told who waited for a tenant that has made room meanwhile: another one of the same id is to be
// loaded, whose memory is counted.
var errGone = errors.New("the tenant has made room for others")

// load gets all of a tenant's people. What it has read when it fails is forgotten.
func (r *Replica[P]) load(ctx context.Context, t *tenant[P]) (P, error) {
	var none P
	if r.gone(t) {
		return none, errGone
	}
	lane := lane{short: r.short, long: r.long}
	if err := lane.enter(ctx, lane.short); err != nil {
		return none, err
	}
	defer lane.leave()
	began := r.o.Now()
	people := r.empty()
	position, err := r.fill(ctx, t, people, &lane)
	r.meters.loaded(ctx, r.o.Now().Sub(began), err)
	if err != nil {
		r.drop(t)
		return none, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t.people, t.loaded, t.position, t.pause = people, true, position, shortestPause
	t.due = r.o.Now().Add(t.pause)
	t.wanted = t.due
	return people, nil
}

func (r *Replica[P]) gone(t *tenant[P]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return t.gone
}

// lane is where a load has its place.
type lane struct {
	short, long chan struct{}
	in          chan struct{}
	pages       int
}

func (l *lane) enter(ctx context.Context, in chan struct{}) error {
	select {
	case in <- struct{}{}:
		l.in = in
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *lane) leave() {
	if l.in != nil {
		<-l.in
		l.in = nil
	}
}

// page lets a load that has become long change over before it goes on.
func (l *lane) page(ctx context.Context) error {
	if l.pages++; l.pages != shortPages {
		return nil
	}
	l.leave()
	return l.enter(ctx, l.long)
}

func (r *Replica[P]) fill(ctx context.Context, t *tenant[P], people P, lane *lane) (string, error) {
	work, ctx := errgroup.WithContext(ctx)
	pages := make(chan feed.Page, ahead)
	var position string
	work.Go(func() error {
		defer close(pages)
		var err error
		position, err = r.pages(ctx, t.id, "", loadLimit, func(page feed.Page) error {
			select {
			case pages <- page:
				if page.More {
					return lane.page(ctx)
				}
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
				if err := run.Safely(func() error { people.Apply(page.People); return nil }); err != nil {
					return err
				}
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
