package attachment

import (
	"context"
	"log/slog"
	"time"
)

// Intents is what a collector needs of the store.
type Intents interface {
	// Claim takes some of the blobs whose intent has expired, for a while and for this collector alone. A blob that was
	// claimed once becomes nobody's content.
	Claim(ctx context.Context, atMost int, lease time.Duration) ([]string, error)
	Forget(ctx context.Context, blob string) error
}

// Collector deletes what uploads left behind that were never completed. Several may work beside each other.
type Collector struct {
	Intents Intents
	Blobs   Blobs
	Log     *slog.Logger
	Every   time.Duration // how often it looks
}

const (
	collectMost  = 100 // at a time
	collectLease = 10 * time.Minute
)

// Run collects until ctx ends.
func (c *Collector) Run(ctx context.Context) error {
	ticker := time.NewTicker(c.Every)
	defer ticker.Stop()
	for {
		for {
			claimed, err := c.Collect(ctx)
			if err != nil && ctx.Err() == nil {
				c.Log.WarnContext(ctx, "collect what uploads left behind", "error", err.Error())
			}
			if err != nil || claimed < collectMost {
				break
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// Collect deletes some expired blobs, then their intents, and tells how many it found. What cannot be deleted is found
// again when its claim is over.
func (c *Collector) Collect(ctx context.Context) (claimed int, err error) {
	ctx, cancel := context.WithTimeout(ctx, collectLease)
	defer cancel()
	names, err := c.Intents.Claim(ctx, collectMost, collectLease)
	for _, name := range names {
		if deleted := c.Blobs.Delete(ctx, name); deleted != nil {
			err = deleted
			continue
		}
		if forgotten := c.Intents.Forget(ctx, name); forgotten != nil {
			err = forgotten
		}
	}
	return len(names), err
}
