package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// CreatePatient stores a patient, or answers a repeat with the first answer.
func (s *Server) CreatePatient(ctx context.Context, r api.CreatePatientRequestObject) (api.CreatePatientResponseObject, error) {
	in := input(r.Body, nil)
	by, _ := principal.From(ctx) // the verb refuses a request without one
	key, keyFaults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("createPatient"), r.Body.Raw())
	if r.Body.Err(keyFaults...) != nil {
		_, rules := patient.New(in, time.Now())
		return nil, r.Body.Err(append(rules, keyFaults...)...)
	}
	p, repeat, err := s.Patients.Create(ctx, in, key, func(p patient.Patient) ([]byte, error) { return json.Marshal(response(p)) })
	if err != nil {
		return nil, err
	}
	etag, location := web.ETag(1), "/v3/patient/"+strconv.FormatInt(p.ID, 10)
	answer := api.CreatePatient200JSONResponse{
		Body: response(p), Headers: api.CreatePatient200ResponseHeaders{ETag: &etag, Location: &location},
	}
	if repeat != nil {
		replayed := "true"
		answer.Headers.IdempotentReplayed = &replayed
		answer.Body = api.PatientResponseDTO{}
		if err := json.Unmarshal(repeat.Body, &answer.Body); err != nil {
			return nil, fmt.Errorf("read the recorded answer: %w", err)
		}
		answer.Body.Id = p.ID // the record was written before the id was known
	}
	return answer, nil
}

// patientV2Spelling is what v2 calls a patient's members.
func patientV2Spelling() spelling { return spelling{"sexAtBirth": "sex_at_birth"} }

// Patient is v2's CreatePatient. The sex at birth is nobody's to guess: here it is required.
func (s *Server) Patient(ctx context.Context, r api.PatientRequestObject) (api.PatientResponseObject, error) {
	by, err := principal.Require(ctx, principal.PatientWrite)
	if err != nil {
		return nil, err // before the body's faults
	}
	names := patientV2Spelling()
	in := input(r.Body, names)
	in.Prefix = r.Body.Text("prefix", body.NameLength).Pointer()
	in.Suffix = r.Body.Text("suffix", body.NameLength).Pointer()
	key, keyFaults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("createPatientV2"), r.Body.Raw())
	_, rules := patient.New(in, time.Now())
	rules = append(sexRequired(in.SexAtBirth), names.fields(rules)...)
	if err := r.Body.Err(append(rules, keyFaults...)...); err != nil {
		return nil, err
	}
	p, repeat, err := s.Patients.Create(ctx, in, key, func(p patient.Patient) ([]byte, error) { return json.Marshal(responseV2(p)) })
	if err != nil {
		return nil, names.err(err)
	}
	location := "/v2/patient/" + strconv.FormatInt(p.ID, 10)
	answer := api.Patient201JSONResponse{Body: responseV2(p), Headers: api.Patient201ResponseHeaders{Location: &location}}
	if repeat != nil {
		replayed := "true"
		answer.Headers.IdempotentReplayed = &replayed
		answer.Body = api.PatientV2{}
		if err := json.Unmarshal(repeat.Body, &answer.Body); err != nil {
			return nil, fmt.Errorf("read the recorded answer: %w", err)
		}
		answer.Body.PatientId = strconv.FormatInt(p.ID, 10) // the record was written before the id was known
	}
	return answer, nil
}

func sexRequired(given *string) []fault.Field {
	const field = "sex_at_birth"
	switch {
	case given == nil:
		return []fault.Field{{Field: field, Code: "required", Message: "is required"}}
	case *given == "" || strings.EqualFold(*given, "n/a"):
		return []fault.Field{{Field: field, Code: "blank", Message: "must not be blank or n/a"}}
	}
	return nil
}

// ListPatients answers a page.
func (s *Server) ListPatients(ctx context.Context, r api.ListPatientsRequestObject) (api.ListPatientsResponseObject, error) {
	part, err := parsePage(r.Params.Page, r.Params.Size, r.Params.After)
	if err != nil {
		return nil, err
	}
	list, total, err := s.Patients.List(ctx, part)
	if err != nil {
		return nil, err
	}
	list, next := page.Cut(list, part, "/v3/patient?", func(p patient.Patient) string { return strconv.FormatInt(p.ID, 10) })
	content := make([]api.PatientResponseDTO, len(list))
	for i, p := range list {
		content[i] = response(p)
	}
	return api.ListPatients200JSONResponse{
		Body:    api.PatientPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: total},
		Headers: api.ListPatients200ResponseHeaders{Link: next},
	}, nil
}

