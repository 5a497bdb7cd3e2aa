package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

// collector joins what a verb finds wrong to what is wrong with the body itself.
func collector(o *body.Object) func(...fault.Field) error {
	return func(rules ...fault.Field) error { return o.Err(rules...) }
}

// RegisterUser makes a user and their organization, or does as if.
func (s *Server) RegisterUser(ctx context.Context, r api.RegisterUserRequestObject) (api.RegisterUserResponseObject, error) {
	made, err := s.People.Register(ctx, identity.RegisterDraft{
		Email:            r.Body.Text("email", body.TextLength).Pointer(),
		Password:         r.Body.Secret("password", longestSecret).Pointer(),
		FirstName:        r.Body.Text("firstName", body.NameLength).Pointer(),
		LastName:         r.Body.Text("lastName", body.NameLength).Pointer(),
		OrganizationName: r.Body.Text("organizationName", body.NameLength).Pointer(),
	}, collector(r.Body))
	if err != nil {
		return nil, err
	}
	return api.RegisterUser201JSONResponse{UserId: made.UserID, TenantId: made.TenantID, Message: made.Message}, nil
}

// VerifyEmail proves an address.
func (s *Server) VerifyEmail(ctx context.Context, r api.VerifyEmailRequestObject) (api.VerifyEmailResponseObject, error) {
	if err := s.People.VerifyEmail(ctx, r.UserId, r.Identifier); err != nil {
		return nil, err
	}
	return api.VerifyEmail200JSONResponse{Message: "The e-mail address is confirmed. You can sign in now."}, nil
}

// ResetPassword mails a link, or does as if.
func (s *Server) ResetPassword(ctx context.Context, r api.ResetPasswordRequestObject) (api.ResetPasswordResponseObject, error) {
	email := r.Body.Text("email", body.TextLength)
	var faults []fault.Field
	if email.Value == "" {
		faults = append(faults, fault.Field{Field: "email", Code: "required", Message: "is required"})
	}
	if err := r.Body.Err(faults...); err != nil {
		return nil, err
	}
	if err := s.People.RequestReset(ctx, email.Value); err != nil {
		return nil, err
	}
	return api.ResetPassword200JSONResponse{Message: "If an account has this address, a mail is on its way."}, nil
}

// VerifyPasswordUpdate sets a new password.
func (s *Server) VerifyPasswordUpdate(ctx context.Context, r api.VerifyPasswordUpdateRequestObject) (api.VerifyPasswordUpdateResponseObject, error) {
	password := r.Body.Secret("newPassword", longestSecret)
	if err := s.People.ResetPassword(ctx, r.UserId, r.Identifier, password.Value, collector(r.Body)); err != nil {
		return nil, err
	}
	return api.VerifyPasswordUpdate200JSONResponse{Message: "The password is set. Sign in with it; all earlier sessions have ended."}, nil
}
