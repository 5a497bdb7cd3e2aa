package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
)

// sample is what one run of one subject gave. What a subject cannot tell is zero.
type sample struct {
	Rate     float64 // a second
	P50, P99 time.Duration
	CPU      time.Duration // of the subject's processes, a request
	Database time.Duration // of PostgreSQL, a request
	Failed   int64
}

func of(r traffic.Result) sample {
	return sample{Rate: r.Rate, P50: r.P50, P99: r.P99, Failed: r.Failed()}
}

// subject is one of the things that are compared.
type subject struct {
	name string
	run  func(ctx context.Context) (sample, error)
}

// interleave runs the subjects in turn, round after round, so that what else the machine does meets all of them, and
// gives the median of each.
func (b *Bench) interleave(ctx context.Context, title string, subjects []subject) (map[string]sample, error) {
	samples := map[string][]sample{}
	for round := range b.options.Rounds {
		for i := range subjects {
			if round%2 == 1 {
				i = len(subjects) - 1 - i // so that nobody always follows the same neighbour
			}
			s := subjects[i]
			got, err := s.run(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", title, s.name, err)
			}
			b.say(fmt.Sprintf("%s, round %d of %d: %s: %.0f/s", title, round+1, b.options.Rounds, s.name, got.Rate))
			samples[s.name] = append(samples[s.name], got)
		}
	}
	medians := map[string]sample{}
	for name, list := range samples {
		medians[name] = middle(list)
		if medians[name].Failed > 0 {
			b.report.note(fmt.Sprintf("%s, %s: %d requests failed; its rate counts only the others.", title, name, medians[name].Failed))
		}
	}
	return medians, nil
}

// middle is the median of each member by itself; failures are summed.
func middle(list []sample) sample {
	out := sample{
		Rate: median(list, func(s sample) float64 { return s.Rate }),
		P50:  time.Duration(median(list, func(s sample) float64 { return float64(s.P50) })),
		P99:  time.Duration(median(list, func(s sample) float64 { return float64(s.P99) })),
		CPU:  time.Duration(median(list, func(s sample) float64 { return float64(s.CPU) })),

		Database: time.Duration(median(list, func(s sample) float64 { return float64(s.Database) })),
	}
	for _, s := range list {
		out.Failed += s.Failed
	}
	return out
}

func median[T any](list []T, value func(T) float64) float64 {
	values := make([]float64, len(list))
	for i, v := range list {
		values[i] = value(v)
	}
	slices.Sort(values)
	n := len(values)
	switch {
	case n == 0:
		return 0
	case n%2 == 1:
		return values[n/2]
	default:
		return (values[n/2-1] + values[n/2]) / 2
	}
}
