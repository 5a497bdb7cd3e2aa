// Command matchbench measures find on records whose truth is known.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/signal"
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
	flags := flag.NewFlagSet("matchbench", flag.ContinueOnError)
	sets := flags.String("sets", strings.Join(matchbench.Names(), ","), "what to measure on, separated by commas")
	sample := flags.Int("sample", 1000, "records of a set that are asked at most; 0: all")
	seed := flags.Uint64("seed", matchbench.Seed, "of the people made up; whoever tunes takes another")
	workers := flags.Int("workers", 1, "goroutines")
	if err := flags.Parse(args); err != nil {
		return err
	}
	model := linkage.Default()
	out := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "set\tasked\tpairs\tprecision\trecall\tF1\tbest F1\tat\tR@P99\ttop1\tcertain\twrong\tof true\tECE\tECE≥.5\tseen\ttook\t")
	for name := range strings.SplitSeq(*sets, ",") {
		set, err := matchbench.Load(name, *seed)
		if err != nil {
			return err
		}
		began := time.Now()
		outcome, err := matchbench.Offline{Sample: *sample, Atleast: math.Log2(1e-4), Workers: *workers}.Run(ctx, &set, model)
		if err != nil {
			return err
		}
		m := matchbench.Measure(outcome)
		fmt.Fprintf(out, "%s\t%d\t%d\t%.4f\t%.4f\t%.4f\t%.4f\t%.3f\t%.4f\t%.4f\t%d\t%d\t%.3f\t%.4f\t%.4f\t%.4f\t%s\t\n", name, m.Asked, m.True, m.Precision, m.Recall,
			m.F1, m.BestF1, m.BestAt, m.RecallAt99, m.Top1, m.Certain, m.CertainWrong, m.CertainOf, m.Calibration, m.CalibrationUpper, m.Seen, time.Since(began).Round(time.Millisecond))
	}
	return out.Flush()
}
