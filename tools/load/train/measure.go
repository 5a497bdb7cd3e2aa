package train

import (
	"fmt"
	"math"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Measure is how a model does.
type Measure struct {
	Questions, Pairs, Matches int

	// Of pairs that score one half or more, and so are rather of one person than not.
	Precision, Recall, F1 float64
	ECE                   float64 // expected calibration error of the scores of ShownFrom or more
	LogLoss               float64 // in bits a pair
	First                 float64 // share of the questions with an answer whose first answer is right
	Certain, WrongCertain int     // first answers

	LogLikelihood float64 // of pairs of unknown truth: see estimate

	Bins      [calibrationBins]Bin
	Histogram Histogram
}

// Bin is the pairs whose scores are near each other.
type Bin struct {
	Pairs, Matches int
	Scores         float64 // their sum
}

const calibrationBins = 20

// ShownFrom is the score from which on pairs count for calibration: below it nearly all pairs are, and nobody is shown them.
const ShownFrom = 0.01

// Histogram is how many pairs have so many bits, by two.
type Histogram struct{ Matches, Others, Unknown map[int]int }

const bitsInBar = 2

func newHistogram() Histogram {
	return Histogram{Matches: map[int]int{}, Others: map[int]int{}, Unknown: map[int]int{}}
}

// bar is where bits stand in a histogram.
func bar(bits float64) int { return int(math.Floor(max(min(bits, 60), -60)/bitsInBar)) * bitsInBar }

// answers are what comes of a question: the bits of each candidate, as find gives them.
type answers struct {
	*linkage.Question
	bits []float64
}

func (p *People) ask(m *linkage.Model, a asked, bits []float64) answers {
	out := answers{m.Ask(&p.persons[a.question], p.common, p.now), bits[:0]}
	for _, c := range a.candidates {
		out.bits = append(out.bits, out.Score(&p.persons[c]))
	}
	out.Settle(out.bits)
	return out
}

// best is the place of the first answer and the bits of the second.
func (a answers) best() (first int, second float64) {
	second = math.Inf(-1)
	for i, bits := range a.bits {
		switch {
		case i == 0:
		case bits > a.bits[first]:
			first, second = i, a.bits[first]
		case bits > second:
			second = bits
		}
	}
	return first, second
}

// certain tells whether the first answer is graded so, and who it is.
func (p *People) certain(m *linkage.Model, of asked, a answers) (candidate int32, certain bool) {
	first, second := a.best()
	candidate = of.candidates[first]
	_, bits, veto := a.Explain(&p.persons[candidate])
	return candidate, m.Grade(bits, second, veto, false) == linkage.Certain
}

// measure asks each question, and compares what comes out with the truth.
func (p *People) measure(m *linkage.Model, list []asked) Measure {
	out := Measure{Questions: len(list), Histogram: newHistogram()}
	var hits, chosen, answerable, right int
	var a answers
	for _, of := range list {
		a = p.ask(m, of, a.bits)
		matches := out.Matches
		for i, bits := range a.bits {
			same := p.same(of.question, of.candidates[i])
			out.note(bits, same)
			if bits >= 0 {
				chosen++
				if same {
					hits++
				}
			}
		}
		first, certain := p.certain(m, of, a)
		correct := p.same(of.question, first)
		if out.Matches > matches {
			answerable++
			if correct {
				right++
			}
		}
		if certain {
			out.Certain++
			if !correct {
				out.WrongCertain++
			}
		}
	}
	out.Precision, out.Recall = ratio(hits, chosen), ratio(hits, out.Matches)
	if sum := out.Precision + out.Recall; sum > 0 {
		out.F1 = 2 * out.Precision * out.Recall / sum
	}
	out.First = ratio(right, answerable)
	out.LogLoss /= float64(max(out.Pairs, 1))
	out.ECE = out.expectedError()
	return out
}

// note counts a pair.
func (m *Measure) note(bits float64, same bool) {
	m.Pairs++
	if same {
		m.Matches++
		m.Histogram.Matches[bar(bits)]++
	} else {
		m.Histogram.Others[bar(bits)]++
	}
	m.calibrate(bits, same)
}

// calibrate notes a pair.
func (m *Measure) calibrate(bits float64, same bool) {
	m.LogLoss += surprise(bits, same)
	score := linkage.Likelihood(bits)
	if score < ShownFrom {
		return
	}
	bin := &m.Bins[min(int(score*calibrationBins), calibrationBins-1)]
	bin.Pairs++
	bin.Scores += score
	if same {
		bin.Matches++
	}
}

// surprise is minus log2 of the probability that was given to what is true.
func surprise(bits float64, same bool) float64 {
	if same {
		bits = -bits
	}
	return max(bits, 0) + math.Log2(1+math.Exp2(-math.Abs(bits)))
}

// expectedError is how far scores and shares of pairs of one person are apart, on the average of the pairs.
func (m *Measure) expectedError() (sum float64) {
	pairs := 0
	for _, b := range m.Bins {
		pairs += b.Pairs
		sum += math.Abs(b.Scores - float64(b.Matches))
	}
	return sum / float64(max(pairs, 1))
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// unlabelled is how many bits a model gives to pairs of which nobody knows whose they are.
func (p *People) unlabelled(m *linkage.Model, pairs []pair) Measure {
	out := Measure{Pairs: len(pairs), Histogram: newHistogram()}
	var q *linkage.Question
	question := int32(-1)
	for _, one := range pairs {
		if one.a != question {
			q, question = m.Ask(&p.persons[one.a], p.common, p.now), one.a
		}
		out.Histogram.Unknown[bar(q.Score(&p.persons[one.b]))]++
	}
	return out
}

// By how much a figure may be worse by chance, on what is held out.
const (
	slackF1      = 0.002
	slackECE     = 0.002
	wantedECE    = 0.02
	slackLogLoss = 1.02
)

// worse tells why a model must not take the place of another one.
func worse(before, after Measure) (reasons []string) {
	if after.WrongCertain > before.WrongCertain {
		reasons = append(reasons, fmt.Sprintf("%d answers graded certain are wrong, %d were", after.WrongCertain, before.WrongCertain))
	}
	if after.F1 < before.F1-slackF1 {
		reasons = append(reasons, fmt.Sprintf("F1 is %.4f, it was %.4f", after.F1, before.F1))
	}
	if after.ECE > max(before.ECE+slackECE, wantedECE) {
		reasons = append(reasons, fmt.Sprintf("the expected calibration error is %.4f, it was %.4f", after.ECE, before.ECE))
	}
	if after.LogLoss > before.LogLoss*slackLogLoss {
		reasons = append(reasons, fmt.Sprintf("the scores surprise by %.5f bits a pair, they did by %.5f", after.LogLoss, before.LogLoss))
	}
	return reasons
}

// beyond tells of wrong answers, of those that a model was calibrated by, that no threshold keeps from being certain.
func beyond(left int) []string {
	if left == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d answers that are wrong have a score of 1, and are graded certain whatever the threshold", left)}
}

// unlikelier tells the same where the truth is not known.
func unlikelier(before, after Measure) []string {
	if after.Pairs == 0 {
		return []string{"no pair could be held out"}
	}
	if after.LogLikelihood < before.LogLikelihood {
		return []string{fmt.Sprintf("pairs that were held out are less likely by it: log likelihood %.1f, it was %.1f", after.LogLikelihood, before.LogLikelihood)}
	}
	return nil
}
