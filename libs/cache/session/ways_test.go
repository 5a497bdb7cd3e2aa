package session

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

// cases are what a store does whatever way Redis is run.
func cases() map[string]func(*testing.T, Store) {
	return map[string]func(*testing.T, Store){
		"keep and find":                            keepAndFind,
		"kept no longer than the token":            keepEndsWithTheToken,
		"revoke ends what is stored":               revokeEndsWhatIsStored,
		"a refill brings nothing back":             refillDoesNotBringASessionBack,
		"a refill between steps of a revocation":   refillBetweenTheStepsOfARevocation,
		"removal leaves a tombstone":               removalLeavesATombstone,
		"the first to keep wins":                   theFirstToKeepWins,
		"drop forgets what lives and nothing else": dropForgetsWhatLives,
	}
}

func dropForgetsWhatLives(t *testing.T, s Store) {
	t.Helper()
	h, p := somebody(t)
	keep(t, s, h, p, look(t, s, h).Mark)
	for _, want := range []State{Unknown, Ended} {
		if err := s.Drop(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		if l := look(t, s, h); l.State != want {
			t.Errorf("found %+v, want %v", l, want)
		}
		revoke(t, s, Revocation{Session: h.String()})
	}
}

func open(t *testing.T, url string) redis.UniversalClient {
	t.Helper()
	client, err := cache.Open(url, cache.Telemetry{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

//nolint:tparallel // what looks at one Redis takes turns
func TestAlone(t *testing.T) {
	t.Parallel()
	s := Store{Redis: connect(t)}
	for name, test := range cases() {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

//nolint:tparallel // what looks at one Redis takes turns
func TestCluster(t *testing.T) {
	t.Parallel()
	cluster := testkit.StartRedisCluster(t, true)
	client := open(t, cluster.URL)
	for name, test := range cases() {
		t.Run(name, func(t *testing.T) { test(t, Store{Redis: client}) })
	}
	// All that the test looks at is with the one master that it breaks.
	broken := cluster.Master(t, client, channel)
	h := HashOf(among(func(name string) bool { return cluster.Master(t, client, sessionKey(HashOf(name))) == broken }))
	user := among(func(name string) bool { return cluster.Master(t, client, userKey(name)) == broken })
	var replica *testkit.Node
	for i, n := range cluster.Nodes[:len(cluster.Nodes)/2] {
		if n == broken {
			replica = cluster.Nodes[len(cluster.Nodes)/2+i]
		}
	}
	t.Run("a replica that hangs", func(t *testing.T) { replicaHangs(t, client, replica) })
	t.Run("the master is lost", func(t *testing.T) { masterLost(t, client, broken, h, user) })
}

//nolint:tparallel // what looks at one Redis takes turns
func TestSentinels(t *testing.T) {
	t.Parallel()
	set := testkit.StartRedisSentinels(t)
	client := open(t, set.URL)
	for name, test := range cases() {
		t.Run(name, func(t *testing.T) { test(t, Store{Redis: client}) })
	}
	t.Run("a replica that hangs", func(t *testing.T) { replicaHangs(t, client, set.Replica) })
	t.Run("the master is lost", func(t *testing.T) { masterLost(t, client, set.Master, HashOf("one of them"), "another") })
}

// among gives the first name that fits.
func among(fits func(string) bool) string {
	for n := 0; ; n++ {
		if name := strconv.Itoa(n); fits(name) {
			return name
		}
	}
}

// replicaHangs: a revocation that only the master has is told to everybody, and reported as one to repeat.
func replicaHangs(t *testing.T, client redis.UniversalClient, replica *testkit.Node) {
	t.Helper()
	h, p := somebody(t)
	s := Store{Redis: client}
	keep(t, s, h, p, look(t, s, h).Mark)
	replica.Freeze()
	var alone bool
	for n := range 64 { // of a cluster's masters this may be another's
		err := Revoke(t.Context(), client, Revocation{User: p.UserID + strconv.Itoa(n)})
		if err != nil && !errors.Is(err, ErrAlone) {
			t.Fatal(err)
		}
		if alone = err != nil; alone {
			break
		}
	}
	if !alone {
		t.Error("a revocation counts as done that only the master has")
	}
	replica.Thaw()
	testkit.Eventually(t, "the revocation is done", func() bool {
		return Revoke(t.Context(), client, Revocation{Session: h.String()}) == nil
	})
	if l := look(t, s, h); l.State != Ended {
		t.Errorf("found %+v", l)
	}
}

// masterLost: what was ended stays ended, whoever asks when; what lives can be kept again, and revocations are heard of.
func masterLost(t *testing.T, client redis.UniversalClient, master *testkit.Node, h Hash, user string) {
	t.Helper()
	s := Store{Redis: client}
	ended, theirs := h, HashOf(user)
	p := principal.Principal{UserID: user, Kind: principal.Session}
	for _, h := range []Hash{ended, theirs} {
		keep(t, s, h, p, look(t, s, h).Mark)
	}
	ctx, cancel := context.WithCancel(t.Context())
	news, done := make(heard, 1000), make(chan struct{})
	go func() { defer close(done); Watch(ctx, client, news, slog.New(slog.DiscardHandler)) }()
	await := func(want any) {
		t.Helper()
		for got := range news {
			if got == want {
				return
			}
		}
	}
	await("subscribed")
	revoke(t, s, Revocation{Session: ended.String()})
	revoke(t, s, Revocation{User: user})
	await(Revocation{User: user})
	master.Kill()
	await("lost")

	answered := func(h Hash) (l Look, ok bool) {
		l, err := s.Find(t.Context(), h)
		if err == nil && l.State == Live {
			t.Fatal("what was ended lives again")
		}
		return l, err == nil
	}
	var states [2]State
	testkit.Eventually(t, "another takes the master's place", func() bool {
		first, ok := answered(ended)
		second, also := answered(theirs)
		states = [2]State{first.State, second.State}
		return ok && also
	})
	if states != [2]State{Ended, Unknown} {
		t.Errorf("afterwards: %v", states)
	}
	await("subscribed")
	testkit.Eventually(t, "a session is kept again", func() bool {
		l, err := s.Find(t.Context(), theirs)
		if err != nil {
			return false
		}
		_, err = s.Keep(t.Context(), theirs, principal.Principal{UserID: user}, l.Mark, time.Now())
		return err == nil
	})
	if l := look(t, s, theirs); l.State != Live {
		t.Errorf("found %+v", l)
	}
	again := Revocation{Session: theirs.String()}
	testkit.Eventually(t, "a revocation is done", func() bool { return Revoke(t.Context(), client, again) == nil })
	await(again)
	cancel()
	<-done
}
