package train_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load/train"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

// made writes people who never lived, with their truth, and reads them.
func made(t *testing.T, o synth.Options, truth bool) []train.Record {
	t.Helper()
	dir := t.TempDir()
	people, truths := filepath.Join(dir, "people.ndjson"), filepath.Join(dir, "truth.tsv")
	o.Complete = true
	g, err := synth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var out, beside bytes.Buffer
	w, err := synth.NewNDJSON(&out, &beside, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	for r := range g.Records() {
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string][]byte{people: out.Bytes(), truths: beside.Bytes()} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := train.File{Path: people}
	if truth {
		file.Truth = truths
	}
	records, err := file.Read()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

func learn(t *testing.T, records []train.Record, active *linkage.Model, o train.Options) *train.Learnt {
	t.Helper()
	l, err := train.Learn(train.NewPeople(records, 0, 0), nil, active, o)
	if err != nil {
		t.Fatal(err)
	}
	if faults := l.Model.Validate(); len(faults) > 0 {
		t.Fatalf("what was learnt is no model: %v", faults)
	}
	return l
}

// rough is an organization whose clerks err three times as often as those of whom the default was thought.
func rough(seed uint64) synth.Options {
	return synth.Options{Seed: seed, People: 4000, Duplicated: 0.3, Copies: 2, Intensity: 3}
}

func TestWhoseTruthIsKnownDoesBetterThanTheDefault(t *testing.T) {
	train.Calm(t)
	t.Parallel()
	l := learn(t, made(t, rough(21), true), linkage.Default(), train.Options{Seed: 1, Strangers: 60_000, Questions: 1000})
	before, after := l.Before, l.After
	if l.Method != train.ByCounting || len(l.Reasons) > 0 {
		t.Errorf("%s, worse: %v", l.Method, l.Reasons)
	}
	if l.Standard.LogLoss != before.LogLoss {
		t.Error("the active model is the default, but they differ")
	}
	for _, field := range l.Model.Fields {
		if field.Name == "dob" && field.Levels[0].U > 6e-5 {
			t.Errorf("%v of strangers are born on one day, there are some 30,000", field.Levels[0].U)
		}
	}
	if after.LogLoss > 0.95*before.LogLoss || after.F1 < before.F1-0.002 || after.ECE > max(before.ECE, 0.02) || after.WrongCertain > 0 {
		t.Errorf("surprise %.5f (was %.5f), F1 %.4f (%.4f), calibration error %.4f (%.4f), wrong %d", after.LogLoss, before.LogLoss,
			after.F1, before.F1, after.ECE, before.ECE, after.WrongCertain)
	}
}

func TestWhoseTruthIsNotKnownIsDescribedBetterThanByTheDefault(t *testing.T) {
	train.Calm(t)
	t.Parallel()
	records := made(t, rough(22), false)
	l := learn(t, records, linkage.Default(), train.Options{Seed: 1, Strangers: 60_000, Questions: 1000})
	if l.Method != train.ByExpectation || len(l.Reasons) > 0 || l.After.LogLikelihood <= l.Before.LogLikelihood {
		t.Errorf("%s, worse: %v, log likelihood %.1f, was %.1f", l.Method, l.Reasons, l.After.LogLikelihood, l.Before.LogLikelihood)
	}
	for _, p := range l.Passes {
		if !p.Learnt || p.Share < 0.8 || p.Pairs < 500 {
			t.Errorf("%+v", p)
		}
	}
	// Records of one person, which are among pairs taken at random, too, are not taken for strangers.
	for _, field := range l.Model.Fields {
		if field.Name == "dob" && field.Levels[0].U > 6e-5 {
			t.Errorf("%v of strangers are born on one day, there are some 30,000", field.Levels[0].U)
		}
	}
	// What EM learnt without the truth is near to what counting learns with it.
	counted := learn(t, made(t, rough(22), true), linkage.Default(), train.Options{Seed: 1, Strangers: 60_000, Questions: 1000})
	for f, field := range l.Model.Fields {
		if field.Name != "lastName" && field.Name != "dob" && field.Name != "phone" {
			continue
		}
		if got, want := field.Levels[0].M, counted.Model.Fields[f].Levels[0].M; math.Abs(got-want) > 0.1 {
			t.Errorf("m of %s that agrees is %.3f, counted %.3f", field.Name, got, want)
		}
	}
}

// The seed decides all that chance decides: the same bytes come out, and other ones with another seed.
func TestTheSameSeedLearnsTheSame(t *testing.T) {
	train.Calm(t)
	t.Parallel()
	for _, truth := range []bool{true, false} {
		records := made(t, synth.Options{Seed: 23, People: 800, Duplicated: 0.3, Intensity: 2}, truth)
		for i := range 300 {
			r := &records[i]
			r.FirstName, r.LastName, r.DOB = "Qxzv"+r.FirstName, "Qxzv"+r.LastName, "1888"+r.DOB[4:]
			r.Contacts = []linkage.Contact{{System: "phone", E164: "+12075559" + fmt.Sprintf("%03d", i)}, {System: "email", Value: "qxzv@" + r.LastName}}
			r.Identifiers = []linkage.Identifier{{Type: "MR", Authority: "qxzv", Value: fmt.Sprintf("7770010%d", i)}}
			if truth {
				r.Truth = "qxzv" + r.Truth
			}
		}
		written := func(seed uint64) map[string]string {
			dir := t.TempDir()
			if err := learn(t, records, linkage.Default(), train.Options{Seed: seed, Strangers: 20_000}).Write(dir); err != nil {
				t.Fatal(err)
			}
			out := map[string]string{}
			files, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range files {
				raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
				if err != nil {
					t.Fatal(err)
				}
				out[f.Name()] = string(raw)
			}
			return out
		}
		first, again, other := written(1), written(1), written(2)
		for name, text := range first {
			if again[name] != text {
				t.Errorf("truth %v: %s differs", truth, name)
			}
		}
		if other["model.json"] == first["model.json"] {
			t.Errorf("truth %v: another seed learns the same", truth)
		}
		tellsNobody(t, first)
	}
}

// tellsNobody fails when a file has a value of a record in it: those of records have letters in them that no report has.
func tellsNobody(t *testing.T, files map[string]string) {
	t.Helper()
	for _, name := range []string{"report.md", "scores.svg", "weights.svg", "model.json"} {
		if files[name] == "" {
			t.Errorf("there is no %s", name)
		}
	}
	for name, text := range files {
		for _, value := range []string{"qxzv", "1888-", "+12075559", "7770010"} {
			if strings.Contains(strings.ToLower(text), value) {
				t.Errorf("%s has a value of a record: %s", name, value)
			}
		}
	}
}

// What looks like many pairs of one person may be something else. However odd the records are that a model was learnt from, on
// records as they usually are nobody becomes certain who is wrong, and most are still found.
func TestOddRecordsRuinNothing(t *testing.T) {
	train.Calm(t)
	t.Parallel()
	plain := made(t, synth.Options{Seed: 24, People: 1500, Duplicated: 0.1}, false)
	odd := map[string][]train.Record{
		"a file that was loaded three times": slices.Concat(plain, plain, plain),
		"nobody twice":                       made(t, synth.Options{Seed: 25, People: 1500}, false),
	}
	for _, r := range plain {
		r.LastName = "Test"
		odd["one family name"] = append(odd["one family name"], r)
	}
	for _, r := range plain {
		r.DOB = "1900-01-01"
		odd["one day of birth"] = append(odd["one day of birth"], r)
	}
	for _, r := range plain { // as if families were persons
		r.FirstName, r.DOB = "A", "2000-01-01"
		odd["families"] = append(odd["families"], r)
	}
	usual := made(t, synth.Options{Seed: 29, People: 1500, Duplicated: 0.3, Intensity: 1}, true)
	for name, records := range odd {
		l := learn(t, records, linkage.Default(), train.Options{Seed: 1, Strangers: 50_000})
		held := learn(t, usual, l.Model, train.Options{Seed: 1, Strangers: 50_000})
		if is, was := held.Before, held.Standard; is.WrongCertain > was.WrongCertain || is.Recall < was.Recall-0.05 || is.Precision < was.Precision-0.05 {
			t.Errorf("%s: precision %.3f (the default's is %.3f), recall %.3f (%.3f), %d wrong of %d certain", name,
				is.Precision, was.Precision, is.Recall, was.Recall, is.WrongCertain, is.Certain)
		}
	}
}

// Where hardly anybody is there twice, those who agree in names, or in a last name and a day of birth, are relatives.
func TestNothingIsLearntFromRelatives(t *testing.T) {
	train.Calm(t)
	t.Parallel()
	l := learn(t, made(t, synth.Options{Seed: 30, People: 5000, Duplicated: 0.005}, false), linkage.Default(), train.Options{Seed: 1, Strangers: 20_000})
	for _, p := range l.Passes[1:] {
		if p.Learnt || p.Pairs == 0 {
			t.Errorf("%+v", p)
		}
	}
	for f, field := range l.Model.Fields {
		if field.Name != "firstName" && field.Name != "dob" {
			continue
		}
		for i, level := range field.Levels {
			if was := l.Default.Fields[f].Levels[i].M; math.Abs(level.M-was) > 0.02 {
				t.Errorf("m of %s %s went from %.4f to %.4f", field.Name, level.Name, was, level.M)
			}
		}
	}
}

func TestWithTooLittleNothingIsLearnt(t *testing.T) {
	train.Calm(t)
	t.Parallel()
	few := made(t, synth.Options{Seed: 26, People: 1}, true)
	for name, records := range map[string][]train.Record{"nobody": nil, "one": few, "nobody twice": made(t, synth.Options{Seed: 26, People: 40}, true)} {
		if _, err := train.Learn(train.NewPeople(records, 0, 0), nil, linkage.Default(), train.Options{}); !errors.Is(err, train.ErrTooFew) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Some twenty records move a model a little.
	l := learn(t, made(t, synth.Options{Seed: 27, People: 12, Duplicated: 1}, false), linkage.Default(), train.Options{Seed: 1, Strangers: 60_000, Questions: 1000})
	for f, field := range l.Model.Fields {
		if was, is := l.Default.Fields[f].Levels[0].M, field.Levels[0].M; math.Abs(was-is) > 0.1 {
			t.Errorf("m of %s that agrees went from %.3f to %.3f", field.Name, was, is)
		}
	}
}

func TestLabelsOfPairs(t *testing.T) {
	train.Calm(t)
	t.Parallel()
	records := made(t, rough(28), true)
	byTruth := map[string][]int64{}
	for _, r := range records {
		byTruth[r.Truth] = append(byTruth[r.Truth], r.ID)
	}
	var labels []train.Label
	var previous int64
	for i := range records {
		ids := byTruth[records[i].Truth]
		if len(ids) < 2 || ids[0] != records[i].ID {
			continue
		}
		labels = append(labels, train.Label{A: ids[0], B: ids[1], Same: true})
		if previous != 0 {
			labels = append(labels, train.Label{A: ids[0], B: previous})
		}
		previous = ids[0]
	}
	labels = append(labels, train.Label{A: 1, B: 999_999, Same: true}, train.Label{A: 1, B: 1, Same: true}) // of nobody, of one record
	for i := range records {
		records[i].Truth = "" // what labels say, they alone say
	}
	l, err := train.Learn(train.NewPeople(records, 0, 0), labels, linkage.Default(), train.Options{Seed: 1, Strangers: 60_000, Questions: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if l.Method != train.ByCounting || l.Pairs < 300 || l.Pairs > float64(len(labels))/2 || l.After.Matches < 100 || l.After.Pairs <= l.After.Matches {
		t.Errorf("%s, learnt from %.0f pairs of %d, held out %d of %d", l.Method, l.Pairs, len(labels), l.After.Matches, l.After.Pairs)
	}
	if l.After.LogLoss > l.Before.LogLoss*1.05 {
		t.Errorf("surprise %.5f, was %.5f", l.After.LogLoss, l.Before.LogLoss)
	}
}
