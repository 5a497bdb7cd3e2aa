package estimate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/tools/load/train/estimate"
)

// believed is a scheme with what is believed of it, which is not what the tests simulate.
func believed() estimate.Scheme {
	return estimate.Scheme{
		{Name: "first", Levels: []string{"exact", "close", "differs"}, M: []float64{0.90, 0.06, 0.04}, U: []float64{0.01, 0.01, 0.98}},
		{Name: "last", Levels: []string{"exact", "close", "differs"}, M: []float64{0.92, 0.04, 0.04}, U: []float64{0.004, 0.006, 0.99}},
		{Name: "dob", Levels: []string{"exact", "swapped", "edit", "differs"}, M: []float64{0.95, 0.005, 0.03, 0.015}, U: []float64{1e-4, 1e-5, 2e-3, 0.99789}},
		{Name: "sex", Levels: []string{"exact", "differs"}, M: []float64{0.99, 0.01}, U: []float64{0.5, 0.5}},
		{Name: "phone", Levels: []string{"exact", "differs"}, M: []float64{0.6, 0.4}, U: []float64{1e-5, 1 - 1e-5}},
	}
}

// truth is what the tests simulate: worse typists, and telephones that change more often.
func truth() (m, u [][]float64) {
	m = [][]float64{{0.70, 0.20, 0.10}, {0.75, 0.15, 0.10}, {0.85, 0.03, 0.08, 0.04}, {0.97, 0.03}, {0.35, 0.65}}
	u = [][]float64{{0.02, 0.02, 0.96}, {0.01, 0.01, 0.98}, {3e-4, 1e-4, 4e-3, 1 - 4.4e-3}, {0.52, 0.48}, {1e-4, 1 - 1e-4}}
	return m, u
}

func draw(r *rand.Rand, p []float64) int8 {
	x := r.Float64()
	for i, q := range p {
		if x -= q; x < 0 {
			return int8(i)
		}
	}
	return int8(len(p) - 1)
}

// simulate draws pairs: those of one person from m, the others from u; some fields are not known, and some are fixed.
func simulate(r *rand.Rand, pairs int, share float64, m, u [][]float64, fixed ...int) *estimate.Tally {
	t := &estimate.Tally{}
	for range pairs {
		from := u
		if r.Float64() < share {
			from = m
		}
		v := make(estimate.Vector, len(from))
		for f := range from {
			v[f] = draw(r, from[f])
			if r.Float64() < 0.1 {
				v[f] = estimate.Missing
			}
		}
		for _, f := range fixed {
			v[f] = estimate.Missing
		}
		t.Add(v, 1)
	}
	return t
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within {
		t.Errorf("%s is %.5f, want %.5f ± %.5f", what, got, want, within)
	}
}

func TestEMFindsWhatIsTrue(t *testing.T) {
	t.Parallel()
	s, a := believed(), estimate.DefaultAnchor()
	m, u := truth()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		learnt := estimate.Strangers(s, simulate(r, 300_000, 0, m, u), a)
		fit := estimate.EM(s, learnt, []*estimate.Tally{
			simulate(r, 20_000, 0.3, m, u, 0, 2), // found by first name and date of birth
			simulate(r, 20_000, 0.1, m, u, 1, 2),
			simulate(r, 20_000, 0.5, m, u, 4),
		}, a)
		for f := range s {
			for level := range m[f] {
				name := s[f].Name + " " + s[f].Levels[level]
				near(t, "m of "+name, fit.M[f][level], m[f][level], 0.02)
				near(t, "u of "+name, fit.U[f][level], u[f][level], 0.003)
			}
		}
		for g, want := range []float64{0.3, 0.1, 0.5} {
			near(t, "a share", fit.Shares[g], want, 0.02)
		}
		near(t, "pairs of one person", fit.Pairs, 10_000, 500)
	}
}

func TestCountingFindsWhatIsTrue(t *testing.T) {
	t.Parallel()
	s, a := believed(), estimate.DefaultAnchor()
	m, u := truth()
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 2))
		fit := estimate.Count(s, simulate(r, 20_000, 1, m, u), simulate(r, 300_000, 0, m, u), a)
		for f := range s {
			for level := range m[f] {
				near(t, s[f].Name+" "+s[f].Levels[level], fit.M[f][level], m[f][level], 0.015)
				near(t, s[f].Name+" "+s[f].Levels[level], fit.U[f][level], u[f][level], 0.003)
			}
		}
	}
}

