package web

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// ProblemType is the media type of every error body (RFC 9457).
const ProblemType = "application/problem+json"

// statuses is the one place where a kind of failure becomes a status.
func status(kind fault.Kind) int {
	switch kind {
	case fault.Unauthenticated:
		return fiber.StatusUnauthorized
	case fault.Denied:
		return fiber.StatusForbidden
	case fault.MethodNotAllowed:
		return fiber.StatusMethodNotAllowed
	case fault.TooLarge:
		return fiber.StatusRequestEntityTooLarge
	case fault.UnsupportedMedia:
		return fiber.StatusUnsupportedMediaType
	case fault.Invalid:
		return fiber.StatusBadRequest
	case fault.NotFound:
		return fiber.StatusNotFound
	case fault.RangeNotSatisfiable:
		return fiber.StatusRequestedRangeNotSatisfiable
	case fault.PlanLimit:
		return fiber.StatusPaymentRequired
	case fault.PreconditionFailed:
		return fiber.StatusPreconditionFailed
	case fault.Conflict:
		return fiber.StatusConflict
	case fault.IdempotencyMismatch:
		return fiber.StatusUnprocessableEntity
	case fault.RateLimited:
		return fiber.StatusTooManyRequests
	case fault.Unavailable:
		return fiber.StatusServiceUnavailable
	case fault.Internal:
	}
	return fiber.StatusInternalServerError
}

// problem is the body of an error. Message repeats Detail for readers of the older message shape.
type problem struct {
	Type     string        `json:"type"`
	Title    string        `json:"title"`
	Status   int           `json:"status"`
	Detail   string        `json:"detail"`
	Instance string        `json:"instance"`
	Code     string        `json:"code"`
	Message  string        `json:"message"`
	TraceID  string        `json:"traceId"`
	Errors   []fault.Field `json:"errors,omitempty"`
}

// FromFiber understands the errors that Fiber and fasthttp make themselves, whose texts may repeat what was sent and
// are not shown.
func FromFiber(err error) error {
	var own *fault.Error
	var e *fiber.Error
	if errors.As(err, &own) || !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case fiber.StatusNotFound:
		return fault.New(fault.NotFound, "not_found", "There is nothing here.")
	case fiber.StatusMethodNotAllowed:
		return fault.New(fault.MethodNotAllowed, "method_not_allowed", "The resource does not take this method.")
	case fiber.StatusRequestEntityTooLarge:
		return fault.New(fault.TooLarge, "body_too_large", "The body is over the limit.")
	case fiber.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "The body is of a type that is not taken here.")
	case fiber.StatusRequestHeaderFieldsTooLarge:
		return fault.New(fault.Invalid, "headers_too_large", "The request's headers are over the limit.")
	case fiber.StatusRequestTimeout:
		return fault.New(fault.Invalid, "request_timeout", "The request took too long to arrive.")
	}
	if e.Code >= fiber.StatusBadRequest && e.Code < fiber.StatusInternalServerError {
		return fault.New(fault.Invalid, "malformed_request", "The request is malformed.")
	}
	return err
}

// Problem is the status and the problem document of an error. It shows of an error only what its fault says.
func Problem(err error, traceID string) (code int, document []byte) {
	f := fault.Of(err)
	code = status(f.Kind)
	fields := f.Fields
	if f.Kind == fault.Invalid && len(fields) == 0 {
		fields = []fault.Field{{Field: "request", Code: f.Code, Message: f.Detail}}
	}
	p := problem{
		Type: "urn:problem:" + strings.ReplaceAll(f.Code, "_", "-"), Title: fasthttp.StatusMessage(code), Status: code,
		Detail: f.Detail, Message: f.Detail, Instance: "urn:trace:" + traceID, Code: f.Code, TraceID: traceID, Errors: fields,
	}
	document, marshalErr := marshalProblem(p, f.Extra)
	if marshalErr != nil {
		document = []byte(`{}`)
	}
	return code, document
}

// WriteProblem answers with the problem document of an error.
func WriteProblem(resp *fasthttp.Response, err error, traceID string) int {
	f := fault.Of(err)
	code, body := Problem(err, traceID)
	resp.SetStatusCode(code)
	resp.SetBodyRaw(body)
	h := &resp.Header
	h.SetContentType(ProblemType)
	h.Set(fiber.HeaderCacheControl, "no-store")
	switch f.Kind {
	case fault.Unauthenticated:
		challenge := "Bearer"
		if f.Code == "invalid_token" {
			challenge = `Bearer error="invalid_token"`
		}
		h.Set(fiber.HeaderWWWAuthenticate, challenge)
	case fault.MethodNotAllowed:
		if len(f.Allow) > 0 {
			h.Set(fiber.HeaderAllow, strings.Join(f.Allow, ", "))
		}
	case fault.RateLimited, fault.Unavailable:
		h.Set(fiber.HeaderRetryAfter, retryAfter(f.RetryAfter))
	default:
	}
	return code
}

func marshalProblem(p problem, extra map[string]any) ([]byte, error) {
	if len(extra) == 0 {
		return json.Marshal(p)
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	members := map[string]any{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, err
	}
	for name, value := range extra {
		members[name] = value
	}
	return json.Marshal(members)
}

// retryAfter is in whole seconds, one at least (RFC 9110 §10.2.3).
func retryAfter(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
