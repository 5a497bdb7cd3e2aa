package index

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Lists tell keys apart by forty bits: under a question's key there can be another key's numbers, even of texts.
func TestANumberThatIsNobodysIsPassedOver(t *testing.T) {
	t.Parallel()
	x := New(Options{})
	anna := linkage.Demographics{ID: 1, FirstName: "Anna", LastName: "Lindqvist", DOB: "1957-05-17"}
	x.Apply([]linkage.Demographics{anna})
	for _, k := range (&keyer{seed: x.seed}).of(learned(x, &anna)) {
		x.lists.Add(k.hash, 4711)
	}
	found := x.Find(Query{Person: anna, Model: linkage.Default(), Limit: 5, MinScore: 0.5})
	if len(found.Hits) != 1 || found.Hits[0].Demographics.ID != 1 {
		t.Errorf("%+v", found)
	}
}

func learned(x *Index, d *linkage.Demographics) *record {
	var r record
	x.parser.Fill(&r.person, d, x.parser.Parse)
	r.learn(d)
	return &r
}
