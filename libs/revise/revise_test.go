package revise_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/revise"
)

func TestWhoIsOvertakenStartsOver(t *testing.T) {
	tries := 0
	got, err := revise.UntilSaved(t.Context(), "record", func() (int, bool, error) {
		tries++
		return tries, tries == 4, nil
	})
	if err != nil || got != 4 {
		t.Errorf("%d after %d tries: %v", got, tries, err)
	}
}

func TestAFailureEndsIt(t *testing.T) {
	tries, broken := 0, errors.New("broken")
	_, err := revise.UntilSaved(t.Context(), "record", func() (int, bool, error) {
		tries++
		return 0, false, broken
	})
	if !errors.Is(err, broken) || tries != 1 {
		t.Errorf("%d tries: %v", tries, err)
	}
}

func TestTheTimeEndsIt(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	got, err := revise.UntilSaved(ctx, "record", func() (int, bool, error) { return 7, false, nil })
	if !fault.Is(err, fault.Unavailable) || got != 0 {
		t.Errorf("%d: %v", got, err)
	}
}
