package replica_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/matching/replica"
)

// find is what a find does first, with the time that it has for it.
func find(t *testing.T, r *replica.Replica[*people], tenant string) (map[int64]string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	p, err := r.Fresh(ctx, tenant)
	if err != nil {
		return nil, err
	}
	return p.names(), nil
}

// sees checks who is there.
func sees(t *testing.T, r *replica.Replica[*people], tenant string, want map[int64]string) {
	t.Helper()
	got, err := find(t, r, tenant)
	if err != nil {
		t.Errorf("%s: %v", tenant, err)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func refused(t *testing.T, r *replica.Replica[*people], tenant, want string) {
	t.Helper()
	if got, err := find(t, r, tenant); code(err) != want || fault.Of(err).RetryAfter < time.Second {
		t.Errorf("%s: %v, %v, want %s", tenant, got, err, want)
	}
}

func asked(t *testing.T, s *source, want ...string) {
	t.Helper()
	if got := s.asks(); !slices.Equal(got, want) {
		t.Errorf("asked %q, want %q", got, want)
	}
}

func TestAFindSeesWhatWasWrittenBefore(t *testing.T) {
	s := newSource()
	r := start(t, s, &uses{}, replica.Options{})
	sees(t, r, "empty", map[int64]string{})
	want := map[int64]string{}
	for id := int64(1); id <= 10; id++ {
		s.write("a", person(id, "x"))
		want[id] = "x"
	}
	sees(t, r, "a", want)
	s.write("a", person(3, "y"), gone(7), person(11, "z"), person(1, "y"), person(2, "y"))
	want[1], want[2], want[3], want[11] = "y", "y", "y", "z"
	delete(want, 7)
	sees(t, r, "a", want)
	s.write("a", person(7, "back"))
	want[7] = "back"
	sees(t, r, "a", want)
	sees(t, r, "empty", map[int64]string{})
	asked(t, s, "empty@", "a@", "a@010", "a@015", "empty@00")
}

// Whoever comes while a pull is under way waits for the next one, and all who do for the same.
func TestFindsShareTheNextPull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{})
		s.write("a", person(1, "before"))
		sees(t, r, "a", map[int64]string{1: "before"})
		s.asks()

		release := s.hold("a")
		var finds sync.WaitGroup
		finds.Go(func() { // the pull has been answered without what is written now
			if _, err := find(t, r, "a"); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		s.write("a", person(1, "after"))
		for range 50 {
			finds.Go(func() { sees(t, r, "a", map[int64]string{1: "after"}) })
		}
		sees(t, r, "b", map[int64]string{}) // waits for nobody else's
		synctest.Wait()
		release()
		finds.Wait()
		asked(t, s, "a@01", "b@", "a@01")
		sees(t, r, "a", map[int64]string{1: "after"})
	})
}

func TestAFindThatCannotBeFreshIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{})
		s.write("a", person(1, "x"))

		// A load that takes its time goes on without whoever waited for it.
		release := s.hold("a")
		refused(t, r, "a", replica.CodeLoading)
		refused(t, r, "a", replica.CodeLoading)
		release()
		sees(t, r, "a", map[int64]string{1: "x"})
		if got := s.asks(); len(got) < 2 || got[0] != "a@" || slices.Contains(got[1:], "a@") {
			t.Errorf("asked %q: it was loaded more than once", got)
		}

		release = s.hold("a")
		refused(t, r, "a", replica.CodeBehind)
		release()
		synctest.Wait()
		s.asks()

		// A source that is away costs the find, not the index.
		s.breaks(fault.Away(nil, "away"))
		refused(t, r, "a", replica.CodeBehind)
		refused(t, r, "b", replica.CodeBehind)
		s.breaks(errors.New("cannot be read"))
		refused(t, r, "a", replica.CodeBehind)
		s.breaks(nil)
		s.write("a", person(2, "y"))
		sees(t, r, "a", map[int64]string{1: "x", 2: "y"})
		sees(t, r, "b", map[int64]string{})
		asked(t, s, "a@01", "b@", "a@01", "a@01", "b@")
	})
}

// A record that cannot be taken in, in a load or a pull, is the misfortune of its tenant alone.
func TestARecordThatPanicsEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{})
		s.write("a", person(1, "x"))
		s.write("b", person(1, poison))
		sees(t, r, "a", map[int64]string{1: "x"})
		refused(t, r, "b", replica.CodeBehind)
		s.write("a", person(2, poison))
		refused(t, r, "a", replica.CodeBehind)
		if n := replica.Memory(r); n != 0 {
			t.Errorf("%d bytes are held", n)
		}
		s.write("a", person(2, "y"))
		sees(t, r, "a", map[int64]string{1: "x", 2: "y"})
	})
}

