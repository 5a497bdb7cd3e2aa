package replica

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
)

const (
	pullLimit = 10 * time.Second // of one page
	loadLimit = 30 * time.Second

	shortestPause = time.Second // between pulls that nobody asks for: of a tenant that changes or is asked about
	longestPause  = time.Minute // and of one that rests
)

// lost reports that a position is worth nothing any more.
func lost(err error) bool { return err != nil && fault.Of(err).Code == feed.CodeLost }

// pages calls take with one page after the other, from the first to the last, and gives the position of the first, which
// holds once all were taken.
func (r *Replica[P]) pages(ctx context.Context, tenant, since string, limit time.Duration, take func(feed.Page) error) (string, error) {
	position := ""
	size := feed.MostPeople
	for after := int64(0); ; {
		page, err := r.page(ctx, tenant, since, after, size, limit)
		if err != nil {
			return "", err
		}
		if position == "" {
			position = page.Position
		}
		if err := take(page); err != nil {
			return "", err
		}
		if !page.More || len(page.People) == 0 {
			return position, nil
		}
		after = page.People[len(page.People)-1].ID
		size = min(feed.MostPeople, 2*len(page.People)) // pages of people with very much on them come shorter than asked for
	}
}

func (r *Replica[P]) page(ctx context.Context, tenant, since string, after int64, size int, limit time.Duration) (feed.Page, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return r.source.Page(ctx, tenant, since, after, size)
}

// pull applies what changed since the tenant's position. Should the tenant be dropped meanwhile, who waits for it still
// gets its people, and up to date.
func (r *Replica[P]) pull(ctx context.Context, t *tenant[P], people P, since string) error {
	began, changed := r.o.Now(), 0
	position, err := r.pages(ctx, t.id, since, pullLimit, func(page feed.Page) error {
		if len(page.People) > 0 {
			people.Apply(page.People)
			changed += len(page.People)
		}
		return nil
	})
	r.meters.pulled(ctx, r.o.Now().Sub(began), changed, err)
	if err == nil && changed > 0 {
		err = r.account(t, people, grown)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && t.loaded {
		t.position = position
	}
	t.rest(began, err == nil && changed > 0)
	if err == nil {
		t.wanted = t.due
	}
	return err
}

// rest decides when the tenant is pulled for next without being asked: soon while it changes or is asked about, then
// more and more seldom. The lock is held.
func (t *tenant[P]) rest(now time.Time, changed bool) {
	if changed || now.Sub(t.used) < shortestPause || t.pause == 0 {
		t.pause = shortestPause
	} else {
		t.pause = min(2*t.pause, longestPause)
	}
	t.due = now.Add(t.pause)
}
