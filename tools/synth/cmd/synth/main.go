// Command synth writes people who never lived, for measuring what tells people apart.
//
//	synth --people 1000000 --duplicated 0.2 --out people.ndjson --truth truth.tsv   for POST /v3/patient/import
//	synth --people 10000 --duplicated 0.3 --copies 3 --format csv > people.csv      with the truth in it
//	synth --people 10000 --duplicated 1 --mode one-typo                             copies with one error of typing each
//	synth --households 0:400000 --out part1.ndjson                                  a part; the next one begins with 400000
//
// The same seed gives the same people. Lines of NDJSON never lack what the interface requires.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/patient-mesh/patient-mesh/tools/synth"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "synth:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to stop
	}
}

type settings struct {
	options    synth.Options
	format     string
	out, truth string
	households [2]int64 // from, before; people count when the second is 0
}

func parse(args []string, stderr io.Writer) (settings, error) {
	s := settings{}
	o := &s.options
	var mode, fields, households string
	flags := flag.NewFlagSet("synth", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Uint64Var(&o.Seed, "seed", 1, "other seeds, other people")
	flags.Int64Var(&o.People, "people", 1000, "how many")
	flags.Int64Var(&o.First, "first", 0, "household to begin with")
	flags.StringVar(&households, "households", "", "FROM:BEFORE, all people of these households instead of a number of people")
	flags.Float64Var(&o.Duplicated, "duplicated", 0, "share of people with more records than one, 0 to 1")
	flags.IntVar(&o.Copies, "copies", 1, "of each of those at most, each further one half as likely")
	flags.StringVar(&mode, "mode", "realistic", "realistic, or one-typo: copies with exactly one error of typing in exactly one field")
	flags.StringVar(&fields, "fields", "", "that one-typo errs in, separated by commas: "+strings.Join(synth.TypoFields(), ","))
	flags.Float64Var(&o.Intensity, "intensity", 1, "of errors in copies; 1 is as the README's table says")
	flags.Float64Var(&o.Original, "original", 0, "intensity of errors in first records")
	flags.StringVar(&s.format, "format", "ndjson", "ndjson or csv")
	flags.StringVar(&s.out, "out", "", "file to write; default standard output")
	flags.StringVar(&s.truth, "truth", "", "file to write the truth to beside NDJSON: ref and person")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	if flags.NArg() > 0 {
		return s, fmt.Errorf("what is %q?", flags.Arg(0))
	}
	switch mode {
	case "realistic":
	case "one-typo":
		o.Mode = synth.OneTypo
	default:
		return s, fmt.Errorf("--mode: realistic or one-typo, not %q", mode)
	}
	if fields != "" {
		o.Fields = strings.Split(fields, ",")
	}
	switch s.format {
	case "ndjson":
		o.Complete = true
	case "csv":
		if s.truth != "" {
			return s, errors.New("--truth: a CSV has the truth in it")
		}
	default:
		return s, fmt.Errorf("--format: ndjson or csv, not %q", s.format)
	}
	if households == "" {
		return s, nil
	}
	from, before, _ := strings.Cut(households, ":")
	var err, err2 error
	s.households[0], err = strconv.ParseInt(from, 10, 64)
	s.households[1], err2 = strconv.ParseInt(before, 10, 64)
	if err != nil || err2 != nil || s.households[0] < 0 || s.households[1] <= s.households[0] {
		return s, fmt.Errorf("--households: FROM:BEFORE, such as 0:400000, not %q", households)
	}
	return s, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	s, err := parse(args, stderr)
	if err != nil {
		return err
	}
	generator, err := synth.New(s.options)
	if err != nil {
		return err
	}
	out, truth, files, err := s.open(stdout)
	defer func() {
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
	}()
	if err != nil {
		return err
	}
	var writer synth.Writer
	if s.format == "csv" {
		writer, err = synth.NewCSV(out, s.options.Seed)
	} else {
		writer, err = synth.NewNDJSON(out, truth, s.options.Seed)
	}
	if err != nil {
		return err
	}
	people, records, last := int64(0), int64(0), int64(0)
	for r := range s.records(generator) {
		if ctx.Err() != nil {
			err = fmt.Errorf("stopped within household %d", r.Household)
			break
		}
		if r.Copy == 0 {
			people++
		}
		records++
		last = r.Household
		if err = writer.Write(&r); err != nil {
			break
		}
	}
	err = errors.Join(err, writer.Flush())
	fmt.Fprintf(stderr, "%d people in %d records, up to household %d\n", people, records, last)
	return err
}

func (s *settings) records(g *synth.Generator) iter.Seq[synth.Record] {
	if s.households[1] > 0 {
		return g.Households(s.households[0], s.households[1])
	}
	return g.Records()
}

// open opens what is written to. Truth is nil when nobody asked for it.
func (s *settings) open(stdout io.Writer) (out, truth io.Writer, files []*os.File, err error) {
	out = stdout
	for path, into := range map[string]*io.Writer{s.out: &out, s.truth: &truth} {
		if path == "" {
			continue
		}
		file, err := os.Create(path)
		if err != nil {
			return nil, nil, files, err
		}
		files, *into = append(files, file), file
	}
	return out, truth, files, nil
}
