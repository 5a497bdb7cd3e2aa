package mesh

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// faultOf reads a problem document (RFC 9457) back into the fault that it was made from.
func faultOf(resp *fasthttp.Response, service string) *fault.Error {
	var problem struct {
		Code   string        `json:"code"`
		Detail string        `json:"detail"`
		Errors []fault.Field `json:"errors"`
	}
	status := resp.StatusCode()
	kind := kindOf(status)
	err := json.Unmarshal(resp.Body(), &problem)
	if err != nil || problem.Code == "" || kind == fault.Internal {
		cause := fmt.Errorf("%s answered %d", service, status) //nolint:err113 // a cause for the log alone
		return fault.Because(cause, kind, codeOf(kind), "The "+service+" service could not do its part.")
	}
	f := fault.New(kind, problem.Code, problem.Detail)
	f.Fields = problem.Errors
	if seconds, err := strconv.Atoi(string(resp.Header.Peek(fasthttp.HeaderRetryAfter))); err == nil && seconds > 0 {
		f.RetryAfter = time.Duration(seconds) * time.Second
	}
	if allow := string(resp.Header.Peek(fasthttp.HeaderAllow)); allow != "" {
		f.Allow = strings.Split(strings.ReplaceAll(allow, " ", ""), ",")
	}
	return f
}

// kindOf undoes libs/web's table of statuses. What it does not know is our defect: Internal.
func kindOf(status int) fault.Kind {
	kinds := map[int]fault.Kind{
		fasthttp.StatusBadRequest:                   fault.Invalid,
		fasthttp.StatusUnauthorized:                 fault.Unauthenticated,
		fasthttp.StatusPaymentRequired:              fault.PlanLimit,
		fasthttp.StatusForbidden:                    fault.Denied,
		fasthttp.StatusNotFound:                     fault.NotFound,
		fasthttp.StatusMethodNotAllowed:             fault.MethodNotAllowed,
		fasthttp.StatusRequestedRangeNotSatisfiable: fault.RangeNotSatisfiable,
		fasthttp.StatusConflict:                     fault.Conflict,
		fasthttp.StatusPreconditionFailed:           fault.PreconditionFailed,
		fasthttp.StatusRequestEntityTooLarge:        fault.TooLarge,
		fasthttp.StatusUnsupportedMediaType:         fault.UnsupportedMedia,
		fasthttp.StatusUnprocessableEntity:          fault.IdempotencyMismatch,
		fasthttp.StatusTooManyRequests:              fault.RateLimited,
		fasthttp.StatusServiceUnavailable:           fault.Unavailable,
	}
	return kinds[status]
}

func codeOf(kind fault.Kind) string {
	if kind == fault.Unavailable {
		return "unavailable"
	}
	return "internal"
}
