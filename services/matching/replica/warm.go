package replica

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

const (
	mostWarm  = 1000                   // tenants
	warmPause = 200 * time.Millisecond // until what failed is tried again
)

var errCold = errors.New("who was asked about of late is still being loaded")

// Ready is nil once the process has warmed up.
func (r *Replica[P]) Ready(context.Context) error {
	select {
	case <-r.warm:
		return nil
	default:
		return errCold
	}
}

// warmUp loads who was asked about before this process began, the latest first, while there is room and time. Who cannot
// be loaded in time is loaded when asked about.
func (r *Replica[P]) warmUp(ctx context.Context) {
	defer close(r.warm)
	ctx, cancel := context.WithTimeout(ctx, r.o.WarmUp)
	defer cancel()
	var tenants []string
	err := persist(ctx, func() (err error) {
		tenants, err = r.uses.Recent(ctx, mostWarm)
		return err
	})
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(r.o.Loads)
	for _, tenant := range tenants {
		if ctx.Err() != nil { // no time, or no room
			break
		}
		work.Go(func() error {
			return persist(ctx, func() error {
				_, err := r.fresh(ctx, tenant, true)
				return err
			})
		})
	}
	if err = errors.Join(err, work.Wait()); err != nil {
		r.log.InfoContext(ctx, "index: not all were loaded before the start", "error", err.Error())
	}
}

// persist tries until it succeeds, there is no time left, or no room.
func persist(ctx context.Context, try func() error) error {
	for {
		err := try()
		if err == nil || fault.Of(err).Code == CodeFull {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(warmPause):
		}
	}
}
