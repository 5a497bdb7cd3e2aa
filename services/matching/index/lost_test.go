package index

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// crowd are people whose names are made of syllables, and some who bear names with nicknames.
func crowd(r *rand.Rand, n int) []linkage.Demographics {
	syllables := []string{"ba", "ke", "di", "fo", "gu", "ha", "le", "mi", "no", "pu", "ra", "se", "ti", "vo", "wu", "za", "cha", "dre", "fli", "glo"}
	known := []string{"Elizabeth", "Bess", "Margaret", "Peggy", "William", "Bill", "Anna", "Annemarie", "Wilhelmina", "Anne Marie"}
	word := func(most int, end string) string {
		k := r.Intn(r.Intn(most) + 1)
		return syllables[k%20] + syllables[k/20%20] + end
	}
	first := func() string {
		if r.Intn(4) == 0 {
			return known[r.Intn(len(known))]
		}
		return word(300, "n")
	}
	var all []linkage.Demographics
	for i := range n {
		d := linkage.Demographics{
			ID: int64(i + 1), FirstName: first(), LastName: word(400, "rt"), SexAtBirth: []string{"female", "male", ""}[r.Intn(3)],
			DOB: fmt.Sprintf("%d-%02d-%02d", 1930+r.Intn(80), 1+r.Intn(12), 1+r.Intn(28)),
		}
		if r.Intn(2) == 0 {
			d.MiddleName = []string{first(), "A", "B"}[r.Intn(3)]
		}
		if r.Intn(2) == 0 {
			number := fmt.Sprintf("617555%04d", r.Intn(10000))
			d.Contacts = append(d.Contacts, linkage.Contact{System: "phone", Value: number, E164: "+1" + number})
		}
		if r.Intn(3) == 0 {
			d.Contacts = append(d.Contacts, linkage.Contact{System: "email", Value: word(400, fmt.Sprint(r.Intn(100))) + "@mail.example"})
		}
		if r.Intn(3) == 0 {
			d.SSNLast4 = fmt.Sprintf("%04d", 1+r.Intn(9000))
		}
		all = append(all, d)
	}
	return all
}

// damage makes a question of somebody, with some errors.
func damage(r *rand.Rand, d linkage.Demographics, crowd []linkage.Demographics) linkage.Demographics {
	d.ID = 0
	d.Contacts = append([]linkage.Contact(nil), d.Contacts...)
	slip := func(s string) string {
		if len(s) < 2 {
			return s
		}
		at := 1 + r.Intn(len(s)-1)
		return s[:at] + string(rune('a'+r.Intn(26))) + s[at+1:]
	}
	other := crowd[r.Intn(len(crowd))]
	for range r.Intn(4) {
		switch r.Intn(12) {
		case 0:
			d.FirstName = slip(d.FirstName)
		case 1:
			d.LastName = slip(d.LastName)
		case 2:
			d.FirstName = map[string]string{"Elizabeth": "Bess", "Bess": "Elizabeth", "Margaret": "Peggy", "William": "Bill", "Bill": "William"}[d.FirstName]
		case 3:
			d.FirstName, d.LastName = d.LastName, d.FirstName
		case 4:
			if d.DOB != "" {
				d.DOB = d.DOB[:4] + "-01-01"
			}
		case 5:
			if d.DOB != "" {
				d.DOB = d.DOB[:8] + fmt.Sprintf("%02d", 1+r.Intn(28))
			}
		case 6:
			d.DOB = ""
		case 7:
			d.DOB = other.DOB
		case 8:
			d.LastName = other.LastName
		case 9:
			d.FirstName, d.MiddleName = d.MiddleName, ""
		case 10:
			for i := range d.Contacts {
				if n := []byte(d.Contacts[i].Value); d.Contacts[i].System == "phone" {
					n[8] = '0' + (n[8]-'0'+1)%10
					d.Contacts[i].Value, d.Contacts[i].E164 = string(n), "+1"+string(n)
				}
			}
		case 11:
			d.FirstName = ""
		}
	}
	return d
}

