package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// CreatePatient stores a patient, or answers a repeat with the first answer.
func (s *Server) CreatePatient(ctx context.Context, r api.CreatePatientRequestObject) (api.CreatePatientResponseObject, error) {
	in := input(r.Body)
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
	in := input(r.Body)
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
