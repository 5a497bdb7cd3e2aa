package matchbench

import (
	"math"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// Persons 1 and 2 have three and two records, person 3 one.
func people6() *Set {
	return &Set{Name: "six", Records: []Record{{Truth: 1}, {Truth: 1}, {Truth: 1}, {Truth: 2}, {Truth: 2}, {Truth: 3}}}
}

func TestMeasure(t *testing.T) {
	t.Parallel()
	set := people6()
	answer := func(asked, found, rank int, score float64, grade string) Answer {
		return Answer{Asked: asked, Found: found, Rank: rank, Score: score, Grade: grade, Same: set.Records[asked].Truth == set.Records[found].Truth}
	}
	m := Measure(Outcome{Set: set, Asked: []int{0, 3, 5}, Answers: []Answer{
		answer(0, 1, 0, 0.99, "certain"), answer(0, 5, 1, 0.6, "possible"), answer(0, 2, 2, 0.4, "possible"),
		answer(3, 0, 0, 0.95, "probable"), answer(3, 4, 1, 0.9, "probable"),
		answer(5, 4, 0, 0.99, "certain"),
	}})
	if m.Asked != 3 || m.True != 3 || m.Answers != 6 || m.Certain != 2 || m.CertainWrong != 1 {
		t.Errorf("%+v", m)
	}
	near(t, "usual precision", m.ShownPrecision, 2.0/5) // 1 right and 1 wrong at 0.99, wrong at 0.95, right at 0.9, wrong at 0.6
	near(t, "usual recall", m.ShownRecall, 2.0/3)
	near(t, "precision", m.Precision, 3.0/6) // that at 0.4, too
	near(t, "recall", m.Recall, 3.0/3)
	near(t, "F1", m.F1, 2.0/3)
	near(t, "best F1", m.BestF1, 2*0.5*1/1.5) // everything
	near(t, "its threshold", m.BestAt, 0.4)
	near(t, "recall at precision 0.99", m.RecallAt99, 0)
	near(t, "top-1", m.Top1, 0.5) // of 0 and 3: 5 has nobody
	near(t, "certain of the true pairs", m.CertainOf, 1.0/3)
	near(t, "came back", m.Seen, 1)
	// 0.99, 0.99 and 0.95 with one right; 0.9, right; 0.6, wrong; 0.4, right. From the last bin down:
	all := (3*math.Abs((0.99+0.99+0.95)/3-1.0/3) + (1 - 0.9) + 0.6 + (1 - 0.4)) / 6
	near(t, "calibration", m.Calibration, all)
	near(t, "calibration from 0.5 on", m.CalibrationUpper, (3*math.Abs((0.99+0.99+0.95)/3-1.0/3)+(1-0.9)+0.6)/5)
}

func TestRecallAtPrecision(t *testing.T) {
	t.Parallel()
	set := people6()
	m := Measure(Outcome{Set: set, Asked: []int{0, 1, 2}, Answers: []Answer{
		{Asked: 0, Found: 1, Score: 0.9, Same: true},
		{Asked: 1, Found: 0, Score: 0.8, Same: true},
		{Asked: 2, Found: 0, Score: 0.7, Same: true},
		{Asked: 0, Found: 5, Score: 0.6},
		{Asked: 2, Found: 1, Score: 0.5, Same: true},
	}})
	near(t, "recall at precision 0.99", m.RecallAt99, 0.5)
	// Two answers with one score come together or not at all.
	m = Measure(Outcome{Set: set, Asked: []int{3}, Answers: []Answer{{Asked: 3, Found: 4, Score: 0.9, Same: true}, {Asked: 3, Found: 0, Score: 0.9}}})
	near(t, "recall at precision 0.99", m.RecallAt99, 0)
}

func TestNothingIsNoDivision(t *testing.T) {
	t.Parallel()
	m := Measure(Outcome{Set: people6()})
	if m != (Measures{}) {
		t.Errorf("%+v", m)
	}
}
