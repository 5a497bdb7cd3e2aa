// Command bench measures the mesh side by side with what it is measured against, and writes the figures down.
//
//	bench                           everything; about seven minutes
//	bench --only create,read        some parts
//	bench --rounds 5 --duration 8s  longer, for steadier figures
//
// It starts everything that it needs, in a folder of its own, and removes it afterwards. DATABASE_URL and REDIS_URL name
// servers to use instead of private ones. The machine should have nothing else to do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench"
	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	switch { // the parts that this program plays in processes of their own
	case len(args) == 1 && args[0] == "traffic":
		return traffic.Serve(ctx, os.Stdin, os.Stdout)
	case len(args) == 2 && args[0] == "standin":
		return bench.StandIn(ctx, args[1])
	}
	var o bench.Options
	var only, out string
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.StringVar(&only, "only", "", "parts, separated by commas: "+strings.Join(bench.Parts(), ", "))
	flags.StringVar(&o.BinDir, "bin", "bin", "where the six programs are")
	flags.StringVar(&o.Dir, "dir", "", "state folder of the mesh; default a new one that is removed afterwards")
	flags.IntVar(&o.Rounds, "rounds", 3, "how often each subject has its turn")
	flags.DurationVar(&o.Duration, "duration", 4*time.Second, "of each turn")
	flags.IntVar(&o.Patients, "patients", 1_000_000, "in the long list")
	flags.IntVar(&o.People, "people", 1_000_000, "among whom is found")
	flags.StringVar(&out, "out", "", "also write the results to this file")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if only != "" {
		o.Only = strings.Split(only, ",")
	}
	o.Say = func(line string) { fmt.Fprintln(os.Stderr, line) }
	text, err := bench.Run(ctx, o)
	if text != "" {
		fmt.Print(text)
		if out != "" {
			err = errors.Join(err, os.WriteFile(out, []byte(text), 0o644)) //nolint:gosec // figures are for everybody
		}
	}
	return err
}
