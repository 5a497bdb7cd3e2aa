package train

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

func TestWorseIsTold(t *testing.T) {
	t.Parallel()
	good := Measure{F1: 0.99, ECE: 0.01, LogLoss: 0.01, Certain: 100}
	for name, test := range map[string]struct {
		change func(m *Measure)
		says   string
	}{
		"the same":             {func(*Measure) {}, ""},
		"better":               {func(m *Measure) { m.F1, m.ECE, m.LogLoss = 1, 0, 0 }, ""},
		"worse within chance":  {func(m *Measure) { m.F1, m.ECE, m.LogLoss = 0.989, 0.019, 0.0101 }, ""},
		"a wrong certain":      {func(m *Measure) { m.WrongCertain = 1 }, "1 answers graded certain are wrong, 0 were"},
		"F1":                   {func(m *Measure) { m.F1 = 0.98 }, "F1 is 0.9800"},
		"calibration":          {func(m *Measure) { m.ECE = 0.03 }, "calibration error is 0.0300"},
		"surprise":             {func(m *Measure) { m.LogLoss = 0.02 }, "surprise by 0.02000"},
		"all of it, told once": {func(m *Measure) { m.WrongCertain, m.F1, m.ECE, m.LogLoss = 1, 0, 1, 1 }, "answers|F1|calibration|surprise"},
	} {
		after := good
		test.change(&after)
		got := worse(good, after)
		var want []string
		if test.says != "" {
			want = strings.Split(test.says, "|")
		}
		if len(got) != len(want) || !slices.EqualFunc(got, want, strings.Contains) {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := unlikelier(Measure{Pairs: 9, LogLikelihood: -10}, Measure{Pairs: 9, LogLikelihood: -11}); len(got) != 1 {
		t.Error(got)
	}
	if got := unlikelier(Measure{}, Measure{}); len(got) != 1 {
		t.Errorf("without pairs: %v", got)
	}
	if got := unlikelier(Measure{Pairs: 9, LogLikelihood: -10}, Measure{Pairs: 9, LogLikelihood: -9}); len(got) != 0 {
		t.Error(got)
	}
}

func TestFiguresOfAMeasure(t *testing.T) {
	t.Parallel()
	var m Measure
	for range 80 {
		m.calibrate(2, true) // a score of 0.8
	}
	for range 20 {
		m.calibrate(2, false)
	}
	for range 10 {
		m.calibrate(-10, false) // below what is shown
	}
	if got := m.expectedError(); math.Abs(got) > 1e-12 {
		t.Errorf("eight in ten of a score of 0.8: an error of %v", got)
	}
	for range 100 {
		m.calibrate(0, false) // a score of 0.5
	}
	if got := m.expectedError(); math.Abs(got-0.25) > 1e-12 {
		t.Errorf("half of all are at 0.5 and none is one: %v, want 0.25", got)
	}
	for bits, want := range map[float64]float64{0: 1, 1000: 0, -1000: 1000} {
		if got := surprise(bits, true); math.Abs(got-want) > 1e-9 {
			t.Errorf("surprise of a pair of one person with %v bits: %v", bits, got)
		}
		if got := surprise(-bits, false); math.Abs(got-want) > 1e-9 {
			t.Errorf("of two people with %v bits: %v", -bits, got)
		}
	}
	for bits, want := range map[float64]int{0: 0, 1.9: 0, 2: 2, -0.1: -2, math.Inf(1): 60, math.Inf(-1): -60} {
		if got := bar(bits); got != want {
			t.Errorf("%v bits stand at %d, want %d", bits, got, want)
		}
	}
}

// A sample tells of all: as many times as large as the tenant is.
func TestFrequenciesOfASample(t *testing.T) {
	t.Parallel()
	var records []Record
	for i := range 1000 {
		name := "Quillfeather"
		if i%10 > 0 {
			name = "Okonkwo-" + string(rune('a'+i%26))
		}
		records = append(records, Record{Demographics: linkage.Demographics{FirstName: "Ana", LastName: name, DOB: "1980-02-29"}})
	}
	all, some := NewPeople(records, 0, 0).common, NewPeople(records, 50_000, 0).common
	if n := all.Bearers(linkage.Family, "quillfeather"); all.People() != 1000 || n != 100 {
		t.Errorf("%d of %d", n, all.People())
	}
	if n := some.Bearers(linkage.Family, "quillfeather"); some.People() != 50_000 || n < 3500 || n > 5000 {
		t.Errorf("%d of %d", n, some.People())
	}
	if n := some.Bearers(linkage.Family, "smith"); n < 50 || n > 150 { // nobody of the sample, but of the Census
		t.Errorf("%d of %d", n, some.People())
	}
	if a, b := all.Born(19800229), some.Born(19800229); a != 1000 || b < 10_000 {
		t.Errorf("%d and %d born on one day", a, b)
	}
}

// Nobody stands in two parts: what is tested was not learnt from.
func TestPartsHaveNobodyInCommon(t *testing.T) {
	t.Parallel()
	var records []Record
	for i := range 3000 {
		records = append(records, Record{Truth: string(rune(1000 + i/3)), Demographics: linkage.Demographics{
			ID: int64(i + 1), FirstName: "Ana", LastName: "Lima" + string(rune('a'+i/3%26)) + string(rune('a'+i/78%26)), DOB: "1980-02-29",
		}})
	}
	p := NewPeople(records, 0, 0)
	truths := newTruth(p, nil, Options{Seed: 3}.withDefaults())
	part := map[string]int{}
	for i := range records {
		if was, seen := part[records[i].Truth]; seen && was != truths.part(int32(i)) {
			t.Fatalf("records of one person are in the parts %d and %d", was, truths.part(int32(i)))
		}
		part[records[i].Truth] = truths.part(int32(i))
	}
	sizes := map[int]int{}
	for _, n := range part {
		sizes[n]++
	}
	if sizes[toLearn] < 420 || sizes[toLearn] > 580 || sizes[toCalibrate] < 190 || sizes[toTest] < 190 {
		t.Errorf("parts of %v", sizes)
	}
	total := 0
	for _, which := range []int{toLearn, toCalibrate, toTest} {
		pairs := truths.pairs(which)
		total += len(pairs)
		for _, one := range pairs {
			if !p.same(one.a, one.b) || part[records[one.a].Truth] != which {
				t.Fatal("a pair of two people, or of another part")
			}
		}
		for _, a := range truths.questions(which) {
			if part[records[a.question].Truth] != which || slices.Contains(a.candidates, a.question) || !slices.IsSorted(a.candidates) {
				t.Fatalf("%+v", a)
			}
		}
	}
	if total != 3000 {
		t.Errorf("%d pairs of 1000 people with three records", total)
	}
	if few := newTruth(p, nil, Options{Seed: 3, Questions: 10}.withDefaults()).questions(toTest); len(few) != 10 {
		t.Errorf("%d questions, want 10", len(few))
	}
}

// madeUp makes people up; person gives the truth of a record.
func madeUp(t *testing.T, o synth.Options, person func(n int64) string) (records []Record) {
	t.Helper()
	g, err := synth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for r := range g.Records() {
		d := linkage.Demographics{
			ID: int64(len(records) + 1), FirstName: r.FirstName, LastName: r.LastName, DOB: r.DOB, SexAtBirth: r.SexAtBirth, SSNLast4: r.Last4SSN,
		}
		for _, a := range r.Addresses {
			d.Addresses = append(d.Addresses, linkage.Address{Line1: a.Line1, City: a.City, State: a.State, PostalCode: a.PostalCode})
		}
		records = append(records, Record{Demographics: d, Truth: person(r.Person)})
	}
	return records
}

// A model that was learnt from wrong truths is found out by those that were held out.
func TestWhatWasLearntWronglyIsWorse(t *testing.T) {
	Calm(t)
	t.Parallel()
	o := Options{Seed: 5, Strangers: 20_000}.withDefaults()
	of := &truth{seed: o.Seed}
	records := madeUp(t, synth.Options{Seed: 35, People: 2000, Duplicated: 0.5}, func(n int64) string { return strconv.FormatInt(n, 10) })
	of.people = &People{Records: records}
	var learnt []int
	for i := range records {
		if of.part(int32(i)) == toLearn {
			learnt = append(learnt, i)
		}
	}
	wrong := slices.Clone(records)
	for n, i := range learnt { // each of them is said to be somebody else
		wrong[i].Truth = records[learnt[n*7919%len(learnt)]].Truth
	}
	for name, list := range map[string][]Record{"right": records, "wrong": wrong} {
		l, err := Learn(NewPeople(list, 0, 0), nil, linkage.Default(), o)
		if err != nil {
			t.Fatal(err)
		}
		if (len(l.Reasons) > 0) != (name == "wrong") {
			t.Errorf("%s truths: worse by %q, F1 %.4f (was %.4f)", name, l.Reasons, l.After.F1, l.Before.F1)
		}
	}
}

// Two people of whom everything is the same are taken for one. Who calibrates learns to be careful.
func TestWhereCertainAnswersAreWrongFewerAreCertain(t *testing.T) {
	Calm(t)
	t.Parallel()
	records := madeUp(t, synth.Options{Seed: 36, People: 300}, func(n int64) string { return "a" + strconv.FormatInt(n, 10) })
	doubles := madeUp(t, synth.Options{Seed: 36, People: 300}, func(n int64) string { return "b" + strconv.FormatInt(n, 10) })
	p := NewPeople(append(records, doubles...), 0, 0)
	var list []asked
	for i := range records {
		list = append(list, asked{int32(i), []int32{int32(i + len(records))}})
	}
	m := linkage.Default()
	before := p.measure(m, list)
	raised, err := clone(m)
	if err != nil {
		t.Fatal(err)
	}
	if left := p.raise(raised, list); left > 0 {
		t.Errorf("%d are certain still", left)
	}
	if after := p.measure(raised, list); before.WrongCertain < 100 || after.WrongCertain > 0 || raised.Thresholds.Probable != m.Thresholds.Probable {
		t.Errorf("%d wrong, then %d, from %v", before.WrongCertain, after.WrongCertain, raised.Thresholds.Certain)
	}
	if faults := raised.Validate(); len(faults) > 0 {
		t.Error(faults)
	}
}

// From some bits on a score is 1, above which nothing is: a model that is wrong there is told to be worse.
func TestWhatIsWrongAtAScoreOfOne(t *testing.T) {
	t.Parallel()
	records := madeUp(t, synth.Options{Seed: 36, People: 300}, func(n int64) string { return "a" + strconv.FormatInt(n, 10) })
	doubles := madeUp(t, synth.Options{Seed: 36, People: 300}, func(n int64) string { return "b" + strconv.FormatInt(n, 10) })
	p := NewPeople(append(records, doubles...), 0, 0)
	var list []asked
	for i := range records {
		list = append(list, asked{int32(i), []int32{int32(i + len(records))}})
	}
	m, err := clone(linkage.Default())
	if err != nil {
		t.Fatal(err)
	}
	m.Calibration.Scale = 3
	left := p.raise(m, list)
	if after := p.measure(m, list); left == 0 || after.WrongCertain != left {
		t.Errorf("%d are told, %d are wrong", left, after.WrongCertain)
	}
	if faults := m.Validate(); len(faults) > 0 {
		t.Error(faults)
	}
	if reasons := beyond(left); len(reasons) != 1 || len(beyond(0)) != 0 {
		t.Errorf("%d: %q", left, reasons)
	}
}
