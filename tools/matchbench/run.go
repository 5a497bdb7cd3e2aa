package matchbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/bench"
	"github.com/patient-mesh/patient-mesh/tools/chart"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

// Bench is one run and what it found.
type Bench struct {
	options  Options
	load     string // the machine's load average at the start, when it had other things to do
	demo     seed.Demo
	outcomes []Outcome
	measures []Measures
	lost     []float64 // of each set: the share of the pairs that brute force takes for one person, which find does not give
	stored   int64
	rate     float64 // people imported a second
	typos    *Typos
	times    []Times
	fresh    *Freshness
}

// creates is how many people a second are created while freshness is looked at.
const creates = 500

// Run measures and gives the report as Markdown.
func Run(ctx context.Context, o Options) (text string, err error) {
	o, err = o.withDefaults()
	if err != nil {
		return "", err
	}
	b := &Bench{options: o}
	if load, busy := bench.Busy(); busy {
		b.load = load
	}
	var leave func() error
	if b.demo, leave, err = o.attach(ctx); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, leave()) }()
	// What was found before something failed is told all the same: it took its time.
	err = b.measure(ctx)
	return b.markdown(), errors.Join(err, b.draw())
}

func (b *Bench) measure(ctx context.Context) error {
	only := b.options.Only
	if slices.Contains(only, "accuracy") {
		if err := b.accuracy(ctx); err != nil {
			return fmt.Errorf("accuracy: %w", err)
		}
	}
	if slices.Contains(only, "latency") || slices.Contains(only, "fresh") || slices.Contains(only, "accuracy") {
		return b.big(ctx)
	}
	return nil
}

func (b *Bench) accuracy(ctx context.Context) error {
	for _, name := range b.options.Sets {
		set, err := Load(name, b.options.Seed)
		if err != nil {
			return err
		}
		b.options.Say(fmt.Sprintf("%s: %d records", name, len(set.Records)))
		outcome, err := Through(ctx, b.demo, &set, b.options.Sample, b.options.Asking)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		all, err := Offline{Sample: b.options.Sample, Workers: runtime.NumCPU()}.Run(ctx, &set, linkage.Default())
		if err != nil {
			return err
		}
		b.outcomes, b.measures, b.lost = append(b.outcomes, outcome), append(b.measures, Measure(outcome)), append(b.lost, outcome.Lost(all))
	}
	return nil
}

func (b *Bench) big(ctx context.Context) error {
	o := b.options
	o.Say("storing " + people(o.People))
	tenant, err := newBig(ctx, b.demo, o.Seed, o.People, o.Typos, o.Say)
	if err != nil {
		return fmt.Errorf("store the big tenant: %w", err)
	}
	b.stored, b.rate = tenant.people, tenant.rate
	if slices.Contains(o.Only, "accuracy") {
		o.Say("asking with one error of typing each")
		typos, err := tenant.typos(ctx, o.Asking)
		if err != nil {
			return fmt.Errorf("typos: %w", err)
		}
		b.typos = &typos
	}
	if slices.Contains(o.Only, "latency") {
		for _, kind := range []struct {
			name  string
			shape func(question) question
		}{{"names, day of birth, sex", namesAndBirth}, {"all fields", everything}} {
			o.Say("measuring times: " + kind.name)
			result, err := tenant.latency(ctx, b.demo.Gateway, o.Asking, o.Duration, kind.shape)
			if err != nil {
				return fmt.Errorf("latency: %w", err)
			}
			b.times = append(b.times, Times{kind.name, o.People, result})
		}
	}
	if slices.Contains(o.Only, "fresh") {
		o.Say("looking for stale answers")
		fresh, err := tenant.freshness(ctx, o.Seed, creates, o.Duration)
		if err != nil {
			return fmt.Errorf("fresh: %w", err)
		}
		b.fresh = &fresh
	}
	return nil
}

// draw writes the figures.
func (b *Bench) draw() error {
	if b.options.Plots == "" {
		return nil
	}
	if err := os.MkdirAll(b.options.Plots, 0o755); err != nil { //nolint:gosec // figures are for everybody
		return err
	}
	figures := map[string]chart.Chart{}
	if len(b.outcomes) > 0 {
		figures["calibration"], figures["precision"] = diagram(b.outcomes), precisions(b.outcomes)
		for _, o := range b.outcomes {
			figures["scores-"+o.Set.Name] = scores(o)
		}
	}
	if len(b.times) > 0 {
		figures["latency"] = times(b.times)
	}
	for name, figure := range figures {
		raw, err := figure.SVG()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(b.options.Plots, name+".svg"), raw, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}
