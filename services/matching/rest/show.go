package rest

import (
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
)

func foundV3(a matching.Answer) api.Found {
	content := make([]api.Match, len(a.Matches))
	for i, m := range a.Matches {
		content[i] = api.Match{
			PatientId: m.Patient.ID, Score: m.Score, Grade: m.Grade, Patient: patientV3(m.Patient), Evidence: evidence(m.Evidence, a.Exact),
		}
	}
	return api.Found{Content: content, TotalMatches: a.Total, Exact: a.Exact, Truncated: a.Truncated}
}

func foundV2(a matching.Answer) api.FoundV2 {
	content := make([]api.MatchV2, len(a.Matches))
	for i, m := range a.Matches {
		content[i] = api.MatchV2{
			PatientId: strconv.FormatInt(m.Patient.ID, 10), Score: m.Score, Grade: m.Grade, Patient: patientV2(m.Patient),
			Evidence: evidence(m.Evidence, a.Exact),
		}
	}
	return api.FoundV2{Content: content, TotalMatches: a.Total, Exact: a.Exact, Truncated: a.Truncated}
}

// evidence shows the weights where there are some.
func evidence(list []matching.Evidence, exact bool) []api.Evidence {
	shown := make([]api.Evidence, len(list))
	for i := range list {
		shown[i] = api.Evidence{Field: list[i].Field, Level: list[i].Level}
		if !exact {
			shown[i].Weight = &list[i].Weight
		}
	}
	return shown
}

// patientV3 is a patient as v3 shows it: nothing null.
func patientV3(p linkage.Demographics) api.PatientResponseDTO {
	return api.PatientResponseDTO{
		Id: p.ID, FirstName: p.FirstName, LastName: p.LastName, Dob: p.DOB, MiddleName: p.MiddleName, Gender: p.Gender, Race: p.Race,
		Ethnicity: p.Ethnicity, SexAtBirth: sexShown(p.SexAtBirth), GenderIdentity: p.GenderIdentity,
		PreferredLanguage: p.PreferredLanguage, Last4Ssn: mask(p.SSNLast4), Deceased: p.Deceased,
	}
}

// patientV2 is a patient as v2 shows it: nothing null.
func patientV2(p linkage.Demographics) api.MatchedPatientV2 {
	return api.MatchedPatientV2{
		PatientId: strconv.FormatInt(p.ID, 10), FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, Prefix: p.Prefix,
		Suffix: p.Suffix, Dob: p.DOB, SexAtBirth: p.SexAtBirth, Gender: p.Gender, Race: p.Race, Ethnicity: p.Ethnicity,
		GenderIdentity: p.GenderIdentity, PreferredLanguage: p.PreferredLanguage, Last4Ssn: mask(p.SSNLast4), Deceased: p.Deceased,
	}
}

// sexShown spells unknown as v3's other coded fields do.
func sexShown(sex string) string {
	if sex == "unknown" {
		return "Unknown"
	}
	return sex
}

// mask shows the last four digits as ***-**-NNNN, and no digits as nothing.
func mask(last4 string) string {
	if last4 == "" {
		return ""
	}
	return "***-**-" + last4
}
