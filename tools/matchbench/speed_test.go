package matchbench_test

import (
	"flag"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
	"github.com/patient-mesh/patient-mesh/tools/matchbench"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

var (
	people    = flag.Int64("people", 0, "how many people the index has; 0: its speed is not measured")
	questions = flag.Int("questions", 2000, "how many questions are asked")
	mode      = flag.String("mode", "typo", "what questions are: typo (one error of typing) or life (errors and events)")
)

// tenant is an index with people, and questions about some of them.
type tenant struct {
	index  *index.Index
	asked  []linkage.Demographics // ID is the right answer
	loaded time.Duration
	perCPU float64 // people a second and core
}

var load = sync.OnceValue(func() *tenant {
	o := synth.Options{Seed: 7, Duplicated: 1, Complete: true}
	if *mode == "typo" {
		o.Mode = synth.OneTypo
	} else {
		o.Intensity = 1
	}
	plain := o
	plain.Duplicated = 0
	g, err := synth.New(plain)
	if err != nil {
		panic(err)
	}
	t := &tenant{index: index.New(index.Options{})}
	batch := make([]linkage.Demographics, 0, 1000)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var busy time.Duration
	flush := func() {
		start := cpu()
		t.index.Apply(batch)
		busy += cpu() - start
		batch = batch[:0]
	}
	step := max(int64(1), *people/int64(*questions))
	last := int64(0)
	for r := range g.Households(0, *people) {
		if r.Person > last {
			last = r.Person
		}
		batch = append(batch, matchbench.Demographics(&r, r.Person+1))
		if len(batch) == cap(batch) {
			flush()
		}
		if int64(t.index.People()) >= *people {
			break
		}
	}
	flush()
	t.loaded, t.perCPU = busy, float64(t.index.People())/busy.Seconds()
	c, err := synth.New(o)
	if err != nil {
		panic(err)
	}
	for h := int64(0); len(t.asked) < *questions && h < last; h += max(1, step/3) {
		for r := range c.Households(h, h+1) {
			if r.Copy == 1 && r.Person <= last {
				t.asked = append(t.asked, matchbench.Demographics(&r, r.Person+1))
				break
			}
		}
	}
	return t
})

// TestSpeed measures the index by itself: go test ./tools/matchbench -run Speed -v -people 1000000 -mode life.
func TestSpeed(t *testing.T) {
	if *people == 0 {
		t.Skip("-people says how many there are")
	}
	x := load()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	n := float64(x.index.People())
	t.Logf("%d people: %.0f a second and core; %.0f bytes each by its own account, heap %.0f MB = %.0f each", x.index.People(), x.perCPU,
		float64(x.index.Memory())/n, float64(m.HeapAlloc)/1e6, float64(m.HeapAlloc)/n)
	start := time.Now()
	runtime.GC()
	t.Logf("a collection takes %v", time.Since(start))
	model := linkage.Default()
	for _, kind := range []string{"all", "names", "nodob"} {
		report(t, x, model, kind)
	}
}

// cpu is the processor time of this thread: on a machine with other work it tells more than a clock.
func cpu() time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now); err != nil {
		panic(err)
	}
	return time.Duration(now.Nano())
}

func report(t *testing.T, x *tenant, model *linkage.Model, kind string) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var took []time.Duration
	first, blocked, truncated, scored, found := 0, 0, 0, 0, 0
	for round := range 2 {
		for _, d := range x.asked {
			right := d.ID
			if kind != "all" {
				d = matchbench.Names(d)
			}
			if kind == "nodob" {
				d.DOB = ""
			}
			start := cpu()
			f := x.index.Find(index.Query{Person: d, Model: model, Limit: 20, MinScore: 0.5})
			spent := cpu() - start
			if round == 0 {
				continue
			}
			took = append(took, spent)
			scored += f.Scored
			if f.Truncated {
				truncated++
			}
			if len(f.Hits) > 0 {
				found++
				if f.Hits[0].Demographics.ID == right {
					first++
				}
			}
			if slices.Contains(x.index.Candidates(index.Query{Person: d, Model: model}), right) {
				blocked++
			} else if testing.Verbose() && *misses > 0 {
				*misses--
				fmt.Printf("missed %d: %+v\n", right, d)
			}
		}
	}
	slices.Sort(took)
	n := len(took)
	t.Logf("%-6s p50 %v p90 %v p99 %v max %v; scored %d; truncated %.2f%%; answered %.2f%%, right first %.2f%%, blocking recall %.3f%%", kind,
		took[n/2], took[n*9/10], took[n*99/100], took[n-1], scored/n, 100*float64(truncated)/float64(n),
		100*float64(found)/float64(n), 100*float64(first)/float64(n), 100*float64(blocked)/float64(n))
}

var misses = flag.Int("misses", 0, "how many questions to print whose answer was no candidate")

func BenchmarkFind(b *testing.B) {
	if *people == 0 {
		b.Skip("-people says how many there are")
	}
	x := load()
	model := linkage.Default()
	for _, kind := range []string{"all", "names"} {
		b.Run(kind, func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			b.ReportAllocs()
			from := cpu()
			i, scored := 0, 0
			for b.Loop() {
				d := x.asked[i%len(x.asked)]
				i++
				if kind != "all" {
					d = matchbench.Names(d)
				}
				scored += x.index.Find(index.Query{Person: d, Model: model, Limit: 20, MinScore: 0.5}).Scored
			}
			b.ReportMetric(float64(cpu()-from)/float64(b.N)/1000, "cpu-µs/op")
			b.ReportMetric(float64(scored)/float64(b.N), "scored/op")
		})
	}
}
