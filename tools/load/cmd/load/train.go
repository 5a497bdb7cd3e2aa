package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load"
	"github.com/patient-mesh/patient-mesh/tools/load/train"
)

// training is what `load train` is told.
type training struct {
	settings
	file                 train.File
	labels, out, name    string
	part                 string
	options              train.Options
	tenantOptions        train.Tenant
	dry, activate, force bool
	bar                  *progress
}

const trainUsage = `load train [flags] [FILE]

Trains the matching model of a demo tenant and adds it as a new version.

  load train                                          from the tenant's own records, of which nobody knows who is whom
  load train --pairs labels.csv                       from its records, and pairs that people judged: two ids and 1 or 0 a line
  load train --truth person people.csv                from a file that says whose each record is
  load train --truth truth.tsv people.ndjson          from lines as synth writes them
  load train --truth rec_id --truth-part 'rec-\d+' febrl.csv

The new model is held against the active one on records that it was not trained on. Where it is worse it is not added, unless
--force says so. report.md and its plots hold counts and levels of agreement, nothing of anybody.

`

func parseTraining(args []string) (training, error) {
	t := training{bar: &progress{}, settings: settings{options: load.Options{}}, file: train.File{Columns: map[string]string{}}}
	flags := flag.NewFlagSet("load train", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), trainUsage)
		flags.PrintDefaults()
	}
	t.where(flags)
	flags.StringVar(&t.file.Truth, "truth", "", "the column, member or file that says whose a record is")
	flags.StringVar(&t.part, "truth-part", "", "a regular expression: what of it counts")
	flags.Func("map", "field=heading, as of load", mapping(t.file.Columns))
	flags.StringVar(&t.labels, "pairs", "", "a CSV of two patients' ids and 1 or 0")
	flags.StringVar(&t.out, "out", "model-report", "the folder of the report")
	flags.StringVar(&t.name, "name", "", "of the model; default the day")
	flags.Uint64Var(&t.options.Seed, "seed", 1, "what is chosen by chance is chosen by this")
	flags.IntVar(&t.tenantOptions.Records, "records", 100_000, "of the tenant that are used at most; of more, some days of birth are chosen")
	flags.IntVar(&t.tenantOptions.Echoes, "whole", 20_000, "records that are read with their addresses, contacts and so on, at most")
	flags.BoolVar(&t.dry, "dry", false, "only report; without a mesh, against the built-in model")
	flags.BoolVar(&t.activate, "activate", false, "make it the active model")
	flags.BoolVar(&t.force, "force", false, "add (and activate) it even if it is worse")
	if err := anywhere(flags, args, &t.file.Path); err != nil {
		return t, err
	}
	if t.labels != "" && t.file.Path != "" {
		return t, errors.New("--pairs is for the tenant's records: a file has --truth")
	}
	if t.file.Truth != "" && t.file.Path == "" {
		return t, errors.New("--truth is for a file: which one?")
	}
	if t.part != "" {
		var err error
		if t.file.Part, err = regexp.Compile(t.part); err != nil {
			return t, fmt.Errorf("--truth-part: %w", err)
		}
	}
	if t.name == "" {
		t.name = "Trained " + time.Now().Format(time.DateOnly)
	}
	return t, nil
}

var errWorse = errors.New("the model is worse than the active one: it is not added (--force adds it)")

func runTraining(args []string) error {
	t, err := parseTraining(args)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	tenant, active, err := t.tenantAt(ctx)
	if err != nil {
		return err
	}
	people, labels, err := t.people(ctx, tenant)
	t.bar.end()
	if err != nil {
		return err
	}
	learnt, err := train.Learn(people, labels, active, t.options)
	if err != nil {
		return err
	}
	if err := learnt.Write(t.out); err != nil {
		return err
	}
	fmt.Printf("%s\nreport     %s\n", learnt.Line(), filepath.Join(t.out, "report.md"))
	if len(learnt.Reasons) > 0 && !t.force {
		for _, reason := range learnt.Reasons {
			fmt.Println("worse     ", reason)
		}
		return errWorse
	}
	if t.dry {
		return nil
	}
	return t.add(ctx, tenant, learnt)
}

// tenantAt is the tenant that is trained for, with its active model; without a mesh, the built-in one.
func (t *training) tenantAt(ctx context.Context) (train.Tenant, *linkage.Model, error) {
	tenant := t.tenantOptions
	tenant.Seed, tenant.Missing = t.options.Seed, load.Missing
	tenant.Progress = t.bar.at
	if t.dry && t.file.Path != "" {
		return tenant, linkage.Default(), nil
	}
	name, err := t.readDemo()
	if err != nil {
		return tenant, nil, err
	}
	if tenant.Gateway, err = load.NewClient(t.settings.options); err != nil {
		return tenant, nil, err
	}
	version, active, err := tenant.Active(ctx)
	if err != nil {
		return tenant, nil, err
	}
	fmt.Printf("tenant     %s, whose active model is version %d\n", name, version)
	return tenant, active, nil
}

// people reads what is learnt from.
func (t *training) people(ctx context.Context, tenant train.Tenant) (*train.People, []train.Label, error) {
	now := time.Now().UnixMilli()
	if t.file.Path != "" {
		records, err := t.file.Read()
		if err != nil {
			return nil, nil, err
		}
		return train.NewPeople(records, 0, now), nil, nil
	}
	if t.labels != "" {
		labels, err := train.ReadLabels(t.labels)
		if err != nil {
			return nil, nil, err
		}
		sample, err := tenant.Labelled(ctx, labels)
		return sample.People(now), labels, err
	}
	sample, err := tenant.List(ctx)
	if err == nil {
		err = tenant.Whole(ctx, &sample)
	}
	return sample.People(now), nil, err
}

func (t *training) add(ctx context.Context, tenant train.Tenant, learnt *train.Learnt) error {
	version, err := tenant.Upload(ctx, t.name, learnt)
	if err != nil {
		return err
	}
	fmt.Printf("added      version %d\n", version)
	if !t.activate {
		return nil
	}
	if err := tenant.Activate(ctx, version); err != nil {
		return err
	}
	fmt.Printf("activated  version %d\n", version)
	return nil
}
