// Command load puts the people of a CSV file into the running mesh and reports how it went.
//
//	load --file people.csv                   into the first demo tenant of $MESH_DIR/demo.json
//	load --file people.csv --verify          and reads every one of them back
//	load --file people.csv --import          in one stream, many times as fast
//	load --file people.csv --map dob=born    where the column of the dates of birth is headed "born"
//	load train                               trains the tenant's matching model: see load train --help
//
// Rows without a first name, last name or date of birth are left out and listed, unless --placeholder-name and
// --placeholder-dob say what to write instead. The same file can be loaded again within 24 hours: what was created
// stays as it is, and what was not is created. The exit code is 1 when a row could not be delivered or does not read back
// equal; rows that are no patient by the interface's rules are listed and change nothing.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/patient-mesh/patient-mesh/tools/load"
	"github.com/patient-mesh/patient-mesh/tools/mesh/seed"
)

func main() {
	do, args := run, os.Args[1:]
	if len(args) > 0 && args[0] == "train" {
		do, args = runTraining, args[1:]
	}
	if err := do(args); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

type settings struct {
	options load.Options
	demo    string
	tenant  int
	verify  bool
	stream  bool
}

func parse(args []string) (settings, error) {
	s := settings{options: load.Options{Columns: map[string]string{}}}
	flags := flag.NewFlagSet("load", flag.ContinueOnError)
	flags.StringVar(&s.options.File, "file", "", "the CSV file; its first line names the columns")
	s.where(flags)
	flags.IntVar(&s.options.Workers, "workers", 16, "requests under way at a time")
	flags.BoolVar(&s.verify, "verify", false, "read every created patient back and compare it")
	flags.BoolVar(&s.stream, "import", false, "send all in one stream, to the import")
	flags.StringVar(&s.options.Label, "label", "", "load the same file once more: its people are created again, once for each label")
	flags.StringVar(&s.options.PlaceholderName, "placeholder-name", "", "what to write where a first or last name is missing")
	flags.StringVar(&s.options.PlaceholderDOB, "placeholder-dob", "", "what to write where the date of birth is missing, YYYY-MM-DD")
	flags.Func("map", "field=heading, may be repeated or separated by commas, for columns whose heading is not known", mapping(s.options.Columns))
	if err := anywhere(flags, args, &s.options.File); err != nil {
		return s, err
	}
	if s.options.File == "" {
		return s, errors.New("which file? --file people.csv (make load FILE=people.csv)")
	}
	return s, nil
}

// where are the flags that say which mesh and tenant it is about.
func (s *settings) where(flags *flag.FlagSet) {
	dir := os.Getenv("MESH_DIR")
	if dir == "" {
		dir = ".mesh"
	}
	flags.StringVar(&s.demo, "demo", filepath.Join(dir, "demo.json"), "where the mesh wrote its address and keys")
	flags.IntVar(&s.tenant, "tenant", 1, "which tenant of that file, from 1")
}

// mapping reads field=heading into a map.
func mapping(columns map[string]string) func(text string) error {
	return func(text string) error {
		for pair := range strings.SplitSeq(text, ",") {
			field, heading, ok := strings.Cut(pair, "=")
			if !ok {
				return fmt.Errorf("%q is not field=heading", pair)
			}
			columns[strings.TrimSpace(field)] = strings.TrimSpace(heading)
		}
		return nil
	}
}

// anywhere reads flags, among which a file may stand.
func anywhere(flags *flag.FlagSet, args []string, file *string) error {
	for rest := args; ; rest = flags.Args()[1:] {
		if err := flags.Parse(rest); err != nil {
			return err
		}
		if flags.NArg() == 0 {
			return nil
		}
		if *file != "" {
			return fmt.Errorf("one file at a time: what is %q?", flags.Arg(0))
		}
		*file = flags.Arg(0)
	}
}

func run(args []string) error {
	s, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	tenant, err := s.readDemo()
	if err != nil {
		return err
	}
	bar := &progress{}
	s.options.Begin, s.options.Progress = bar.begin, bar.step
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	l, err := load.New(s.options)
	if err != nil {
		return err
	}
	if s.stream {
		err = l.Import(ctx)
	} else {
		err = l.Send(ctx)
	}
	if err == nil && s.verify {
		err = l.Verify(ctx)
	}
	bar.end()
	if ctx.Err() != nil {
		err = errors.New("stopped; run it again to go on")
	}
	fmt.Printf("%s → %s, tenant %s\n", s.options.File, s.options.Gateway, tenant)
	return errors.Join(l.Report().Write(os.Stdout), err, verdict(l.Report()), l.Close())
}

func verdict(r *load.Report) error {
	if n := r.Failed() + r.Different(); n > 0 {
		return fmt.Errorf("%d rows are not as they should be", n)
	}
	return nil
}

// readDemo learns where the mesh is, and as whom to speak.
func (s *settings) readDemo() (tenant string, err error) {
	raw, err := os.ReadFile(s.demo) //nolint:gosec // the user names the file
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("%s is not there: start the mesh first (make run)", s.demo)
	}
	if err != nil {
		return "", err
	}
	var demo seed.Demo
	if err := json.Unmarshal(raw, &demo); err != nil {
		return "", fmt.Errorf("%s: %w", s.demo, err)
	}
	if s.tenant < 1 || s.tenant > len(demo.Tenants) {
		return "", fmt.Errorf("--tenant: there are the tenants 1 to %d", len(demo.Tenants))
	}
	t := demo.Tenants[s.tenant-1]
	s.options.Gateway, s.options.APIKey = demo.Gateway, t.APIKey
	return t.Name, nil
}

// progress shows a bar where somebody watches, and nothing where the output goes to a file.
type progress struct {
	bar  *progressbar.ProgressBar
	mu   sync.Mutex
	what string
}

// at shows how much of something is done.
func (p *progress) at(what string, done, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.what != what {
		p.what = what
		p.begin(what, int64(of))
	}
	_ = p.bar.Set(done)
}

func (p *progress) begin(what string, rows int64) {
	p.end()
	p.bar = progressbar.NewOptions64(rows,
		progressbar.OptionSetDescription(what), progressbar.OptionSetWriter(os.Stderr), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("rows"), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetPredictTime(true), progressbar.OptionFullWidth(),
		progressbar.OptionSetVisibility(term.IsTerminal(int(os.Stderr.Fd()))))
}

func (p *progress) step() { _ = p.bar.Add(1) }

func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Finish()
		if term.IsTerminal(int(os.Stderr.Fd())) {
			fmt.Fprintln(os.Stderr)
		}
	}
}
