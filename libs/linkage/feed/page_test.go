package feed

import (
	"fmt"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// ordinary is a full page of people with an address, a telephone number and an e-mail address each.
func ordinary() Page {
	p := Page{Position: "01997e2c-8d1f-7c3a-9b60-4f1d2a7c5e11.795.16384/795:795:", More: true}
	for i := range MostPeople {
		p.People = append(p.People, linkage.Demographics{
			ID: int64(1000 * i), FirstName: fmt.Sprintf("First%d", i%1000), MiddleName: "M", LastName: fmt.Sprintf("Lastname%d", i), DOB: "1980-02-29",
			SexAtBirth: "female", Gender: "Unknown", Race: "Unknown", Ethnicity: "Unknown", SSNLast4: "6789",
			Addresses: []linkage.Address{{Line1: fmt.Sprintf("%d Main Street", i), City: "Springfield", State: "IL", PostalCode: "62701", Country: "US"}},
			Contacts:  []linkage.Contact{{System: "phone", Value: "650-253-0000", E164: "+16502530000"}, {System: "email", Value: fmt.Sprintf("person%d@example.org", i)}},
		})
	}
	return p
}

func BenchmarkUnmarshal(b *testing.B) {
	p := ordinary()
	raw, err := p.MarshalMsg(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var page Page
		if _, err := page.UnmarshalMsg(raw); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*MostPeople), "ns/person")
}