// trained are valid models that are not the default one.
func trained(r *rand.Rand) *linkage.Model {
	m := linkage.Default()
	for f := range m.Fields {
		was := append([]linkage.Level(nil), m.Fields[f].Levels...)
		levels, sum := m.Fields[f].Levels, 0.0
		for l := range levels {
			levels[l].M *= math.Exp2(4*r.Float64() - 2)
			sum += levels[l].M
		}
		for l := range levels {
			levels[l].M /= sum
		}
		if len(m.Validate()) > 0 {
			m.Fields[f].Levels = was
		}
	}
	m.Frequency.Days = math.Exp2(12 + 7*r.Float64())
	m.Frequency.Names = 1 + r.Intn(3000)
	m.Careless = linkage.Careless{Share: 0.8 * r.Float64(), Times: 1 + 40*r.Float64()}
	m.Calibration = linkage.Calibration{Scale: 0.5 + r.Float64(), Shift: 4*r.Float64() - 2}
	m.Thresholds.Margin = 20 * r.Float64()
	return m
}

// brute is a tenant of which everybody is weighed.
type brute struct {
	x      *Index
	people []linkage.Person
	keys   []map[uint64]bool
}

func newBrute(all []linkage.Demographics) *brute {
	b := &brute{x: New(Options{})}
	b.x.Apply(all)
	k := keyer{seed: b.x.seed}
	for i := range all {
		r := record{person: b.x.parser.Person(&all[i], nil)}
		r.learn(&all[i])
		own := map[uint64]bool{}
		for _, key := range k.of(&r) {
			own[key.hash] = true
		}
		b.people, b.keys = append(b.people, r.person), append(b.keys, own)
	}
	return b
}

// bits are those of everybody by the model, without what so many others add who are next to nothing each.
func (b *brute) bits(q *Query) []float64 {
	asked := b.x.parser.Person(&q.Person, nil)
	question := q.Model.Ask(&asked, frequencies{b.x, &keyer{seed: b.x.seed}}, q.Now)
	var bits []float64
	for i := range b.people {
		bits = append(bits, question.Score(&b.people[i]))
	}
	return bits
}

// candidate tells who shares a key with a question, or is found by a glance.
func (b *brute) candidate(k *keyer, i int) bool {
	if len(b.people) <= glanced {
		return true
	}
	for _, key := range k.keys {
		if b.keys[i][key.hash] {
			return true
		}
	}
	return false
}

// TestNobodyIsLost holds answers against those that weighing everybody gives.
func TestNobodyIsLost(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2000, 20_500} {
		r := rand.New(rand.NewSource(int64(n)))
		all := crowd(r, n)
		b := newBrute(all)
		models := []*linkage.Model{linkage.Default()}
		for range 4 {
			models = append(models, trained(r))
		}
		questions := 100
		if n > glanced {
			questions = 20
		}
		for m, model := range models {
			for range questions {
				b.ask(t, m, &Query{Person: damage(r, all[r.Intn(n)], all), Model: model, Limit: 1000, MinScore: 0.5, Now: now})
			}
		}
	}
}

func (b *brute) ask(t *testing.T, model int, q *Query) {
	t.Helper()
	found := b.x.Find(*q)
	if found.Truncated {
		return
	}
	given := map[int64]bool{}
	for _, h := range found.Hits {
		given[h.Demographics.ID] = true
	}
	p := b.x.parser.Person(&q.Person, nil)
	k := keyer{seed: b.x.seed}
	k.ask(&p, q.Now)
	bits := b.bits(q)
	first, second := math.Inf(-1), math.Inf(-1)
	for i, has := range bits {
		if b.candidate(&k, i) {
			first, second = max(first, has), max(second, min(first, has))
		}
	}
	const rounding = 0.01
	least := rounding
	if ahead := first - q.Model.Thresholds.Margin; linkage.Likelihood(first) >= q.Model.Thresholds.Certain {
		least = max(least, ahead) // see candidates
	}
	for i, has := range bits {
		if has >= least && b.candidate(&k, i) && !given[int64(i+1)] {
			t.Errorf("model %d, %d people: %d of %.2f bits is lost, the best has %.2f: asked %s", model, len(b.people), i+1, has, first, show(q.Person))
		}
	}
	if len(found.Hits) > 0 && second > found.Second+rounding {
		h := &found.Hits[0]
		if q.Model.Grade(h.Bits, found.Second, "", false) != q.Model.Grade(h.Bits, second, "", false) {
			t.Errorf("model %d, %d people: the second has %.2f bits, not %.2f: asked %s", model, len(b.people), second, found.Second, show(q.Person))
		}
	}
}

