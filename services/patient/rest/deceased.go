package rest

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// ReadDeceased answers whether a patient is deceased.
func (s *Server) ReadDeceased(ctx context.Context, r api.ReadDeceasedRequestObject) (api.ReadDeceasedResponseObject, error) {
	p, err := s.Patients.ReadDeceased(ctx, parseID(r.PatientId))
	if err != nil {
		return nil, err
	}
	return api.ReadDeceased200JSONResponse{DeceasedJSONResponse: deceasedResponse(p)}, nil
}

// MarkDeceased records a death.
func (s *Server) MarkDeceased(ctx context.Context, r api.MarkDeceasedRequestObject) (api.MarkDeceasedResponseObject, error) {
	o := r.Body
	o.AllowEmpty()
	notice := patient.DeathNotice{
		Date:   o.Text("deceasedDate", body.TextLength).Pointer(),
		Source: o.Text("source", body.TextLength).Pointer(),
		Note:   o.Text("note", body.TextLength).Pointer(),
	}
	if o.Err() != nil {
		_, rules := patient.Patient{}.Died(notice, time.Now())
		return nil, o.Err(rules...)
	}
	p, err := s.Patients.MarkDeceased(ctx, parseID(r.PatientId), notice, precondition(r.Params.IfMatch))
	if err != nil {
		return nil, err
	}
	return api.MarkDeceased200JSONResponse{DeceasedJSONResponse: deceasedResponse(p)}, nil
}

// UnmarkDeceased undoes a mistaken record of a death.
func (s *Server) UnmarkDeceased(ctx context.Context, r api.UnmarkDeceasedRequestObject) (api.UnmarkDeceasedResponseObject, error) {
	p, err := s.Patients.UnmarkDeceased(ctx, parseID(r.PatientId), precondition(r.Params.IfMatch))
	if err != nil {
		return nil, err
	}
	return api.UnmarkDeceased200JSONResponse{DeceasedJSONResponse: deceasedResponse(p)}, nil
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
