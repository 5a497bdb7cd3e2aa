package rest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching"
)

func TestAnswersAsTheyAreShown(t *testing.T) {
	t.Parallel()
	a := matching.Answer{Total: 3, Truncated: true, Matches: []matching.Match{{
		Score: .998214, Grade: "probable", Evidence: []matching.Evidence{{Field: "lastName", Level: "exact", Weight: 11.375}, {Field: "dob", Level: "missing"}},
		Patient: linkage.Demographics{
			ID: 1<<53 - 1, FirstName: "Ana", MiddleName: "M", LastName: "Lima", Prefix: "Dr", Suffix: "Jr", DOB: "1980-02-29", SexAtBirth: "unknown", Gender: "Other",
			Race: "Asian", Ethnicity: "Declined", GenderIdentity: "g", PreferredLanguage: "pt", SSNLast4: "0042", Deceased: true,
		},
	}}}
	const evidence = `"evidence":[{"field":"lastName","level":"exact","weight":11.375},{"field":"dob","level":"missing","weight":0}]`
	for _, test := range []struct {
		got  any
		want string
	}{
		{foundV3(a), `{"content":[{"patientId":9007199254740991,"score":0.998214,"grade":"probable","patient":{"id":9007199254740991,"firstName":"Ana","lastName":"Lima",` +
			`"dob":"1980-02-29","middleName":"M","gender":"Other","race":"Asian","ethnicity":"Declined","sexAtBirth":"Unknown","genderIdentity":"g",` +
			`"preferredLanguage":"pt","last4Ssn":"***-**-0042","deceased":true},` + evidence + `}],"totalMatches":3,"exact":false,"truncated":true}`},
		{foundV2(a), `{"content":[{"patientId":"9007199254740991","score":0.998214,"grade":"probable","patient":{"patientId":"9007199254740991","firstName":"Ana",` +
			`"middleName":"M","lastName":"Lima","prefix":"Dr","suffix":"Jr","dob":"1980-02-29","sex_at_birth":"unknown","gender":"Other","race":"Asian",` +
			`"ethnicity":"Declined","genderIdentity":"g","preferredLanguage":"pt","last4Ssn":"***-**-0042","deceased":true},` + evidence +
			`}],"totalMatches":3,"exact":false,"truncated":true}`},
		{foundV3(matching.Answer{Exact: true}), `{"content":[],"totalMatches":0,"exact":true}`},
		{
			foundV3(matching.Answer{Exact: true, Total: 1, Matches: []matching.Match{{Score: 1, Grade: "certain", Evidence: []matching.Evidence{{Field: "dob", Level: "exact"}}}}}),
			`{"content":[{"patientId":0,"score":1,"grade":"certain","patient":{"id":0,"firstName":"","lastName":"","dob":"","middleName":"","gender":"","race":"",` +
				`"ethnicity":"","sexAtBirth":"","genderIdentity":"","preferredLanguage":"","last4Ssn":"","deceased":false},"evidence":[{"field":"dob","level":"exact"}]}],` +
				`"totalMatches":1,"exact":true}`,
		},
	} {
		raw, err := json.Marshal(test.got)
		if diff := cmp.Diff(test.want, string(raw)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}
