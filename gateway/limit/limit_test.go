package limit

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

const kind byte = 'k'

func client(t testing.TB, url string) *redis.Client {
	t.Helper()
	o, err := redis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	o.MaxRetries = -1
	c := redis.NewClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// counted tells how many commands went to Redis.
type counted struct{ commands int }

func (c *counted) DialHook(next redis.DialHook) redis.DialHook { return next }
func (c *counted) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		c.commands++
		return next(ctx, cmd)
	}
}

func (c *counted) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func TestTwoGatewaysShareABudget(t *testing.T) {
	url := testkit.Redis(t)
	rates := map[byte]Rate{kind: {PerSecond: 1, Burst: 20}}
	a, b := New(client(t, url), rates, 1000, time.Now), New(client(t, url), rates, 1000, time.Now)
	k := Key{Kind: kind, ID: [32]byte{1}}
	passed := 0
	for range 60 {
		for _, l := range []*Limiter{a, b} {
			if ok, wait := l.Take(t.Context(), k); ok {
				passed++
			} else if wait <= 0 {
				t.Error("refused without a time to wait")
			}
		}
	}
	if passed < 20 || passed > 23 {
		t.Errorf("%d passed a budget of 20", passed)
	}
	if ok, _ := a.Take(t.Context(), Key{Kind: kind, ID: [32]byte{2}}); !ok {
		t.Error("another key was refused")
	}
}

func TestASteadyCallerCostsFewTrips(t *testing.T) {
	c, n := client(t, testkit.Redis(t)), &counted{}
	c.AddHook(n)
	l := New(c, map[byte]Rate{kind: {PerSecond: 100_000, Burst: 100_000}}, 1000, time.Now)
	for range 10_000 {
		if ok, _ := l.Take(t.Context(), Key{Kind: kind}); !ok {
			t.Fatal("refused")
		}
	}
	if n.commands > 60 {
		t.Errorf("10,000 requests made %d commands", n.commands)
	}
}

func TestWithoutRedisBudgetsAreLocal(t *testing.T) {
	c := redis.NewClient(&redis.Options{Network: "unix", Addr: t.TempDir() + "/none", MaxRetries: -1, DialerRetries: 1})
	defer c.Close()
	now := time.Unix(1e9, 0)
	l := New(c, map[byte]Rate{kind: {PerSecond: 2, Burst: 3}}, 1000, func() time.Time { return now })
	passed := 0
	for range 10 {
		if ok, _ := l.Take(t.Context(), Key{Kind: kind}); ok {
			passed++
		}
	}
	now = now.Add(500 * time.Millisecond)
	again, _ := l.Take(t.Context(), Key{Kind: kind})
	if passed != 3 || !again {
		t.Errorf("%d passed, then %v", passed, again)
	}
	if ok, _ := l.Take(t.Context(), Key{Kind: 'z'}); !ok {
		t.Error("a kind without a rate was limited")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l := New(nil, nil, 640, time.Now)
	for n := range 10_000 {
		l.budget(Key{Kind: kind, ID: [32]byte{byte(n), byte(n >> 8)}})
	}
	total := 0
	for i := range l.shards {
		total += len(l.shards[i].budgets)
	}
	if total > 640 {
		t.Errorf("%d budgets", total)
	}
}

func TestOfAddress(t *testing.T) {
	key := func(text string) Key { return OfAddress(kind, netip.MustParseAddr(text)) }
	if key("2001:db8::1") != key("2001:db8::ffff:2") || key("2001:db8:0:1::1") == key("2001:db8::1") {
		t.Error("IPv6 is not kept by networks of 64 bits")
	}
	if key("10.0.0.1") == key("10.0.0.2") || key("10.0.0.1") != key("::ffff:10.0.0.1") {
		t.Error("IPv4 is not kept by address")
	}
}

func BenchmarkTake(b *testing.B) {
	l := New(nil, map[byte]Rate{kind: {PerSecond: 1000, Burst: 1000}}, 1000, time.Now)
	k := Key{Kind: kind}
	budget := l.budget(k)
	budget.left, budget.until = 1<<60, 1<<62
	for b.Loop() {
		l.Take(b.Context(), k)
	}
}
