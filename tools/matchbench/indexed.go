package matchbench

import (
	"math"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
)

// Indexed asks the index in this process, each record while it is taken out: what the gateway would answer.
func Indexed(set *Set, model *linkage.Model, sample int) Outcome {
	x := index.New(index.Options{})
	people := make([]linkage.Demographics, len(set.Records))
	for i := range set.Records {
		people[i] = stored(set.Records[i].Person)
	}
	x.Apply(people)
	o := Outcome{Set: set, Asked: set.sample(sample)}
	for _, asked := range o.Asked {
		x.Apply([]linkage.Demographics{{ID: people[asked].ID, Deleted: true}})
		got := x.Find(index.Query{Person: person(questionOf(&set.Records[asked].Person)), Model: model, Limit: 100, Now: time.Now().UnixMilli()})
		for i, hit := range got.Hits {
			place := int(hit.Demographics.ID - 1)
			second := got.Second
			if i > 0 {
				second = got.Hits[0].Bits
			}
			o.Answers = append(o.Answers, Answer{
				Asked: asked, Found: place, Same: set.Records[place].Truth == set.Records[asked].Truth, Rank: i, Bits: hit.Bits, Score: linkage.Likelihood(hit.Bits),
				Veto: hit.Veto, Grade: model.Grade(hit.Bits, second, hit.Veto, got.Truncated),
			})
		}
		x.Apply(people[asked : asked+1])
	}
	return o
}

// stored is a record as the interface keeps it: without a suffix, and with what stands for names and days that are not known.
func stored(p linkage.Demographics) linkage.Demographics {
	p.FirstName, p.LastName, p.DOB, p.Suffix = given(p.FirstName, noName), given(p.LastName, noName), given(p.DOB, noDay), ""
	return p
}

// person is what a question tells.
func person(q question) linkage.Demographics {
	p := linkage.Demographics{
		FirstName: q.FirstName, MiddleName: q.MiddleName, LastName: q.LastName, Suffix: q.Suffix, DOB: q.DOB, SexAtBirth: q.SexAtBirth, SSNLast4: q.Last4SSN,
	}
	if q.Line1+q.City+q.State+q.PostalCode != "" {
		p.Addresses = []linkage.Address{{Line1: q.Line1, City: q.City, State: q.State, PostalCode: q.PostalCode}}
	}
	if q.Phone != "" {
		p.Contacts = append(p.Contacts, linkage.Contact{System: "phone", Value: q.Phone})
	}
	if q.Email != "" {
		p.Contacts = append(p.Contacts, linkage.Contact{System: "email", Value: q.Email})
	}
	if q.Identifier != "" {
		p.Identifiers = []linkage.Identifier{{Value: q.Identifier}}
	}
	return p
}

// Lost is the share of the true pairs which the model takes for one person when it looks at everybody, and which an outcome does
// not have; NaN: there are none.
func (o Outcome) Lost(all Outcome) float64 {
	type pair struct{ asked, found int }
	back := map[pair]bool{}
	for _, a := range o.Answers {
		back[pair{a.Asked, a.Found}] = true
	}
	total, missed := 0, 0
	for _, a := range all.Answers {
		if a.Same && a.Score >= Threshold {
			if total++; !back[pair{a.Asked, a.Found}] {
				missed++
			}
		}
	}
	if total == 0 {
		return math.NaN()
	}
	return ratio(missed, total)
}