func TestWithoutPairsThereIsTheBelief(t *testing.T) {
	t.Parallel()
	s, a := believed(), estimate.DefaultAnchor()
	none := []*estimate.Tally{{}, {}}
	fit := estimate.EM(s, estimate.Strangers(s, &estimate.Tally{}, a), none, a)
	counted := estimate.Count(s, none[0], none[1], a)
	for f := range s {
		for level := range s[f].M {
			for _, got := range []estimate.Fit{fit, counted} {
				near(t, "m of "+s[f].Name, got.M[f][level], s[f].M[level], 1e-9)
				near(t, "u of "+s[f].Name, got.U[f][level], s[f].U[level], 1e-9)
			}
		}
	}
}

// weights are log2 of m/u.
func weights(fit estimate.Fit, f int) []float64 {
	out := make([]float64, len(fit.M[f]))
	for level := range out {
		out[level] = math.Log2(fit.M[f][level] / fit.U[f][level])
	}
	return out
}

func TestLittleDataMovesLittle(t *testing.T) {
	t.Parallel()
	s, a := believed(), estimate.DefaultAnchor()
	m, u := truth()
	r := rand.New(rand.NewPCG(7, 7))
	learnt := estimate.Strangers(s, simulate(r, 100, 0, m, u), a)
	fit := estimate.EM(s, learnt, []*estimate.Tally{simulate(r, 20, 0.5, m, u)}, a)
	before := estimate.EM(s, estimate.Strangers(s, &estimate.Tally{}, a), nil, a)
	for f := range s {
		was, is := weights(before, f), weights(fit, f)
		for level := range is {
			if math.Abs(is[level]-was[level]) > 2 {
				t.Errorf("twenty pairs moved %s %s from %.1f to %.1f bits", s[f].Name, s[f].Levels[level], was[level], is[level])
			}
		}
	}
}

// A tenant none of whose records are of one person teaches nothing of those that are.
func TestStrangersAloneRuinNothing(t *testing.T) {
	t.Parallel()
	s, a := believed(), estimate.DefaultAnchor()
	_, u := truth()
	r := rand.New(rand.NewPCG(8, 8))
	learnt := estimate.Strangers(s, simulate(r, 200_000, 0, u, u), a)
	fit := estimate.EM(s, learnt, []*estimate.Tally{simulate(r, 50_000, 0, u, u, 0, 1), simulate(r, 50_000, 0, u, u, 2)}, a)
	for f := range s {
		for level := range s[f].M {
			near(t, "m of "+s[f].Name+" "+s[f].Levels[level], fit.M[f][level], s[f].M[level], 0.02)
		}
	}
	if fit.Pairs > 30 {
		t.Errorf("%.0f pairs of one person are made up", fit.Pairs)
	}
}

// scheme draws any scheme, whose belief may be odd, but is a distribution.
func scheme(t *rapid.T) estimate.Scheme {
	s := make(estimate.Scheme, rapid.IntRange(1, 4).Draw(t, "fields"))
	for f := range s {
		n := rapid.IntRange(2, 5).Draw(t, "levels")
		s[f] = estimate.Field{Levels: make([]string, n), M: distribution(t, n), U: distribution(t, n)}
	}
	return s
}

func distribution(t *rapid.T, n int) []float64 {
	p, sum := make([]float64, n), 0.0
	for i := range p {
		p[i] = math.Exp2(-rapid.Float64Range(0, 20).Draw(t, "bits"))
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func tally(t *rapid.T, s estimate.Scheme) *estimate.Tally {
	out := &estimate.Tally{}
	for range rapid.IntRange(0, 12).Draw(t, "patterns") {
		v := make(estimate.Vector, len(s))
		for f := range s {
			v[f] = int8(rapid.IntRange(-1, len(s[f].Levels)-1).Draw(t, "level"))
		}
		out.Add(v, float64(rapid.IntRange(1, 100_000).Draw(t, "pairs")))
	}
	return out
}

// Whatever is believed and whatever comes, the result is distributions, better agreement never speaks less for one person,
// and every step is at least as good as the one before.
func TestAnyData(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, a := scheme(t), estimate.DefaultAnchor()
		u := estimate.Strangers(s, tally(t, s), a)
		fit := estimate.EM(s, u, []*estimate.Tally{tally(t, s), tally(t, s)}, a)
		hold(t, fit)
		times := rapid.Float64Range(1, 16).Draw(t, "times")
		hold(t, fit.Bounded(s, times))
		hold(t, estimate.Count(s, tally(t, s), tally(t, s), a))
		for i := 1; i < len(fit.Trace); i++ {
			if fit.Trace[i] < fit.Trace[i-1]-1e-6*math.Abs(fit.Trace[i-1]) {
				t.Fatalf("iteration %d makes it less likely: %v", i, fit.Trace[i-1:i+1])
			}
		}
	})
}

