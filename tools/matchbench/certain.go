package matchbench

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// Certainty is how many of many answers were graded certain, and how many of those were wrong.
type Certainty struct {
	People, Asked  int   // stored, and questions
	Certain, Wrong int64 // first answers
}

// Bound is the share of wrong ones among all certain answers that there are, which is no greater with a confidence of 95 %: of n
// without a wrong one 3/n, the rule of three (Hanley & Lippman-Hand 1983), and else as of a Poisson distribution; 1 of none at all.
func (c Certainty) Bound() float64 {
	if c.Certain == 0 {
		return 1
	}
	low, high := 0., float64(c.Wrong)+10+5*math.Sqrt(float64(c.Wrong)+1)
	for range 60 {
		middle := (low + high) / 2
		if atMost(c.Wrong, middle) > 0.05 {
			low = middle
		} else {
			high = middle
		}
	}
	return min(1, high/float64(c.Certain))
}

// atMost is the probability of so many or fewer where so many are expected.
func atMost(n int64, expected float64) (sum float64) {
	for k, term := int64(0), math.Exp(-expected); k <= n; k++ {
		sum += term
		term *= expected / float64(k+1)
	}
	return sum
}

const (
	certainSeed = 8     // after the seed of what is measured
	absent      = 3     // one in so many is asked for and not there, but those who live with them are
	moreRecords = 2     // copies of a person at most: the first is asked, a second one is stored too
	asksAtOnce  = 1_000 // questions that a worker takes
)

// Certain makes families up, with twins and namesakes, stores most of them, some more than once, and asks for everybody by a later
// record with errors: whoever is certain must be the one.
func Certain(ctx context.Context, model *linkage.Model, people int, seed uint64) (Certainty, error) {
	generator, err := synth.New(synth.Options{Seed: seed + certainSeed, People: int64(people), Duplicated: 1, Copies: moreRecords, Intensity: 1})
	if err != nil {
		return Certainty{}, err
	}
	var c Certainty
	x := index.New(index.Options{})
	var whose []int64 // by id, from 1
	var asked []Record
	var news []linkage.Demographics
	for r := range generator.Records() {
		switch {
		case r.Copy == 1:
			asked = append(asked, Record{Demographics(&r, 0), r.Person})
		case r.Person%absent != 0:
			whose = append(whose, r.Person)
			news = append(news, stored(Demographics(&r, int64(len(whose)))))
		}
		if len(news) == asksAtOnce {
			x.Apply(news)
			news = news[:0]
		}
	}
	x.Apply(news)
	c.People, c.Asked = x.People(), len(asked)
	var certain, wrong, next atomic.Int64
	var working sync.WaitGroup
	for range runtime.NumCPU() {
		working.Go(func() {
			for ctx.Err() == nil {
				from := min(int(next.Add(asksAtOnce)-asksAtOnce), len(asked))
				some := asked[from:min(from+asksAtOnce, len(asked))]
				if len(some) == 0 {
					return
				}
				for i := range some {
					if who := surely(x, model, &some[i].Person); who != 0 {
						certain.Add(1)
						if whose[who-1] != some[i].Truth {
							wrong.Add(1)
						}
					}
				}
			}
		})
	}
	working.Wait()
	c.Certain, c.Wrong = certain.Load(), wrong.Load()
	return c, ctx.Err()
}

// surely is the id of who is found, graded certain; 0: nobody.
func surely(x *index.Index, model *linkage.Model, p *linkage.Demographics) int64 {
	got := x.Find(index.Query{Person: person(questionOf(p)), Model: model, Limit: 1, MinScore: 0.5, Now: time.Now().UnixMilli()})
	if len(got.Hits) == 0 {
		return 0
	}
	hit := &got.Hits[0]
	if model.Grade(linkage.Shown(hit.Bits), got.Second, hit.Veto, got.Truncated) != linkage.Certain {
		return 0
	}
	return hit.Demographics.ID
}