func TestALoadThatFailsHalfwayLeavesNothing(t *testing.T) {
	s := newSource()
	for id := range int64(10) {
		s.write("a", person(id+1, "x"))
	}
	broken := &breaking{source: s, at: 2}
	r, err := replica.New(broken, &uses{}, newPeople, quiet(), replica.Options{})
	if err != nil {
		t.Fatal(err)
	}
	refused(t, r, "a", replica.CodeBehind)
	if n := replica.Memory(r); n != 0 {
		t.Errorf("%d bytes are held of a load that failed", n)
	}
	got, err := find(t, r, "a")
	if err != nil || len(got) != 10 {
		t.Errorf("%v, %v", got, err)
	}
	if n := replica.Memory(r); n != 100 {
		t.Errorf("%d bytes are held of ten people", n)
	}
}

// What is written between two pages, of people who were told of already, is told of the next time.
func TestWhatIsWrittenBetweenTwoPages(t *testing.T) {
	s := &changing{source: newSource()}
	r, err := replica.New(s, &uses{}, newPeople, quiet(), replica.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]string{}
	for id := range int64(10) {
		s.write("a", person(id+1, "x"))
		want[id+1] = "x"
	}
	for _, name := range []string{"in a load", "in a pull"} {
		s.between = func() { s.write("a", person(1, name)) }
		got, err := find(t, r, "a")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		want[1] = name
		sees(t, r, "a", want)
		for id := range int64(10) {
			s.write("a", person(id+1, name))
			want[id+1] = name
		}
	}
}

func TestALostPositionLoadsAnew(t *testing.T) {
	s := newSource()
	r := start(t, s, &uses{}, replica.Options{})
	s.write("a", person(1, "x"), person(2, "y"))
	sees(t, r, "a", map[int64]string{1: "x", 2: "y"})
	// A backup from before the second came, restored.
	s.mu.Lock()
	s.epoch, s.tenants["a"] = 1, nil
	s.mu.Unlock()
	s.write("a", person(1, "old"))
	sees(t, r, "a", map[int64]string{1: "old"})
	asked(t, s, "a@", "a@02", "a@")
	s.write("a", person(3, "z"))
	sees(t, r, "a", map[int64]string{1: "old", 3: "z"})
}

func TestMemoryIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{Memory: 100}) // ten people
		crowd := func(tenant string, n int64) {
			for id := range n {
				s.write(tenant, person(id+1, tenant))
			}
		}
		counts := func(tenant string, want int) {
			t.Helper()
			if got, err := find(t, r, tenant); err != nil || len(got) != want {
				t.Errorf("%s: %d people, %v", tenant, len(got), err)
			}
			if n := replica.Memory(r); n > 100 {
				t.Errorf("%d bytes are held", n)
			}
		}
		crowd("a", 4)
		crowd("b", 4)
		crowd("c", 4)
		counts("a", 4)
		counts("b", 4)
		refused(t, r, "c", replica.CodeFull) // those who are asked about stay
		s.asks()
		refused(t, r, "c", replica.CodeFull)
		asked(t, s)
		counts("b", 4)
		time.Sleep(31 * time.Second)
		counts("a", 4)
		counts("c", 4) // b was asked about least of late
		s.asks()
		counts("a", 4)
		counts("c", 4)
		asked(t, s, "a@04", "c@04")

		// One that grows takes the room of others, and goes itself when it is too large alone.
		crowd("c", 9)
		counts("c", 9)
		s.asks()
		refused(t, r, "a", replica.CodeFull)
		asked(t, s, "a@")
		crowd("c", 11)
		refused(t, r, "c", replica.CodeFull)
		if n := replica.Memory(r); n != 0 {
			t.Errorf("%d bytes are held of nobody", n)
		}
		time.Sleep(31 * time.Second)
		counts("a", 4)
		s.asks()
		refused(t, r, "c", replica.CodeFull)
		asked(t, s) // each try would drop others
		time.Sleep(10 * time.Minute)
		refused(t, r, "c", replica.CodeFull)
		asked(t, s, "c@")
		counts("a", 4)
	})
}

// Who is dropped while a find waits for it is still given to the find, and fresh.
func TestWhoIsDroppedMeanwhileIsStillFresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{Memory: 25})
		s.write("a", person(1, "x"))
		s.write("b", person(1, "x"), person(2, "x"))
		sees(t, r, "a", map[int64]string{1: "x"})
		time.Sleep(31 * time.Second)
		release := s.hold("a")
		s.write("a", person(1, "y"))
		var finds sync.WaitGroup
		finds.Go(func() { sees(t, r, "a", map[int64]string{1: "y"}) })
		synctest.Wait()
		finds.Go(func() { refused(t, r, "a", replica.CodeFull) }) // for the next flight, of which b leaves no room
		synctest.Wait()
		time.Sleep(500 * time.Millisecond)
		replica.Age(r, "a", time.Minute)
		sees(t, r, "b", map[int64]string{1: "x", 2: "x"})
		release()
		finds.Wait()
		if n := replica.Memory(r); n != 20 {
			t.Errorf("%d bytes are held", n)
		}
		time.Sleep(31 * time.Second)
		sees(t, r, "a", map[int64]string{1: "y"})
		if n := replica.Memory(r); n != 10 {
			t.Errorf("%d bytes are held", n)
		}
	})
}

