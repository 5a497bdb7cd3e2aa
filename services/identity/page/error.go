package page

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

const codeStaleForm = "stale_form"

// trouble is the data of an error page.
type trouble struct {
	Status  int
	Heading string
	Text    string
	Trace   string
	Again   string // an address to start over from; "" offers the way home
}

// statusOf is the status of a page that tells of a fault.
func statusOf(kind fault.Kind) int {
	switch kind {
	case fault.Unauthenticated:
		return http.StatusUnauthorized
	case fault.Denied:
		return http.StatusForbidden
	case fault.MethodNotAllowed:
		return http.StatusMethodNotAllowed
	case fault.TooLarge:
		return http.StatusRequestEntityTooLarge
	case fault.UnsupportedMedia:
		return http.StatusUnsupportedMediaType
	case fault.NotFound:
		return http.StatusNotFound
	case fault.Conflict, fault.IdempotencyMismatch, fault.PreconditionFailed, fault.PlanLimit:
		return http.StatusConflict
	case fault.RateLimited:
		return http.StatusTooManyRequests
	case fault.Unavailable:
		return http.StatusServiceUnavailable
	case fault.Invalid:
		return http.StatusBadRequest
	case fault.RangeNotSatisfiable:
		return http.StatusRequestedRangeNotSatisfiable
	case fault.Internal:
	}
	return http.StatusInternalServerError
}

// failed is the page of an error. What is no fault is logged, and shown as nothing.
func (s *Server) failed(ctx context.Context, v *visit, err error) reply {
	f := fault.Of(err)
	if f.Kind == fault.Internal {
		s.o.Logger.ErrorContext(ctx, "page failed", "error", err.Error())
	}
	if v.body != nil {
		return problem(f)
	}
	t := trouble{Status: statusOf(f.Kind), Text: f.Detail, Trace: traceOf(ctx)}
	switch f.Kind {
	case fault.Denied:
		t.Heading = "You can’t do this here"
		if f.Code == identity.Confined().Code {
			t.Again = "/sign-in?again=1"
		}
		if f.Code == codeStaleForm {
			t.Heading, t.Again = "This form has expired", startOver(v)
			t.Text = "It was open for too long, or you signed in or out in another window. Nothing was changed. Please start again."
		}
	case fault.NotFound:
		t.Heading, t.Text = "There is nothing here", "The page does not exist, or is not yours to see."
	case fault.RateLimited:
		t.Heading, t.Text = "Too many tries", "Please wait a moment, then try again."
	case fault.Unavailable:
		t.Heading, t.Text = "We can’t do this just now", "A part of the service is away. Nothing was changed. Please try again in a moment."
	case fault.Internal:
		t.Heading, t.Text = "Something went wrong", "The fault is on our side, and we have been told. Please try again."
	case fault.Conflict:
		t.Heading = "This was done already"
	default:
		t.Heading = "This request can’t be used"
	}
	r := show("error", t.Heading, t)
	r.status = t.Status
	r.header = later(f)
	return r
}

// startOver is the page that a form stood on, as far as that is told by where it was sent.
func startOver(v *visit) string {
	switch path := v.request.URL.Path; path {
	case "/sign-in", "/sign-up", "/forgot-password":
		return path
	}
	return ""
}

// later tells when to come again.
func later(f *fault.Error) http.Header {
	if f.Kind != fault.RateLimited && f.Kind != fault.Unavailable {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(seconds(f.RetryAfter))}}
}

func seconds(d time.Duration) int { return max(1, int(math.Ceil(d.Seconds()))) }

// problem tells the script of an error, in a sentence that it can show.
func problem(f *fault.Error) reply {
	body, err := json.Marshal(map[string]string{"code": f.Code, "message": f.Detail})
	if err != nil {
		body = []byte(`{}`)
	}
	r := raw(statusOf(f.Kind), "application/json", body)
	r.header = later(f)
	return r
}