// ReadPatient answers one patient.
func (s *Server) ReadPatient(ctx context.Context, r api.ReadPatientRequestObject) (api.ReadPatientResponseObject, error) {
	p, err := s.Patients.Read(ctx, parseID(r.PatientId))
	if err != nil {
		return nil, err
	}
	return api.ReadPatient200JSONResponse{PatientJSONResponse: patientResponse(p)}, nil
}

// UpdatePatient applies the members that are present and not null.
func (s *Server) UpdatePatient(ctx context.Context, r api.UpdatePatientRequestObject) (api.UpdatePatientResponseObject, error) {
	in := input(r.Body, nil)
	if r.Body.Err() != nil {
		return nil, r.Body.Err(in.Validate(time.Now())...)
	}
	p, err := s.Patients.Update(ctx, parseID(r.PatientId), in, precondition(r.Params.IfMatch))
	if err != nil {
		return nil, err
	}
	return api.UpdatePatient200JSONResponse{PatientJSONResponse: patientResponse(p)}, nil
}

// DeletePatient soft-deletes.
func (s *Server) DeletePatient(ctx context.Context, r api.DeletePatientRequestObject) (api.DeletePatientResponseObject, error) {
	if err := s.Patients.Delete(ctx, parseID(r.PatientId), precondition(r.Params.IfMatch)); err != nil {
		return nil, err
	}
	return api.DeletePatient200JSONResponse{Message: "The patient is deleted."}, nil
}

// RestorePatient undoes a soft delete.
func (s *Server) RestorePatient(ctx context.Context, r api.RestorePatientRequestObject) (api.RestorePatientResponseObject, error) {
	p, err := s.Patients.Restore(ctx, parseID(r.PatientId), precondition(r.Params.IfMatch))
	if err != nil {
		return nil, err
	}
	return api.RestorePatient200JSONResponse{PatientJSONResponse: patientResponse(p)}, nil
}

// ListValueSets answers the values of coded fields in the spelling of v3.
func (s *Server) ListValueSets(ctx context.Context, _ api.ListValueSetsRequestObject) (api.ListValueSetsResponseObject, error) {
	if err := s.Patients.ValueSets(ctx); err != nil {
		return nil, err
	}
	sexes := patient.SexesAtBirth()
	for i, sex := range sexes {
		sexes[i] = sexShown(sex)
	}
	return api.ListValueSets200JSONResponse{
		Gender: patient.Genders(), Race: patient.Races(), Ethnicity: patient.Ethnicities(), SexAtBirth: sexes,
	}, nil
}

// input reads what a request gives of a patient in the names of both interfaces.
func input(o *body.Object, s spelling) patient.Input {
	return patient.Input{
		FirstName:         o.Text("firstName", body.NameLength).Pointer(),
		LastName:          o.Text("lastName", body.NameLength).Pointer(),
		DOB:               o.Text("dob", body.TextLength).Pointer(),
		MiddleName:        o.Text("middleName", body.NameLength).Pointer(),
		Gender:            o.Text("gender", body.TextLength).Pointer(),
		Race:              o.Text("race", body.TextLength).Pointer(),
		Ethnicity:         o.Text("ethnicity", body.TextLength).Pointer(),
		SexAtBirth:        o.Text(s.of("sexAtBirth"), body.TextLength).Pointer(),
		GenderIdentity:    o.Text("genderIdentity", body.TextLength).Pointer(),
		PreferredLanguage: o.Text("preferredLanguage", body.TextLength).Pointer(),
		Last4SSN:          o.Text("last4Ssn", body.TextLength).Pointer(),
		Deceased:          o.Bool("deceased").Pointer(),
	}
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

// responseV2 is a patient as v2 shows it: nothing null.
func responseV2(p patient.Patient) api.PatientV2 {
	return api.PatientV2{
		PatientId: strconv.FormatInt(p.ID, 10), FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, Prefix: p.Prefix,
		Suffix: p.Suffix, Dob: civil.Format(p.DOB), SexAtBirth: p.SexAtBirth, Gender: p.Gender, Race: p.Race, Ethnicity: p.Ethnicity,
		GenderIdentity: p.GenderIdentity, PreferredLanguage: p.PreferredLanguage, Last4Ssn: patient.Mask(p.SSNLast4),
		Deceased: p.Deceased.Deceased, CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt), Version: p.Version,
	}
}
