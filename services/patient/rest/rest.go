// Package rest turns what is on the wire into patients and back. It knows no SQL and no Fiber.
package rest

import (
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// Server answers the operations of openapi.yaml.
type Server struct {
	Patients *patient.Service
}

var _ api.StrictServerInterface = (*Server)(nil)

// maxID is the largest integer that a JavaScript client reads exactly.
const maxID = 1<<53 - 1

// parseID reads a patient id as it is written, without sign or leading zeros. What is no id is 0, which no patient
// has: it is not found like any other id that is not there.
func parseID(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || id > maxID || strconv.FormatInt(id, 10) != text {
		return 0
	}
	return id
}

func parsePage(number, size, after *string) (page.Request, error) {
	part, faults := page.Parse(number, size, after)
	if len(faults) > 0 {
		return part, fault.InvalidFields(faults)
	}
	return part, nil
}

// input reads what a request gives of a patient.
func input(o *body.Object) patient.Input {
	return patient.Input{
		FirstName:         o.Text("firstName", body.NameLength).Pointer(),
		LastName:          o.Text("lastName", body.NameLength).Pointer(),
		DOB:               o.Text("dob", body.TextLength).Pointer(),
		MiddleName:        o.Text("middleName", body.NameLength).Pointer(),
		Gender:            o.Text("gender", body.TextLength).Pointer(),
		Race:              o.Text("race", body.TextLength).Pointer(),
		Ethnicity:         o.Text("ethnicity", body.TextLength).Pointer(),
		SexAtBirth:        o.Text("sexAtBirth", body.TextLength).Pointer(),
		GenderIdentity:    o.Text("genderIdentity", body.TextLength).Pointer(),
		PreferredLanguage: o.Text("preferredLanguage", body.TextLength).Pointer(),
		Last4SSN:          o.Text("last4Ssn", body.TextLength).Pointer(),
		Deceased:          o.Bool("deceased").Pointer(),
	}
}

func precondition(ifMatch *string) patient.Precondition {
	return func(version int64) error { return web.IfMatch(ifMatch, version) }
}

// response is a patient as v3 shows it: nothing null.
func response(p patient.Patient) api.PatientResponseDTO {
	return api.PatientResponseDTO{
		Id: p.ID, FirstName: p.FirstName, LastName: p.LastName, Dob: civil.Format(p.DOB), MiddleName: p.MiddleName,
		Gender: p.Gender, Race: p.Race, Ethnicity: p.Ethnicity, SexAtBirth: sexShown(p.SexAtBirth), GenderIdentity: p.GenderIdentity,
		PreferredLanguage: p.PreferredLanguage, Last4Ssn: patient.Mask(p.SSNLast4), Deceased: p.Deceased.Deceased,
	}
}

// sexShown spells unknown as v3's other coded fields do.
func sexShown(sex string) string {
	if sex == patient.SexUnknown {
		return patient.Unknown
	}
	return sex
}

func patientResponse(p patient.Patient) api.PatientJSONResponse {
	etag := web.ETag(p.Version)
	return api.PatientJSONResponse{Body: response(p), Headers: api.PatientResponseHeaders{ETag: &etag}}
}

func deceasedResponse(p patient.Patient) api.DeceasedJSONResponse {
	d, etag := p.Deceased, web.ETag(p.Version)
	shown := api.DeceasedResponseDTO{Deceased: d.Deceased, Source: d.Source, Note: d.Note}
	if d.Date != nil {
		shown.DeceasedDate = civil.Format(*d.Date)
	}
	if d.UpdatedAt != nil {
		shown.UpdatedAt = instant(*d.UpdatedAt)
	}
	return api.DeceasedJSONResponse{Body: shown, Headers: api.DeceasedResponseHeaders{ETag: &etag}}
}

// instant writes RFC 3339 in UTC with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
