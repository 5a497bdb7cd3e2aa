package train_test

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/phone"
	"github.com/patient-mesh/patient-mesh/tools/load/train"
	"github.com/patient-mesh/patient-mesh/tools/synth"
	"strconv"
)

// people are records of people who never lived.
func people(t *testing.T, o synth.Options, truth bool) *train.People {
	t.Helper()
	g, err := synth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var list []train.Record
	for r := range g.Records() {
		d := linkage.Demographics{
			ID: int64(len(list) + 1), FirstName: r.FirstName, MiddleName: r.MiddleName, LastName: r.LastName, Suffix: r.Suffix, DOB: r.DOB,
			SexAtBirth: r.SexAtBirth, SSNLast4: r.Last4SSN,
		}
		for _, a := range r.Addresses {
			d.Addresses = append(d.Addresses, linkage.Address{Line1: a.Line1, Line2: a.Line2, City: a.City, State: a.State, PostalCode: a.PostalCode})
		}
		for _, c := range r.Contacts {
			e164, _ := phone.E164(c.Value)
			d.Contacts = append(d.Contacts, linkage.Contact{System: c.System, Value: c.Value, E164: e164})
		}
		for _, a := range r.Aliases {
			d.Aliases = append(d.Aliases, linkage.Alias{FirstName: a.FirstName, LastName: a.LastName})
		}
		for _, i := range r.Identifiers {
			d.Identifiers = append(d.Identifiers, linkage.Identifier{Type: i.Type, Authority: i.AuthorityOrganizationID, Value: i.Value})
		}
		one := train.Record{Demographics: d}
		if truth {
			one.Truth = strconv.FormatInt(r.Person, 10)
		}
		list = append(list, one)
	}
	return train.NewPeople(list, 0, 0)
}

func TestTry(t *testing.T) {
	for _, truth := range []bool{true, false} {
		p := people(t, synth.Options{Seed: 5, People: 6000, Duplicated: 0.3, Copies: 2, Intensity: 3}, truth)
		l, err := train.Learn(p, nil, linkage.Default(), train.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []*train.Measure{&l.Before, &l.After} {
			t.Logf("P %.4f R %.4f F1 %.4f ECE %.4f loss %.5f first %.4f certain %d wrong %d, q %d pairs %d matches %d ll %.1f", m.Precision, m.Recall, m.F1, m.ECE, m.LogLoss, m.First, m.Certain, m.WrongCertain, m.Questions, m.Pairs, m.Matches, m.LogLikelihood)
		}
		t.Logf("%s %v %v pairs %.0f", l.Method, l.Passes, l.Reasons, l.Pairs)
		for f := range l.Model.Fields {
			for i, lv := range l.Model.Fields[f].Levels {
				d := l.Default.Fields[f].Levels[i]
				t.Logf("%-26s %-22s m %.5f -> %.5f   u %.6f -> %.6f", l.Model.Fields[f].Name, lv.Name, d.M, lv.M, d.U, lv.U)
			}
		}
		t.Logf("%+v %+v %+v", l.Model.Prior, l.Model.Careless, l.Model.Thresholds)
	}
}
