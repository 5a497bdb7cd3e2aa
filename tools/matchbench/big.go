package matchbench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// big is a tenant of many people, and questions about some of them.
type big struct {
	tenant *caller
	people int64
	rate   float64 // people imported a second
	slips  []slip
}

// slip is somebody's record with one error of typing in one field, and the id of the record without.
type slip struct {
	person linkage.Demographics
	field  string
	id     int64
}

// piece is how many people one import has: a stream may last a quarter of an hour only.
const piece = 500_000

// newBig imports people of whom about typos come a second time, with one error, to be asked.
func newBig(ctx context.Context, demo seed.Demo, seedOf uint64, people int64, typos int, say func(string)) (*big, error) {
	tenant, err := newTenant(ctx, demo, fmt.Sprintf("%d people", people))
	if err != nil {
		return nil, err
	}
	generator, err := synth.New(synth.Options{
		Seed: seedOf + 4, People: people, Duplicated: min(1, float64(typos)/float64(people)), Mode: synth.OneTypo, Complete: true,
	})
	if err != nil {
		return nil, err
	}
	b := &big{tenant: tenant, people: people}
	records := make(chan synth.Record, 1024)
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(records)
		for r := range generator.Records() {
			select {
			case records <- r:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return nil
	})
	waiting := map[int64][]slip{} // by person, until the id is known
	began := time.Now()
	group.Go(func() error {
		for stored := int64(0); stored < people; stored += piece {
			if err := b.importPiece(ctx, records, waiting, min(piece, people-stored)); err != nil {
				return err
			}
			say(fmt.Sprintf("%d people are stored", min(people, stored+piece)))
		}
		return nil
	})
	err = group.Wait()
	b.rate = float64(people) / time.Since(began).Seconds()
	return b, err
}

// importPiece stores the first records of so many people. The copies that come between are to be asked.
func (b *big) importPiece(ctx context.Context, records <-chan synth.Record, slips map[int64][]slip, people int64) error {
	// A copy follows its first record at once, and so an answer may come before the copy is seen: both are brought together at
	// the end.
	order := make([]int64, 0, people)
	ids := make(map[int64]int64, people)
	var answered atomic.Int64
	got := make([]int64, people)
	err := b.tenant.store(ctx, func(w io.Writer) error {
		out := json.NewEncoder(w)
		for int64(len(order)) < people {
			r, more := <-records
			if !more {
				return nil
			}
			p := Demographics(&r, 0)
			if r.Copy > 0 {
				slips[r.Person] = append(slips[r.Person], slip{person: p, field: strings.Join(r.Errors, " ")})
				continue
			}
			order = append(order, r.Person)
			if err := out.Encode(lineOf(&p)); err != nil {
				return err
			}
		}
		return nil
	}, func(n int, id int64) { got[n] = id; answered.Add(1) })
	if err != nil {
		return err
	}
	for i, person := range order {
		ids[person] = got[i]
	}
	for person, list := range slips {
		if id := ids[person]; id != 0 {
			for _, s := range list {
				s.id = id
				b.slips = append(b.slips, s)
			}
			delete(slips, person)
		}
	}
	return nil
}

// Typos is how often the right person is on top after one error.
type Typos struct {
	Asked, Right int
	Missed       map[string]int // by error
}

func (b *big) typos(ctx context.Context, connections int) (Typos, error) {
	t := Typos{Asked: len(b.slips), Missed: map[string]int{}}
	right := make([]bool, len(b.slips))
	group, ctx := errgroup.WithContext(ctx)
	for worker := range connections {
		group.Go(func() error {
			for i := worker; i < len(b.slips); i += connections {
				q := questionOf(&b.slips[i].person)
				q.Limit = 1
				got, err := b.tenant.find(ctx, q)
				if err != nil {
					return err
				}
				right[i] = len(got.Content) > 0 && got.Content[0].PatientID == b.slips[i].id
			}
			return nil
		})
	}
	err := group.Wait()
	for i, ok := range right {
		if ok {
			t.Right++
		} else {
			t.Missed[b.slips[i].field]++
		}
	}
	return t, err
}

// latency asks at so many connections for so long, each request about somebody else.
func (b *big) latency(ctx context.Context, gateway string, connections int, over time.Duration, shape func(question) question) (traffic.Result, error) {
	bodies := make([]string, 0, len(b.slips))
	for i := range b.slips {
		raw, err := json.Marshal(shape(questionOf(&b.slips[i].person)))
		if err != nil {
			return traffic.Result{}, err
		}
		bodies = append(bodies, string(raw))
	}
	token, err := b.tenant.tokens.Token()
	if err != nil {
		return traffic.Result{}, err
	}
	return traffic.Run(ctx, traffic.Plan{
		Address: strings.TrimPrefix(gateway, "http://"), Connections: connections, Warmup: over / 5, Duration: over, Method: http.MethodPost,
		Targets: []string{"/v3/patient/find"}, Header: map[string]string{"Authorization": "Bearer " + token.AccessToken}, Bodies: bodies, Turns: true, Good: http.StatusOK,
	})
}

// namesAndBirth asks no more than names, day of birth and sex.
func namesAndBirth(q question) question {
	return question{
		FirstName: q.FirstName, MiddleName: q.MiddleName, LastName: q.LastName, Suffix: q.Suffix, DOB: q.DOB, SexAtBirth: q.SexAtBirth, Limit: 20, MinScore: 0.5,
	}
}

// everything asks all, as a caller would who says nothing of limit and score.
func everything(q question) question {
	q.Limit, q.MinScore = 20, 0.5
	return q
}
