package matching

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

var today = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func of[T any](v T) *T { return &v }

func TestWhatAQuestionMayNotBe(t *testing.T) {
	t.Parallel()
	ana := Given{FirstName: "Ana"}
	for name, test := range map[string]struct {
		asked Question
		want  []string
	}{
		"nothing":                         {Question{}, []string{"request no_demographic"}},
		"what says nothing":               {Question{Given: Given{FirstName: "n/a", DOB: "N/A"}}, []string{"request no_demographic"}},
		"bounds alone":                    {Question{Limit: of(5.), Exact: of(true)}, []string{"request no_demographic"}},
		"nothing that could be read":      {Question{Unreadable: true}, nil},
		"a name":                          {Question{Given: ana}, nil},
		"a sex":                           {Question{Given: Given{SexAtBirth: "FeMale"}}, nil},
		"no sex":                          {Question{Given: Given{SexAtBirth: "f"}}, []string{"sexAtBirth invalid_value"}},
		"no date":                         {Question{Given: Given{DOB: "1980-02-30"}}, []string{"dob invalid_date"}},
		"a date of another time":          {Question{Given: Given{DOB: "1799-12-31"}}, []string{"dob invalid_date"}},
		"today":                           {Question{Given: Given{DOB: "2026-03-14"}}, nil},
		"tomorrow":                        {Question{Given: Given{DOB: "2026-03-15"}}, []string{"dob in_future"}},
		"nine digits":                     {Question{Given: Given{Last4SSN: "123456789"}}, []string{"last4Ssn invalid_last4"}},
		"a masked number":                 {Question{Given: Given{Last4SSN: "***-**-6789"}}, []string{"last4Ssn invalid_last4"}},
		"digits of another script":        {Question{Given: Given{Last4SSN: "٦٧٨٩"}}, []string{"last4Ssn invalid_last4"}},
		"one, a hundred":                  {Question{Given: ana, Limit: of(1.), MinScore: of(0.)}, nil},
		"a hundred, one":                  {Question{Given: ana, Limit: of(100.), MinScore: of(1.)}, nil},
		"none":                            {Question{Given: ana, Limit: of(0.)}, []string{"limit out_of_range"}},
		"too many":                        {Question{Given: ana, Limit: of(101.)}, []string{"limit out_of_range"}},
		"half a one":                      {Question{Given: ana, Limit: of(1.5)}, []string{"limit out_of_range"}},
		"no number":                       {Question{Given: ana, Limit: of(math.NaN()), MinScore: of(math.NaN())}, []string{"limit out_of_range", "minScore out_of_range"}},
		"more than all":                   {Question{Given: ana, MinScore: of(math.Inf(1)), Limit: of(math.Inf(1))}, []string{"limit out_of_range", "minScore out_of_range"}},
		"less than nothing":               {Question{Given: ana, MinScore: of(-.001)}, []string{"minScore out_of_range"}},
		"a score of what is sure":         {Question{Given: ana, MinScore: of(.9), Exact: of(true)}, []string{"minScore conflicting"}},
		"a score of what is not":          {Question{Given: ana, MinScore: of(.9), Exact: of(false)}, nil},
		"a telephone number that is none": {Question{Given: Given{Phone: "none", Email: "none"}}, nil},
		"everything": {
			Question{Given: Given{DOB: "x", SexAtBirth: "x", Last4SSN: "x"}, Limit: of(0.), MinScore: of(2.)},
			[]string{"dob invalid_date", "last4Ssn invalid_last4", "limit out_of_range", "minScore out_of_range", "sexAtBirth invalid_value"},
		},
	} {
		var got []string
		for _, f := range test.asked.Validate(today) {
			got = append(got, f.Field+" "+f.Code)
		}
		if slices.Sort(got); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestAQuestionIsReadAsRecordsAre(t *testing.T) {
	t.Parallel()
	q, faults := Question{Given: Given{
		FirstName: "Ana", MiddleName: "Maria", LastName: "Lima", Suffix: "III", DOB: "1980-02-29", SexAtBirth: "FEMALE", Line1: "1 Main St",
		City: "Orono", State: "ME", PostalCode: "04473", Phone: "(207) 555-0134", Email: "Ana@Example.org", Last4SSN: "6789", Identifier: "MRN-1",
	}}.query(today)
	want := linkage.Demographics{
		FirstName: "Ana", MiddleName: "Maria", LastName: "Lima", Suffix: "III", DOB: "1980-02-29", SexAtBirth: "female", SSNLast4: "6789",
		Addresses:   []linkage.Address{{Line1: "1 Main St", City: "Orono", State: "ME", PostalCode: "04473"}},
		Contacts:    []linkage.Contact{{System: "phone", Value: "(207) 555-0134", E164: "+12075550134"}, {System: "email", Value: "Ana@Example.org"}},
		Identifiers: []linkage.Identifier{{Value: "MRN-1"}},
	}
	if diff := cmp.Diff(want, q.person); diff != "" || len(faults) > 0 || q.exact || q.limit != 20 || q.minScore != .5 {
		t.Error(diff, faults, q)
	}
	q, _ = Question{Given: Given{LastName: "Lima", City: "n/a", Phone: "N/A"}, Exact: of(true), Limit: of(7.), After: 9}.query(today)
	if diff := cmp.Diff(linkage.Demographics{LastName: "Lima"}, q.person); diff != "" || !q.exact || q.limit != 7 || q.after != 9 || q.given != (Given{LastName: "Lima"}) {
		t.Error(diff, q)
	}
}

func TestAQuestionFitsIntoACursor(t *testing.T) {
	t.Parallel()
	var full Question
	for d := range Demographics {
		full.Given[d] = strings.Repeat("x", d.Limit())
	}
	if err := full.Oversized(); err != nil {
		t.Errorf("every field full of letters: %v", err)
	}
	for d := range Demographics {
		full.Given[d] = strings.Repeat("😀", d.Limit())
	}
	if err := full.Oversized(); !fault.Is(err, fault.TooLarge) {
		t.Errorf("every field full of emoji: %v", err)
	}
}