// Tenants are pulled for though nobody asks: those that change, or are asked about, each second, the others seldom.
func TestWhatNobodyAsksForIsPulled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, u := newSource(), &uses{}
		r := start(t, s, u, replica.Options{})
		end := run(t, r)
		s.write("a", person(1, "x"))
		sees(t, r, "a", map[int64]string{1: "x"})
		sees(t, r, "b", map[int64]string{})
		pulls := func(during time.Duration) (a, b int) {
			time.Sleep(during)
			synctest.Wait()
			for _, ask := range s.asks() {
				if ask[0] == 'a' {
					a++
				} else {
					b++
				}
			}
			return a, b
		}
		if a, b := pulls(10 * time.Second); a < 4 || a > 6 || b != a {
			t.Errorf("%d and %d in the first ten seconds", a, b)
		}
		if a, b := pulls(10 * time.Minute); a < 10 || a > 14 || b != a {
			t.Errorf("%d and %d in ten minutes of rest", a, b)
		}
		for range 130 { // until after the next pull it changes all the time
			s.write("a", person(1, "y"))
			time.Sleep(time.Second)
		}
		s.asks()
		for range 10 {
			s.write("a", person(1, "z"))
			time.Sleep(time.Second)
		}
		if a, b := pulls(0); a < 7 || a > 11 || b > 1 {
			t.Errorf("%d and %d in ten seconds of changes", a, b)
		}
		if got := u.noted(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("remembered %q", got)
		}
		sees(t, r, "b", map[int64]string{})
		end()
		if got := u.noted(); !slices.Equal(got, []string{"b"}) {
			t.Errorf("remembered at the end %q", got)
		}
		refused(t, r, "b", replica.CodeBehind)
	})
}

// Whoever rests is not behind, however long the last pull is ago; whoever cannot be pulled is, from when that was due or
// asked for until it succeeds.
func TestWhatLags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{})
		defer run(t, r)()
		lags := func(during, least, most time.Duration) {
			t.Helper()
			time.Sleep(during)
			synctest.Wait()
			if got := replica.Lag(r); got < least || got > most {
				t.Errorf("%s behind, want %s to %s", got, least, most)
			}
		}
		sees(t, r, "a", map[int64]string{})
		for range 30 { // at rest in the end: half a minute after a pull as well
			lags(21*time.Second, 0, 200*time.Millisecond)
		}

		s.breaks(errors.New("away"))
		lags(3*time.Minute, 2*time.Minute, 3*time.Minute)
		lags(7*time.Minute, 9*time.Minute, 10*time.Minute)
		s.breaks(nil)
		lags(2*time.Minute, 0, 200*time.Millisecond)
		lags(10*time.Minute, 0, 200*time.Millisecond)

		release := s.hold("a")
		refused(t, r, "a", replica.CodeBehind) // after a second
		lags(4*time.Second, 5*time.Second, 5*time.Second)
		release()
		lags(time.Second, 0, 200*time.Millisecond)
	})
}

func TestTheEndBreaksOffWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{})
		end := run(t, r)
		s.hold("a")
		var finds sync.WaitGroup
		finds.Go(func() { refused(t, r, "a", replica.CodeBehind) })
		synctest.Wait()
		end()
		finds.Wait()
	})
}

func TestTheProcessWarmsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, u := newSource(), &uses{recent: []string{"a", "b", "c"}}
		for _, tenant := range u.recent {
			s.write(tenant, person(1, tenant), person(2, tenant))
		}
		release := s.hold("c")
		s.breaks(fault.Away(nil, "away"))
		r := start(t, s, u, replica.Options{Memory: 45})
		end := run(t, r)
		time.Sleep(time.Second)
		s.breaks(nil)
		time.Sleep(time.Second)
		if r.Ready(t.Context()) == nil {
			t.Error("ready before all are loaded")
		}
		release()
		time.Sleep(time.Second)
		if err := r.Ready(t.Context()); err != nil {
			t.Error(err)
		}
		if n := replica.Memory(r); n != 40 { // c has no room, and takes nobody's
			t.Errorf("%d bytes are held", n)
		}
		s.asks()
		sees(t, r, "a", map[int64]string{1: "a", 2: "a"})
		if got := s.asks(); slices.Contains(got, "a@") {
			t.Errorf("asked %q", got)
		}
		end()
		if got := u.noted(); !slices.Equal(got, []string{"a"}) { // to be loaded is no use
			t.Errorf("remembered %q", got)
		}
	})
}

