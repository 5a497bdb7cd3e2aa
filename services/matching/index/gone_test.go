package index_test

import (
	"fmt"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
)

// Who is found by a glance alone is found no less when many who looked alike have gone.
func TestTheDeletedTakeNobodysPlace(t *testing.T) {
	t.Parallel()
	x := index.New(index.Options{})
	people := []linkage.Demographics{{ID: 1, FirstName: "Katherina", LastName: "Woznyak", DOB: "1957-05-17", SexAtBirth: "female"}}
	for i := range 300 {
		people = append(people, linkage.Demographics{
			ID: int64(1000 + i), FirstName: fmt.Sprintf("%c%cx", 'a'+i%17, 'a'+i%19), LastName: fmt.Sprintf("%c%cq", 'a'+i%23, 'b'+i%11),
			DOB: fmt.Sprintf("%d-%02d-%02d", 1930+i%80, 1+i%12, 1+i%28),
		})
	}
	x.Apply(people)
	question := index.Query{
		Person: linkage.Demographics{FirstName: "Catherina", LastName: "Roznyak", DOB: "1957-05-18", SexAtBirth: "female"},
		Model:  linkage.Default(), Limit: 5, MinScore: 0.5,
	}
	if len(x.Find(question).Hits) != 1 {
		t.Fatal("nobody is found to begin with")
	}
	for i := range int64(70) {
		x.Apply([]linkage.Demographics{{ID: 2000 + i, FirstName: "Catherina", LastName: "Roznyak", DOB: "1957-05-18", SexAtBirth: "female"}})
	}
	for i := range int64(70) {
		x.Apply([]linkage.Demographics{{ID: 2000 + i, Deleted: true}})
	}
	if found := x.Find(question); len(found.Hits) != 1 || found.Hits[0].Demographics.ID != 1 {
		t.Errorf("%d found, %d weighed", len(found.Hits), found.Scored)
	}
}
