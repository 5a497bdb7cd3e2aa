// Command matchbench measures find on records whose truth is known.
//
//	matchbench                                   everything, through the gateway of a mesh of its own
//	matchbench --demo .mesh/demo.json            of the mesh that runs
//	matchbench --only accuracy --sets febrl3     a part
//	matchbench --only latency --people 10000000  a big tenant
//	matchbench --offline --seed 1                the model alone, in this process: what tuning looks at
//	matchbench --offline --index --certain 200000  by the index, and whether anybody is certain who is not the one
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/matchbench"
)

func main() {
	if err := run(os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "matchbench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var o matchbench.Options
	flags := flag.NewFlagSet("matchbench", flag.ContinueOnError)
	sets := flags.String("sets", strings.Join(matchbench.SetNames(), ","), "what to measure on, separated by commas")
	only := flags.String("only", strings.Join(matchbench.Parts(), ","), "parts, separated by commas")
	flags.StringVar(&o.Demo, "demo", "", "demo.json of a running mesh; a mesh of its own when omitted")
	flags.StringVar(&o.BinDir, "bin", "bin", "where the six programs are")
	flags.StringVar(&o.Dir, "dir", "", "state folder of a mesh of its own; default a new one that is removed afterwards")
	flags.Int64Var(&o.People, "people", 1_000_000, "in the big tenant")
	flags.IntVar(&o.Sample, "sample", 5000, "records of a set that are asked at most")
	flags.IntVar(&o.Typos, "typos", 5000, "records with one error that are asked of the big tenant")
	flags.Uint64Var(&o.Seed, "seed", matchbench.Seed, "of the people made up; whoever tunes takes another")
	flags.IntVar(&o.Asking, "connections", 16, "that ask at a time")
	flags.DurationVar(&o.Duration, "duration", 20*time.Second, "of measuring times")
	out := flags.String("out", "", "folder to write RESULTS.md and plots to")
	indexed := flags.Bool("index", false, "with --offline: by the index instead of everybody")
	offline := flags.Bool("offline", false, "weigh in this process, without a mesh")
	certain := flags.Int("certain", 200_000, "with --offline --index: people who are asked for to count certain answers that are wrong; 0: none")
	if err := flags.Parse(args); err != nil {
		return err
	}
	o.Sets, o.Only = strings.Split(*sets, ","), strings.Split(*only, ",")
	if *offline {
		if err := weigh(ctx, o, *indexed); err != nil || !*indexed || *certain <= 0 {
			return err
		}
		return count(ctx, *certain, o.Seed)
	}
	if *out != "" {
		o.Plots = filepath.Join(*out, "plots")
	}
	o.Say = func(line string) { fmt.Fprintln(os.Stderr, line) }
	text, err := matchbench.Run(ctx, o)
	if text != "" {
		fmt.Print(text)
		if *out != "" && err == nil {
			err = errors.Join(err, os.WriteFile(filepath.Join(*out, "RESULTS.md"), []byte(text), 0o644)) //nolint:gosec // figures are for everybody
		}
	}
	return err
}

// weigh prints a line a set.
func weigh(ctx context.Context, o matchbench.Options, indexed bool) error {
	model := linkage.Default()
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "set\tasked\tpairs\tprecision\trecall\tF1\tbest F1\tat\tR@P99\ttop1\tcertain\twrong\tof true\tECE\tECE≥.5\tseen\tlost\ttook\t")
	for _, name := range o.Sets {
		if name == "" {
			continue
		}
		set, err := matchbench.Load(name, o.Seed)
		if err != nil {
			return err
		}
		began := time.Now()
		outcome, err := matchbench.Offline{Sample: o.Sample, Atleast: math.Log2(1e-4), Workers: runtime.NumCPU()}.Run(ctx, &set, model)
		if err != nil {
			return err
		}
		lost := math.NaN()
		if indexed {
			all := outcome
			outcome = matchbench.Indexed(&set, model, o.Sample)
			lost = outcome.Lost(all)
		}
		m := matchbench.Measure(outcome)
		fmt.Fprintf(out, "%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.3f\t%.4f\t%.4f\t%d\t%d\t%.3f\t%.4f\t%.4f\t%.4f\t%.4f\t%s\t\n", name, m.Asked, m.True, m.Precision, m.Recall,
			m.F1, m.BestF1, m.BestAt, m.RecallAt99, m.Top1, m.Certain, m.CertainWrong, m.CertainOf, m.Calibration, m.CalibrationUpper, m.Seen, lost, time.Since(began).Round(time.Millisecond))
	}
	return out.Flush()
}

// count prints how many answers are graded certain and are not.
func count(ctx context.Context, people int, seed uint64) error {
	began := time.Now()
	c, err := matchbench.Certain(ctx, linkage.Default(), people, seed)
	if err != nil {
		return err
	}
	fmt.Printf("certain: %d of %d asked, of %d records; %d wrong: fewer than 1 in %.0f are, with 95 %% confidence; took %s\n", //nolint:forbidigo // what was asked for
		c.Certain, c.Asked, c.People, c.Wrong, 1/c.Bound(), time.Since(began).Round(time.Millisecond))
	return nil
}
