// Package revise changes what others may change at the same time, without a lock: what was read is saved over the version
// that it was read at, and whoever was overtaken starts over. It does not know what is changed.
package revise

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

var errOvertaken = errors.New("another change came first")

// UntilSaved makes attempts, each of which reads, changes and saves, until one is saved or fails. Between them it pauses,
// by chance the longer the more there have been. When the context's time is up it gives a fault of kind Unavailable that
// calls the thing by its name.
func UntilSaved[T any](ctx context.Context, name string, attempt func() (after T, saved bool, err error)) (T, error) {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: 2 * time.Millisecond, RandomizationFactor: 0.9, Multiplier: 1.5, MaxInterval: 100 * time.Millisecond,
	}
	after, err := backoff.Retry(ctx, func() (T, error) {
		after, saved, err := attempt()
		if err != nil {
			return after, backoff.Permanent(err)
		}
		if !saved {
			return after, errOvertaken
		}
		return after, nil
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
	var none T
	if errors.Is(err, errOvertaken) || errors.Is(err, context.DeadlineExceeded) {
		return none, fault.Away(err, "The "+name+" is being changed by too many at once; try again shortly.")
	}
	return after, err
}
