package patient

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Precondition says whether a version may be changed; its error is the answer when it may not.
type Precondition func(version int64) error

// errOvertaken says that another change came first.
var errOvertaken = errors.New("another change came first")

// untilSaved goes through a change again and again until it is saved over the version that it read. No lock is held
// between its two trips; when another change came first it starts over, after a pause that chance makes longer the more
// there are, until the request's deadline.
func untilSaved[N any](ctx context.Context, attempt func() (after N, saved bool, err error)) (N, error) {
	pauses := &backoff.ExponentialBackOff{
		InitialInterval: 2 * time.Millisecond, RandomizationFactor: 0.9, Multiplier: 1.5, MaxInterval: 100 * time.Millisecond,
	}
	after, err := backoff.Retry(ctx, func() (N, error) {
		after, saved, err := attempt()
		if err != nil {
			return after, backoff.Permanent(err)
		}
		if !saved {
			return after, errOvertaken
		}
		return after, nil
	}, backoff.WithBackOff(pauses), backoff.WithMaxElapsedTime(0))
	var none N
	if errors.Is(err, errOvertaken) || errors.Is(err, context.DeadlineExceeded) {
		return none, fault.Away(err, "The patient is being changed by too many at once; try again shortly.")
	}
	return after, err
}

// permitted is nil when a change breaks no rule and the version it was read at may be changed.
func permitted(faults []fault.Field, may Precondition, version int64) error {
	if len(faults) > 0 {
		return fault.InvalidFields(faults)
	}
	if may != nil {
		return may(version)
	}
	return nil
}

// keeper keeps the entry of what changed nothing.
type keeper interface {
	Keep(ctx context.Context, e audit.Entry) error
}

// refused keeps that an action was, and gives the refusal.
func refused(ctx context.Context, store keeper, e audit.Entry, refusal error) error {
	if err := store.Keep(ctx, e.Failed()); err != nil {
		return err
	}
	return refusal
}
