package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/ory/fosite"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// failure is an error as RFC 6749 §5.2 writes it.
type failure struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// described is every error that an endpoint may answer, with what is said about it. Fosite's own texts repeat what was
// sent, so they are not shown.
func described(code string) (status int, description string) {
	switch code {
	case "invalid_request":
		return http.StatusBadRequest, "The request is malformed: a parameter is missing, repeated or at odds with another."
	case "invalid_client":
		return http.StatusUnauthorized, "The client could not be authenticated."
	case "invalid_grant":
		return http.StatusBadRequest, "The grant does not hold."
	case "unauthorized_client":
		return http.StatusBadRequest, "The client may not use this grant type."
	case "unsupported_grant_type":
		return http.StatusBadRequest, "The server does not support this grant type."
	case "invalid_scope":
		return http.StatusBadRequest, "The scope is unknown, or more than the client may have."
	case "unsupported_response_type":
		return http.StatusBadRequest, "The server supports the response type code alone."
	case "request_not_supported":
		return http.StatusBadRequest, "The server takes no request objects."
	case "access_denied":
		return http.StatusForbidden, "The request was denied."
	case "login_required", "interaction_required":
		return http.StatusBadRequest, "The user has to sign in first."
	case "consent_required":
		return http.StatusBadRequest, "The user has to consent first."
	case "temporarily_unavailable":
		return http.StatusServiceUnavailable, "Something that the server needs is away; try again shortly."
	}
	return http.StatusInternalServerError, "Something went wrong on our side."
}

// refuse answers with an error. Only errors of our own making are logged: they are nobody else's to mend.
func (s *Server) refuse(ctx context.Context, err error, basicTried bool) Response {
	code := fosite.ErrorToRFC6749Error(err).ErrorField
	if fault.Is(err, fault.Unavailable) {
		code = "temporarily_unavailable"
	}
	return s.refuseBecause(ctx, code, err, basicTried)
}

// refuseAs answers with an error that was found without fosite.
func (s *Server) refuseAs(ctx context.Context, code string) Response {
	return s.refuseBecause(ctx, code, errServer, false)
}

var errServer = errors.New("the server is at fault")

func (s *Server) refuseBecause(ctx context.Context, code string, err error, basicTried bool) Response {
	status, description := described(code)
	if status == http.StatusInternalServerError {
		s.o.Logger.ErrorContext(ctx, "oauth request failed", "error", err.Error())
		code = "server_error"
	}
	r := answer(status, failure{Error: code, Description: description})
	if status == http.StatusUnauthorized && basicTried {
		r.Header["WWW-Authenticate"] = `Basic realm="oauth2"` // RFC 6749 §5.2
	}
	if status == http.StatusServiceUnavailable {
		r.Header["Retry-After"] = "1"
	}
	return r
}

// answer is JSON that nobody may keep.
func answer(status int, body any) Response {
	raw, err := json.Marshal(body)
	if err != nil {
		status, raw = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	return Response{Status: status, Body: raw, Header: map[string]string{
		"Content-Type": "application/json", "Cache-Control": "no-store", "Pragma": "no-cache",
	}}
}
