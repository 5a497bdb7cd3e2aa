// Package fault names the ways in which an operation can fail, in the terms of the business, so that whoever decides
// an error decides it once. It knows no status codes and no transport: libs/web turns a fault into an answer.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what sort of failure an error is. An error that is no *Error is Internal.
type Kind int

// The kinds, in the order in which an answer prefers them when several hold.
const (
	Internal            Kind = iota // a defect of ours; logged whole, shown as nothing
	Unauthenticated                 // no credential, or one that does not hold
	Denied                          // a valid credential that may not do this
	MethodNotAllowed                // the resource exists, the method does not
	TooLarge                        // the body is over its limit
	UnsupportedMedia                // the body is of a type the operation does not take
	Invalid                         // the request breaks a rule; Fields lists every rule it breaks
	NotFound                        // nothing there, or nothing there for this caller
	RangeNotSatisfiable             // the content has no such range
	PlanLimit                       // the tenant's plan is used up
	PreconditionFailed              // If-Match names another version
	Conflict                        // the state of the resource forbids it
	IdempotencyMismatch             // an idempotency key that came with another request before
	RateLimited                     // too many requests; RetryAfter says when
	Unavailable                     // something we need is away; RetryAfter says when to come again
)

// Field is one fault of one member or parameter of a request. Message never repeats the value.
type Field struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Error is a failure that has been decided. Its Detail is shown to callers: it never carries a patient's data.
type Error struct {
	Kind       Kind
	Code       string // stable, snake_case
	Detail     string // one sentence for people
	Fields     []Field
	RetryAfter time.Duration  // zero leaves the choice to whoever answers
	Allow      []string       // the methods that exist, for MethodNotAllowed
	Extra      map[string]any // further members of the problem document, such as the id of what exists already
	cause      error
}

// New makes a fault of a kind.
func New(kind Kind, code, detail string) *Error {
	return &Error{Kind: kind, Code: code, Detail: detail}
}

// Because is New with the error that led to it, which is logged and never shown.
func Because(cause error, kind Kind, code, detail string) *Error {
	return &Error{Kind: kind, Code: code, Detail: detail, cause: cause}
}

// InvalidFields is the one fault of a request that breaks the rules listed.
func InvalidFields(fields []Field) *Error {
	detail := "The request breaks a rule."
	if len(fields) == 1 {
		detail = fields[0].Field + ": " + fields[0].Message
	} else if len(fields) > 1 {
		detail = fmt.Sprintf("The request breaks %d rules.", len(fields))
	}
	return &Error{Kind: Invalid, Code: "invalid_request", Detail: detail, Fields: fields}
}

// Away is the fault of a part that cannot be reached just now.
func Away(cause error, detail string) *Error {
	return &Error{Kind: Unavailable, Code: "unavailable", Detail: detail, RetryAfter: time.Second, cause: cause}
}

// Error shows the code and, for logs, the cause.
func (e *Error) Error() string {
	if e.cause != nil {
		return e.Code + ": " + e.cause.Error()
	}
	return e.Code + ": " + e.Detail
}

// Unwrap gives the cause, so that errors.Is sees through a fault.
func (e *Error) Unwrap() error { return e.cause }

// Of finds the fault in an error's chain. What carries none is Internal.
func Of(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: Internal, Code: "internal", Detail: "Something went wrong on our side.", cause: err}
}

// Is reports whether err is a fault of the kind.
func Is(err error, kind Kind) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Kind == kind
}