func TestWarmingUpEnds(t *testing.T) {
	for name, prepare := range map[string]func(*source, *uses){
		"a load that takes long":  func(s *source, u *uses) { u.recent = []string{"a"}; s.hold("a") },
		"a source that is away":   func(s *source, u *uses) { u.recent = []string{"a"}; s.breaks(fault.Away(nil, "away")) },
		"a database that is away": func(_ *source, u *uses) { u.err = fault.Away(nil, "away") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, u := newSource(), &uses{}
				prepare(s, u)
				r := start(t, s, u, replica.Options{WarmUp: 5 * time.Second})
				end := run(t, r)
				time.Sleep(4 * time.Second)
				if r.Ready(t.Context()) == nil {
					t.Error("ready too soon")
				}
				time.Sleep(2 * time.Second)
				if err := r.Ready(t.Context()); err != nil {
					t.Error(err)
				}
				end()
			})
		})
	}
}

// Large tenants are loaded two at a time, and small ones wait for none of them.
func TestNobodySmallWaitsForSomebodyLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource()
		r := start(t, s, &uses{}, replica.Options{Loads: 2})
		want := map[int64]string{}
		for id := int64(1); id <= 20; id++ {
			for _, tenant := range []string{"a", "b", "c"} {
				s.write(tenant, person(id, "x"))
			}
			want[id] = "x"
		}
		s.from = 4 * pageSize
		releaseA, releaseB := s.hold("a"), s.hold("b")
		var finds sync.WaitGroup
		finds.Go(func() { sees(t, r, "a", want) })
		finds.Go(func() { sees(t, r, "b", want) })
		synctest.Wait()
		finds.Go(func() { sees(t, r, "c", want) })
		for i := range 10 {
			sees(t, r, strconv.Itoa(i), map[int64]string{})
		}
		synctest.Wait()
		if !s.deep["a"] || !s.deep["b"] || s.deep["c"] {
			t.Errorf("large loads under way: %v", s.deep)
		}
		releaseA()
		synctest.Wait()
		if !s.deep["c"] {
			t.Error("the next does not go on though there is a place")
		}
		releaseB()
		finds.Wait()
		for _, tenant := range []string{"a", "b", "c"} { // every place is free again
			replica.Forget(r, tenant)
			sees(t, r, tenant, want)
		}
	})
}

// Writers and finds of many tenants, with losses and failures in between, and memory for half of them: whoever is answered
// is answered with all that was written before.
func TestWhoeverIsAnsweredIsAnsweredFresh(t *testing.T) {
	s := newSource()
	r := start(t, s, &uses{}, replica.Options{Memory: 300})
	end := run(t, r)
	const tenants, writes = 6, 400
	var written [tenants]sync.Mutex
	var last [tenants]int
	var all sync.WaitGroup
	for n := range tenants {
		tenant := strconv.Itoa(n)
		all.Go(func() {
			for i := 1; i <= writes; i++ {
				s.write(tenant, person(int64(1+i%10), strconv.Itoa(i)))
				written[n].Lock()
				last[n] = i
				written[n].Unlock()
				if i%100 == 0 {
					s.breaks(errors.New("broken"))
					s.breaks(nil)
				}
				if i == writes/2 && n == 0 {
					s.mu.Lock()
					s.epoch++
					s.mu.Unlock()
				}
			}
		})
		for range 3 {
			all.Go(func() {
				answered := 0
				for range 300 {
					written[n].Lock()
					least := last[n]
					written[n].Unlock()
					if rand.IntN(3) == 0 {
						replica.Age(r, strconv.Itoa(rand.IntN(tenants)), time.Minute)
					}
					got, err := find(t, r, tenant)
					if err != nil {
						continue
					}
					answered++
					if err := shows(got, least); err != nil {
						t.Errorf("tenant %s: %v", tenant, err)
						return
					}
				}
				if answered < 10 {
					t.Errorf("tenant %s: %d answers show nothing", tenant, answered)
				}
			})
		}
	}
	all.Wait()
	end()
}

// shows checks that people hold a write or a later one of the same person, ten of whom are written in turn.
func shows(got map[int64]string, least int) error {
	for i := max(1, least-9); i <= least; i++ {
		if number, _ := strconv.Atoi(got[int64(1+i%10)]); number < i {
			return fmt.Errorf("write %d was answered and is not seen: %v", i, got)
		}
	}
	return nil
}
