package linkage

import "math"

// Question is somebody to be found, weighed by a model among a tenant's people. One goroutine uses it at a time. The zero value
// is nobody; Model.AskInto makes a question of it.
type Question struct {
	Person *Person

	model  *tables
	common commonness
	now    int64
	prior  float64

	first, last, middle *asked   // nil: not known
	crossFirst          *asked   // the first name, looked for among last names
	crossLast           *asked   // the last name, looked for among first names
	firsts, lasts       []*asked // of the person's own aliases
	streets, cities     []*asked
	postals             []float64 // log2 of the shares of the postal codes
	born                float64   // log2 of the share of the day of birth
	slots               uint32
	found               float64 // records of the person, by Settle
	memory              memory
}

// pair is how a question and a candidate agree.
type pair struct {
	level  [fieldCount]int8
	weight [fieldCount]float64
}

// Ask prepares a question. Now is in milliseconds since 1970: aliases and identifiers count while they hold. Without
// frequencies those of the Census stand for a tenant's own.
func (m *Model) Ask(p *Person, f Frequencies, now int64) *Question {
	q := new(Question)
	m.AskInto(q, p, f, now)
	return q
}

// AskInto is Ask in the memory of a question that nobody needs any more, of which there is much.
func (m *Model) AskInto(q *Question, p *Person, f Frequencies, now int64) {
	q.begin()
	q.Person, q.model, q.now = p, m.tables(), now
	q.common = commonness{of: f, by: m.Frequency, people: 0, census: standard().Share}
	if f != nil {
		q.common.people = float64(max(f.People(), 1))
	} else {
		q.common.people = unknownSize
	}
	q.prior = math.Log2(m.Prior.Matches / q.common.people)
	q.first, q.last, q.middle = q.ask(p.First, Given), q.ask(p.Last, Family), q.ask(p.Middle, Given)
	q.crossFirst, q.crossLast = q.ask(p.First, Family), q.ask(p.Last, Given)
	for i := range p.Aliases {
		if a := &p.Aliases[i]; holds(a.From, a.Until, now) {
			q.firsts, q.lasts = append(q.firsts, q.ask(a.First, Given)), append(q.lasts, q.ask(a.Last, Family))
		}
	}
	for i := range p.Addresses {
		q.streets = append(q.streets, q.ask(p.Addresses[i].Line, Street))
		q.postals = append(q.postals, math.Log2(q.common.postal(p.Addresses[i].Postal, m.Fields[inArea].Levels[areaPostal].U)))
		q.cities = append(q.cities, q.ask(p.Addresses[i].City, City))
	}
	if p.DOB != 0 {
		q.born = math.Log2(q.common.day(p.DOB))
	}
}

// begin forgets a question. What is remembered of it stays: no later question has texts in its slots, until all are used up.
func (q *Question) begin() {
	q.first, q.last, q.middle, q.crossFirst, q.crossLast = nil, nil, nil, nil, nil
	q.firsts, q.lasts, q.streets, q.cities, q.postals = q.firsts[:0], q.lasts[:0], q.streets[:0], q.cities[:0], q.postals[:0]
	q.born, q.found = 0, 0
	if q.slots > math.MaxUint32/2 {
		q.slots, q.memory = 0, memory{}
	}
}

// unknownSize stands for the people of a tenant of whom nothing is known.
const unknownSize = 100000

// holds tells whether an interval covers an instant. Zero is open.
func holds(from, until, now int64) bool {
	return (from == 0 || from <= now) && (until == 0 || now < until)
}

// Score gives the bits for and against the candidate being the person asked for, prior included, without what Settle adds. It
// allocates nothing.
func (q *Question) Score(candidate *Person) (bits float64) {
	var p pair
	q.compare(candidate, &p)
	return q.weigh(&p).bits
}

// compare fills in every field.
func (q *Question) compare(c *Person, p *pair) {
	q.compareNames(c, p)
	q.compareMiddle(c, p)
	q.compareSuffix(c, p)
	q.compareDates(c, p)
	q.compareSexes(c, p)
	q.compareAddresses(c, p)
	q.comparePhones(c, p)
	q.compareEmails(c, p)
	q.compareNumbers(c, p)
}

// at puts a field at a level with its usual weight.
func (q *Question) at(p *pair, field, level int) {
	p.set(field, level, q.model.weight[field][level])
}

func (p *pair) set(field, level int, weight float64) {
	p.level[field], p.weight[field] = int8(level), weight //nolint:gosec // fewer than mostLevels
}

func (p *pair) lacks(field int) {
	p.level[field], p.weight[field] = missing, 0
}