func hold(t *rapid.T, fit estimate.Fit) {
	for f := range fit.M {
		for _, p := range [][]float64{fit.M[f], fit.U[f]} {
			sum := 0.0
			for _, q := range p {
				if !(q > 0 && q <= 1) {
					t.Fatalf("%v is no distribution", p)
				}
				sum += q
			}
			if math.Abs(sum-1) > 1e-9 {
				t.Fatalf("%v sums to %v", p, sum)
			}
		}
		w := weights(fit, f)
		for level := 1; level < len(w); level++ {
			if w[level] > w[level-1]+1e-6 {
				t.Fatalf("weights rise: %v of m %v and u %v", w, fit.M[f], fit.U[f])
			}
		}
	}
}

func TestTheOrderOfPairsDoesNotMatter(t *testing.T) {
	t.Parallel()
	s, a := believed(), estimate.DefaultAnchor()
	m, u := truth()
	var pairs []estimate.Vector
	r := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		v := make(estimate.Vector, len(s))
		for f := range v {
			v[f] = draw(r, m[f])
		}
		pairs = append(pairs, v)
	}
	var first estimate.Fit
	for i := range 3 {
		r.Shuffle(len(pairs), func(i, j int) { pairs[i], pairs[j] = pairs[j], pairs[i] })
		all := &estimate.Tally{}
		for _, v := range pairs {
			all.Add(v, 1)
		}
		fit := estimate.EM(s, u, []*estimate.Tally{all}, a)
		if i == 0 {
			first = fit
		}
		for f := range s {
			for level := range fit.M[f] {
				if fit.M[f][level] != first.M[f][level] { // to the last bit
					t.Fatalf("%v, then %v", first.M[f], fit.M[f])
				}
			}
		}
	}
}

func TestHeldOutPairsTellTheBetterFit(t *testing.T) {
	t.Parallel()
	s, a := believed(), estimate.DefaultAnchor()
	m, u := truth()
	r := rand.New(rand.NewPCG(4, 4))
	learnt := estimate.Strangers(s, simulate(r, 100_000, 0, m, u), a)
	fit := estimate.EM(s, learnt, []*estimate.Tally{simulate(r, 10_000, 0.3, m, u)}, a)
	before := estimate.Count(s, &estimate.Tally{}, &estimate.Tally{}, a)
	held := []*estimate.Tally{simulate(r, 10_000, 0.3, m, u), simulate(r, 10_000, 0.05, m, u)}
	if was, is := before.LogLikelihood(s, held), fit.LogLikelihood(s, held); is <= was {
		t.Errorf("before %.0f, after %.0f", was, is)
	}
}

func TestWhatIsLearntMayBeBounded(t *testing.T) {
	t.Parallel()
	s := believed()
	m, u := truth()
	m[0] = []float64{0.2, 0.1, 0.7} // of first names: far from what is believed
	r := rand.New(rand.NewPCG(5, 5))
	fit := estimate.Count(s, simulate(r, 20_000, 1, m, u), simulate(r, 100_000, 0, m, u), estimate.DefaultAnchor())
	bounded := fit.Bounded(s, 4)
	for f := range s {
		for level, was := range s[f].M {
			if ratio := bounded.M[f][level] / was; ratio > 9 || ratio < 1./9 { // after they were brought to one
				t.Errorf("m of %s %s went from %.3f to %.3f", s[f].Name, s[f].Levels[level], was, bounded.M[f][level])
			}
		}
	}
	near(t, "what is near stays", bounded.M[1][0], fit.M[1][0], 0.01)
	if fit.M[0][2] < 0.6 || bounded.M[0][2] > 0.4 {
		t.Errorf("differing first names: %.2f, bounded %.2f", fit.M[0][2], bounded.M[0][2])
	}
}

// What is rarer than what was counted would show is believed in still.
func TestWhatIsTooRareToBeSeenIsBelieved(t *testing.T) {
	t.Parallel()
	a, belief := estimate.DefaultAnchor(), []float64{2e-6, 1e-3, 1 - 1e-3 - 2e-6}
	for pairs, least := range map[float64]float64{1000: 0.99, 300_000: 0.7, 100e6: 0} {
		got := a.Distribution([]float64{0, pairs * 1e-3, pairs * (1 - 1e-3)}, belief)
		if ratio := got[0] / belief[0]; ratio < least || ratio > 1 || pairs > 1e6 && ratio > 0.02 {
			t.Errorf("after %g pairs without one, what two in a million have is %.3f times as frequent", pairs, ratio)
		}
	}
}
