package matchbench

import (
	"context"
	"math"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Answer is one candidate that came back for a record asked.
type Answer struct {
	Asked, Found int // places in the set
	Same         bool
	Rank         int // 0 is the best
	Bits, Score  float64
	Grade        string
	Veto         string
}

// Outcome is all answers to the records asked.
type Outcome struct {
	Set     *Set
	Model   string
	Asked   []int
	Answers []Answer // of one record asked together, best first
}

// Offline says how a set is weighed in this process.
type Offline struct {
	Sample  int     // records asked at most; 0: all
	Atleast float64 // bits of an answer to be kept; what is below is only counted as not found
	Workers int     // goroutines; 1 when 0
}

// bruteForce is the size of set up to which each record asked is weighed against every other one.
const bruteForce = 6000

// Run weighs records of a set against the others, each as if it was asked of a tenant that holds all others: against all of
// them, or in a big set against those who share a cheap key (sound of a name, day of birth, and so on). It is what a search
// would give that loses nobody, and knows nothing of the index.
func (o Offline) Run(ctx context.Context, set *Set, model *linkage.Model) (Outcome, error) {
	crowd := gather(set)
	asked := set.sample(o.Sample)
	answers := make([][]Answer, len(asked))
	group, ctx := errgroup.WithContext(ctx)
	workers := max(o.Workers, 1)
	now := time.Now().UnixMilli()
	for worker := range workers {
		group.Go(func() error {
			for n := worker; n < len(asked) && ctx.Err() == nil; n += workers {
				answers[n] = o.ask(set, crowd, model, asked[n], now)
			}
			return ctx.Err()
		})
	}
	err := group.Wait()
	return Outcome{Set: set, Asked: asked, Answers: slices.Concat(answers...)}, err
}

func (o Offline) ask(set *Set, c *crowd, model *linkage.Model, asked int, now int64) []Answer {
	asks := c.parser.Person(new(person(questionOf(&set.Records[asked].Person))), nil)
	question := model.Ask(&asks, c, now)
	var out []Answer
	others := c.near(asked)
	weights := make([]float64, len(others))
	for i, other := range others {
		weights[i] = question.Score(&c.people[other])
	}
	question.Settle(weights)
	for i, other := range others {
		if weights[i] >= o.Atleast {
			out = append(out, Answer{Asked: asked, Found: other, Bits: weights[i], Same: set.Records[other].Truth == set.Records[asked].Truth})
		}
	}
	slices.SortFunc(out, func(a, b Answer) int {
		if a.Bits > b.Bits {
			return -1
		}
		return 1
	})
	for i := range out {
		a := &out[i]
		second := math.Inf(-1)
		if i == 0 && len(out) > 1 {
			second = out[1].Bits
		} else if i > 0 {
			second = out[0].Bits
		}
		_, _, a.Veto = question.Explain(&c.people[a.Found])
		a.Rank, a.Score, a.Grade = i, linkage.Likelihood(a.Bits), model.Grade(a.Bits, second, a.Veto, false)
	}
	return out
}

// crowd is a set in normal form, with how common its values are.
type crowd struct {
	parser *linkage.Parser
	people []linkage.Person
	keys   map[string][]int // nil: everybody is near everybody
	names  map[nameKey]int
	born   map[linkage.Date]int
}

type nameKey struct {
	kind linkage.Kind
	text string
}

func gather(set *Set) *crowd {
	parser := linkage.NewParser()
	known := map[nameKey]*linkage.Text{}
	text := func(kind linkage.Kind, raw string) *linkage.Text {
		key := nameKey{kind, raw}
		if known[key] == nil {
			t := parser.Parse(kind, raw)
			t.ID = uint32(len(known) + 1) //nolint:gosec // a set is smaller than that
			known[key] = t
		}
		return known[key]
	}
	c := &crowd{parser: parser, people: make([]linkage.Person, len(set.Records)), names: map[nameKey]int{}, born: map[linkage.Date]int{}}
	if len(set.Records) > bruteForce {
		c.keys = map[string][]int{}
	}
	for i := range set.Records {
		p := &c.people[i]
		parser.Fill(p, &set.Records[i].Person, text)
		c.count(linkage.Given, p.First)
		c.count(linkage.Family, p.Last)
		for j := range p.Addresses {
			if postal := p.Addresses[j].Postal; postal != nil && !postal.Missing {
				c.names[nameKey{linkage.Postal, postal.Whole}]++
			}
		}
		if p.DOB != 0 {
			c.born[p.DOB]++
		}
		if c.keys != nil {
			for _, key := range keys(p) {
				c.keys[key] = append(c.keys[key], i)
			}
		}
	}
	return c
}

func (c *crowd) count(kind linkage.Kind, t *linkage.Text) {
	if t == nil {
		return
	}
	for i := range t.Parts {
		if !slices.ContainsFunc(t.Parts[:i], func(p linkage.Part) bool { return p.Text == t.Parts[i].Text }) {
			c.names[nameKey{kind, t.Parts[i].Text}]++
		}
	}
}

// People, Bearers and Born make it linkage.Frequencies.
func (c *crowd) People() int { return len(c.people) }

// Bearers is how many have a part in their first or last name, or a postal code.
func (c *crowd) Bearers(kind linkage.Kind, part string) int { return c.names[nameKey{kind, part}] }

// Born is how many were born on a day.
func (c *crowd) Born(d linkage.Date) int { return c.born[d] }

// near are the others that a record is weighed against.
func (c *crowd) near(asked int) []int {
	var out []int
	if c.keys == nil {
		for i := range c.people {
			if i != asked {
				out = append(out, i)
			}
		}
		return out
	}
	seen := map[int]bool{asked: true}
	for _, key := range keys(&c.people[asked]) {
		for _, other := range c.keys[key] {
			if !seen[other] {
				seen[other] = true
				out = append(out, other)
			}
		}
	}
	return out
}

// keys are cheap and many, so that hardly anybody is lost: this is no index.
func keys(p *linkage.Person) []string {
	var out []string
	sounds := func(t *linkage.Text, sort string) {
		if t == nil {
			return
		}
		for _, part := range t.Parts {
			out = append(out, sort+part.Sound)
			if part.Sound2 != "" {
				out = append(out, sort+part.Sound2)
			}
			if part.Sound == "" {
				out = append(out, sort+part.Text)
			}
		}
	}
	sounds(p.First, "name ")
	sounds(p.Last, "name ")
	for i := range p.Aliases {
		sounds(p.Aliases[i].Last, "name ")
	}
	if p.DOB != 0 {
		out = append(out, "born "+strconv.Itoa(int(p.DOB)))
	}
	if p.SSNLast4 >= 0 {
		out = append(out, "ssn "+strconv.Itoa(int(p.SSNLast4)))
	}
	for _, phone := range p.Phones {
		out = append(out, "phone "+strconv.FormatUint(uint64(phone), 10))
	}
	for _, email := range p.Emails {
		out = append(out, "mail "+email)
	}
	for i := range p.Addresses {
		if a := &p.Addresses[i]; a.House != "" && a.Postal != nil {
			out = append(out, "home "+a.House+" "+a.Postal.Whole)
		}
	}
	for _, id := range p.Identifiers {
		out = append(out, "number "+id.Value)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
