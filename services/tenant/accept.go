package tenant

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Agreement gives the agreement in effect now. Any credential will do.
func (s *Service) Agreement(ctx context.Context) (Agreement, error) {
	if _, err := principal.Require(ctx, 0); err != nil {
		return Agreement{}, err
	}
	a, err := s.Store.Agreement(ctx)
	if err != nil {
		return Agreement{}, err
	}
	if a == nil {
		return Agreement{}, noAgreement()
	}
	return *a, nil
}

// AgreementStatus tells where the caller's tenant stands with the agreement in effect now. Any credential will do.
func (s *Service) AgreementStatus(ctx context.Context) (AgreementStatus, error) {
	t, err := s.Own(ctx)
	if err != nil {
		return AgreementStatus{}, err
	}
	return s.status(ctx, t.ID)
}

func (s *Service) status(ctx context.Context, tenant string) (AgreementStatus, error) {
	status, err := s.Store.AgreementStatus(ctx, tenant)
	if err != nil {
		return AgreementStatus{}, err
	}
	if status == nil {
		return AgreementStatus{}, noAgreement()
	}
	return *status, nil
}

// Accept binds the caller's tenant to the agreement in effect now, which the caller names as the one that was read. Who
// accepts again finds the first acceptance.
func (s *Service) Accept(ctx context.Context, agreement string) (AgreementStatus, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return AgreementStatus{}, err
	}
	t, err := s.read(ctx, by.TenantID)
	if err != nil {
		return AgreementStatus{}, err
	}
	status, err := s.status(ctx, t.ID)
	switch {
	case err != nil:
		return AgreementStatus{}, err
	case status.AgreementID != agreement:
		return AgreementStatus{}, superseded()
	case status.Acceptance != nil:
		return status, nil
	}
	accepted, err := s.Store.Accept(ctx, t.ID, agreement, acceptance(by, s.now()), s.entry(ctx, t.ID, AgreementAccept))
	switch {
	case err != nil:
		return AgreementStatus{}, err
	case accepted == nil || accepted.AgreementID != agreement: // a new version took effect meanwhile
		return AgreementStatus{}, superseded()
	}
	s.Nudge()
	return *accepted, nil
}
