package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

// person gives the id of the user who asks. A key that somebody made is not that person, and an organization that vouches
// for them is not them either.
func (s *Server) person(ctx context.Context) (string, error) {
	by, err := principal.Require(ctx, 0)
	if err != nil {
		return "", err
	}
	if by.Kind != principal.Session || by.UserID == "" {
		return "", fault.New(fault.Denied, "user_required", "This is for signed-in people.")
	}
	// No scope that an application can be allowed is about the account itself.
	if by.ClientID != s.Identity.Public.ID {
		return "", fault.New(fault.Denied, "own_client_required", "Other applications cannot change how somebody signs in.")
	}
	if err := s.People.Unconfined(ctx, by); err != nil {
		return "", err
	}
	return by.UserID, nil
}

// BeginTotp makes a secret for an authenticator app.
func (s *Server) BeginTotp(ctx context.Context, _ api.BeginTotpRequestObject) (api.BeginTotpResponseObject, error) {
	user, err := s.person(ctx)
	if err != nil {
		return nil, err
	}
	made, err := s.People.BeginTOTP(ctx, user)
	if err != nil {
		return nil, err
	}
	store := noStore
	return api.BeginTotp200JSONResponse{
		Body:    api.TotpEnrolment{Secret: made.Secret, OtpauthUri: made.URI, QrPng: made.QR},
		Headers: api.BeginTotp200ResponseHeaders{CacheControl: &store},
	}, nil
}

// ConfirmTotp takes the app's first code.
func (s *Server) ConfirmTotp(ctx context.Context, r api.ConfirmTotpRequestObject) (api.ConfirmTotpResponseObject, error) {
	user, err := s.person(ctx)
	if err != nil {
		return nil, err
	}
	code := r.Body.Text("code", body.NameLength)
	if !code.Given() {
		err = r.Body.Err(fault.Field{Field: "code", Code: "required", Message: "is required"})
	} else {
		err = r.Body.Err()
	}
	if err != nil {
		return nil, err
	}
	recovery, err := s.People.ConfirmTOTP(ctx, user, code.Value)
	if err != nil {
		return nil, err
	}
	store := noStore
	return api.ConfirmTotp200JSONResponse{
		Body: api.RecoveryCodes{RecoveryCodes: recovery}, Headers: api.ConfirmTotp200ResponseHeaders{CacheControl: &store},
	}, nil
}

func given(challenge *string) string {
	if challenge == nil {
		return ""
	}
	return *challenge
}

// GetMfaConfig says how a challenge can be answered.
func (s *Server) GetMfaConfig(ctx context.Context, r api.GetMfaConfigRequestObject) (api.GetMfaConfigResponseObject, error) {
	c, err := s.People.Challenge(ctx, given(r.Params.Challenge))
	if err != nil {
		return nil, err
	}
	store := noStore
	return api.GetMfaConfig200JSONResponse{
		Body: api.MfaConfig{Methods: c.Methods}, Headers: api.GetMfaConfig200ResponseHeaders{CacheControl: &store},
	}, nil
}

// SendMfaCode mails a code, or does not.
func (s *Server) SendMfaCode(ctx context.Context, r api.SendMfaCodeRequestObject) (api.SendMfaCodeResponseObject, error) {
	if err := s.People.SendCode(ctx, given(r.Params.Challenge)); err != nil {
		return nil, err
	}
	return api.SendMfaCode200JSONResponse{Message: "If the challenge is open and takes codes by e-mail, one is on its way."}, nil
}