// TestDamagedAreFound looks for people of whom several things are damaged, in names that so many others bear that it depends on
// each bit whether they are answers.
func TestDamagedAreFound(t *testing.T) {
	t.Parallel()
	dates := linkage.Default()
	for l, m := range []float64{.44, .004, .02, .3, .03, .12, .0086, .0237, .0137, .01, .03} {
		dates.Fields[4].Levels[l].M = m
	}
	phone := func(n string) []linkage.Contact {
		return []linkage.Contact{{System: "phone", Value: n, E164: "+1" + n}}
	}
	all := crowd(rand.New(rand.NewSource(1)), 25_000)
	lasts := []string{"Ottokar", "Brunner", "Wozniak", "Hathaway", "Lindqvist", "Okonkwo", "Dragomir", "Castellano"}
	for i := range all {
		all[i].FirstName = fmt.Sprintf("%c%can", 'a'+i%17, 'e'+i%13)
		for l := range lasts {
			if i%(17<<l) == l { // one of seventeen, one of thirty-four, …
				all[i].LastName = lasts[l]
			}
		}
	}
	x := New(Options{})
	x.Apply(all)
	for name, c := range map[string]struct {
		model      *linkage.Model
		asked, has linkage.Demographics
	}{
		"a nickname, born at a vague day": {nil, linkage.Demographics{FirstName: "Bess", DOB: "1957-05-18"}, linkage.Demographics{FirstName: "Elizabeth", DOB: "1957-01-01"}},
		"born at a vague day":             {nil, linkage.Demographics{FirstName: "aean", DOB: "1957-05-18"}, linkage.Demographics{FirstName: "aean", DOB: "1957-01-01"}},
		"goes by the middle name":         {nil, linkage.Demographics{FirstName: "Kunigunde"}, linkage.Demographics{FirstName: "Anna", MiddleName: "Kunigunde"}},
		"another telephone digit, another day": {
			nil,
			linkage.Demographics{DOB: "1957-05-18", Contacts: phone("6175552368")},
			linkage.Demographics{DOB: "1957-05-27", Contacts: phone("6175552398")},
		},
		"two digits that follow": {nil, linkage.Demographics{FirstName: "Edeltraut", DOB: "1957-09-18"}, linkage.Demographics{FirstName: "Edeltraud", DOB: "1957-10-18"}},
		"days counted otherwise": {dates, linkage.Demographics{FirstName: "aean", DOB: "1957-05-18"}, linkage.Demographics{FirstName: "aean", DOB: "1957-05-27"}},
	} {
		model := c.model
		if model == nil {
			model = linkage.Default()
		}
		lost := 0
		for _, last := range lasts {
			asked, has := c.asked, c.has
			asked.LastName, has.LastName, has.ID = last, last, 90_001
			x.Apply([]linkage.Demographics{has})
			p, d := x.parser.Person(&asked, nil), x.parser.Person(&has, nil)
			bits := model.Ask(&p, frequencies{x, &keyer{seed: x.seed}}, 0).Score(&d)
			found := x.Find(Query{Person: asked, Model: model, Limit: 1000, MinScore: 0.5})
			shown := slices.ContainsFunc(found.Hits, func(h Hit) bool { return h.Demographics.ID == has.ID })
			if bits >= 0 && !shown && !found.Truncated {
				lost++
			}
		}
		if lost > 0 {
			t.Errorf("%s: lost under %d of %d last names", name, lost, len(lasts))
		}
	}
}

// TestTheNewestAliasHasKeys asks for the newest of so many names that not each can be looked up.
func TestTheNewestAliasHasKeys(t *testing.T) {
	t.Parallel()
	d := linkage.Demographics{ID: 90_001, FirstName: "Elizabeth", LastName: "García Márquez", DOB: "1970-01-02"}
	for i, last := range []string{"López Hernández", "Ruiz Ortega", "Díaz Vega", "Soto Luna", "Ríos Peña", "Cano Mora", "Vargas Gil", "Pardo Rey"} {
		d.Aliases = append(d.Aliases, linkage.Alias{LastName: last, Until: int64(i + 1)})
	}
	d.Aliases = append(d.Aliases, linkage.Alias{LastName: "Vanderbilt"})
	x := New(Options{})
	x.Apply(append(crowd(rand.New(rand.NewSource(2)), 20_500), d))
	found := x.Find(Query{Person: linkage.Demographics{FirstName: "Elizabeth", LastName: "Vanderbilt"}, Model: linkage.Default(), Limit: 5, MinScore: 0.5, Now: now})
	if len(found.Hits) == 0 || found.Hits[0].Demographics.ID != d.ID {
		t.Errorf("%d others are found by the newest alias", len(found.Hits))
	}
}
