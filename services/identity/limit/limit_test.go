package limit_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/identity/limit"
)

func open(t *testing.T, url string) *limit.Counters {
	t.Helper()
	client, err := cache.Open(url, cache.Telemetry{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return limit.New(client)
}

func TestAttemptsAtOnceCannotPassTogether(t *testing.T) {
	t.Parallel()
	c := open(t, testkit.Redis(t))
	var passed atomic.Int64
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if wait, err := c.Take(t.Context(), "k", 10, time.Minute); err == nil && wait == 0 {
				passed.Add(1)
			}
		})
	}
	all.Wait()
	if got := passed.Load(); got != 10 {
		t.Errorf("%d of 50 passed, want 10", got)
	}
	if wait, err := c.Take(t.Context(), "k", 10, time.Minute); err != nil || wait <= 0 || wait > time.Minute {
		t.Errorf("wait %v, %v", wait, err)
	}
}

func TestCountsAreGivenBack(t *testing.T) {
	t.Parallel()
	c := open(t, testkit.Redis(t))
	take := func() bool {
		wait, err := c.Take(t.Context(), "k", 2, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return wait == 0
	}
	for i, want := range []bool{true, true, false} {
		if take() != want {
			t.Fatalf("of two: the try %d", i)
		}
	}
	err := c.GiveBack(t.Context(), "k")
	first, second := take(), take()
	if err != nil || !first || second {
		t.Errorf("one given back: %v", err)
	}
	if err := c.Forget(t.Context(), "k"); err != nil || !take() {
		t.Errorf("set free: %v", err)
	}
}

func TestDistinctMembersAreCounted(t *testing.T) {
	t.Parallel()
	c := open(t, testkit.Redis(t))
	for _, step := range []struct {
		member string
		passes bool
	}{{"a", true}, {"a", true}, {"b", true}, {"c", false}, {"a", true}} {
		if wait, err := c.TakeDistinct(t.Context(), "k", step.member, 2, time.Minute); err != nil || (wait == 0) != step.passes {
			t.Errorf("%+v: %v, %v", step, wait, err)
		}
	}
	if err := c.GiveBackDistinct(t.Context(), "k", "a"); err != nil {
		t.Error(err)
	}
	if wait, err := c.TakeDistinct(t.Context(), "k", "c", 2, time.Minute); err != nil || wait != 0 {
		t.Errorf("after one was given back: %v, %v", wait, err)
	}
}

func TestWithoutRedisNothingIsLetThrough(t *testing.T) {
	t.Parallel()
	c := open(t, "redis://127.0.0.1:1")
	if _, err := c.Take(t.Context(), "k", 1, time.Minute); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
}
