package page

import (
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// reply is what a handler answers: a page, an address to go to, or a text of the script's or an asset's.
type reply struct {
	status   int
	page     string // a template's name
	data     any
	title    string
	formTo   string // a further source for the page's form-action
	to       string // 303
	header   http.Header
	body     []byte
	bodyType string
}

func show(page, title string, data any) reply {
	return reply{status: http.StatusOK, page: page, title: title, data: data}
}

// goTo is the answer to a POST that did what it was to do, so that a reload repeats nothing.
func goTo(address string) reply { return reply{status: http.StatusSeeOther, to: address} }

// raw is a body as it is.
func raw(status int, contentType string, body []byte) reply {
	return reply{status: status, bodyType: contentType, body: body}
}

// around is what happens round every handler: reading, the session where one is needed, and the page of every error.
func (s *Server) around(route Route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if route.asset != nil {
			s.send(ctx, w, &visit{request: r}, route.asset(r))
			return
		}
		v, err := s.read(ctx, r)
		var answer reply
		switch {
		case err != nil:
		case route.member && v.signIn == nil:
			answer = s.askToSignIn(v)
		case route.member && v.signIn.Federated() && accountOnly(route.Pattern):
			err = identity.Confined()
		default:
			answer, err = route.handle(ctx, v)
		}
		if err != nil {
			if v == nil {
				v = &visit{request: r}
			}
			answer = s.failed(ctx, v, err)
		}
		s.send(ctx, w, v, answer)
	})
}

// askToSignIn leads to the sign-in page and, from there, back to the page that was asked for.
func (s *Server) askToSignIn(v *visit) reply {
	if v.body != nil {
		return problem(fault.New(fault.Unauthenticated, "unauthenticated", "Sign in first."))
	}
	if v.request.Method == http.MethodPost {
		return goTo("/sign-in")
	}
	return goTo(withContinue("/sign-in", local(v.request.URL.RequestURI())))
}

// send writes an answer.
func (s *Server) send(ctx context.Context, w http.ResponseWriter, v *visit, r reply) {
	if r.page != "" {
		body, err := s.execute(r.page, s.view(v, r))
		if err != nil {
			s.o.Logger.ErrorContext(ctx, "page failed", "page", r.page, "error", err.Error())
			http.Error(w, "Something went wrong on our side.", http.StatusInternalServerError)
			return
		}
		r.body, r.bodyType = body, "text/html; charset=utf-8"
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy(r.formTo))
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()")
	h.Set("Cache-Control", "no-store")
	for name, values := range r.header {
		h[name] = values
	}
	for _, c := range v.cookies {
		http.SetCookie(w, c)
	}
	if r.to != "" {
		h.Set("Location", r.to)
	}
	if len(r.body) > 0 {
		h.Set("Content-Type", r.bodyType)
		h.Set("Content-Length", strconv.Itoa(len(r.body)))
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) //nolint:gosec // html/template escaped it; who left reads no more
}

// policy lets a page load our own files and nothing else, stand in no frame, and send its forms to us alone. Browsers
// hold redirects after a form to form-action too, so a form that ends at an application names where.
func policy(formTo string) string {
	if formTo != "" {
		formTo = " " + formTo
	}
	return "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; form-action 'self'" +
		formTo + "; frame-ancestors 'none'; base-uri 'none'"
}

// traceOf is the id by which an error can be found in the logs.
func traceOf(ctx context.Context) string {
	if span := trace.SpanContextFromContext(ctx); span.HasTraceID() {
		return span.TraceID().String()
	}
	return ""
}
