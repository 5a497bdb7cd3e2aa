package matchbench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

// Through asks records of a set through the gateway, each of a tenant that holds all others: its own record is deleted while
// it is asked, and restored. Records of one person are asked one after the other.
func Through(ctx context.Context, demo seed.Demo, set *Set, sample, connections int) (Outcome, error) {
	tenant, err := newTenant(ctx, demo, set.Name)
	if err != nil {
		return Outcome{}, err
	}
	ids := make([]int64, len(set.Records))
	places := make(map[int64]int, len(ids))
	err = tenant.store(ctx, func(w io.Writer) error {
		out := json.NewEncoder(w)
		for i := range set.Records {
			if err := out.Encode(lineOf(&set.Records[i].Person)); err != nil {
				return err
			}
		}
		return nil
	}, func(n int, id int64) { ids[n], places[id] = id, n })
	if err != nil {
		return Outcome{}, fmt.Errorf("store %s: %w", set.Name, err)
	}
	o := Outcome{Set: set, Asked: set.sample(sample)}
	answers := make([][]Answer, len(o.Asked))
	group, ctx := errgroup.WithContext(ctx)
	for worker := range connections {
		group.Go(func() error {
			for n, asked := range o.Asked {
				if int(set.Records[asked].Truth)%connections != worker {
					continue
				}
				got, err := tenant.apart(ctx, ids[asked], questionOf(&set.Records[asked].Person))
				if err != nil {
					return err
				}
				answers[n] = answersOf(set, asked, got, places)
			}
			return nil
		})
	}
	err = group.Wait()
	o.Answers = slices.Concat(answers...)
	return o, err
}

// apart asks while the patient is deleted.
func (c *caller) apart(ctx context.Context, id int64, q question) (found, error) {
	if err := c.call(ctx, http.MethodDelete, patientPath(id), nil, nil); err != nil {
		return found{}, err
	}
	got, err := c.find(ctx, q)
	if err != nil {
		return found{}, err
	}
	return got, c.call(ctx, http.MethodPost, patientPath(id)+"/restore", nil, nil)
}

func answersOf(set *Set, asked int, got found, places map[int64]int) []Answer {
	out := make([]Answer, 0, len(got.Content))
	for i, a := range got.Content {
		place := places[a.PatientID]
		out = append(out, Answer{
			Asked: asked, Found: place, Same: set.Records[place].Truth == set.Records[asked].Truth, Rank: i,
			Bits: got.bits(i), Score: a.Score, Grade: a.Grade,
		})
	}
	return out
}
