package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

func shownStatus(s tenant.AgreementStatus) api.AgreementStatus {
	shown := api.AgreementStatus{AgreementId: s.AgreementID, Version: s.Version, Accepted: s.Acceptance != nil}
	if s.Acceptance != nil {
		at, by := instant(s.Acceptance.AcceptedAt), s.Acceptance.Actor()
		shown.AcceptedAt, shown.AcceptedBy = &at, &api.Actor{Type: by.Type, Id: by.ID}
	}
	return shown
}

// ReadAgreement gives the agreement in effect now.
func (s *Server) ReadAgreement(ctx context.Context, _ api.ReadAgreementRequestObject) (api.ReadAgreementResponseObject, error) {
	a, err := s.Tenants.Agreement(ctx)
	if err != nil {
		return nil, err
	}
	return api.ReadAgreement200JSONResponse{Id: a.ID, Version: a.Version, Title: a.Title, Text: a.Text}, nil
}

// ReadAgreementStatus tells where the caller's tenant stands with it.
func (s *Server) ReadAgreementStatus(ctx context.Context, _ api.ReadAgreementStatusRequestObject) (api.ReadAgreementStatusResponseObject, error) {
	status, err := s.Tenants.AgreementStatus(ctx)
	if err != nil {
		return nil, err
	}
	return api.ReadAgreementStatus200JSONResponse(shownStatus(status)), nil
}

// AcceptAgreement binds the caller's tenant to it.
func (s *Server) AcceptAgreement(ctx context.Context, r api.AcceptAgreementRequestObject) (api.AcceptAgreementResponseObject, error) {
	if _, err := principal.Require(ctx, principal.TenantAdmin); err != nil {
		return nil, err // before the body's faults
	}
	id := r.Body.Text("agreementId", body.TextLength)
	var faults []fault.Field
	if id.Value == "" {
		faults = append(faults, fault.Field{Field: "agreementId", Code: "required", Message: "is required"})
	}
	if err := r.Body.Err(faults...); err != nil {
		return nil, err
	}
	status, err := s.Tenants.Accept(ctx, id.Value)
	if err != nil {
		return nil, err
	}
	return api.AcceptAgreement200JSONResponse(shownStatus(status)), nil
}
