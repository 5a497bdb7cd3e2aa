package patient

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Precondition says whether a version may be changed; its error is the answer when it may not.
type Precondition func(version int64) error

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
