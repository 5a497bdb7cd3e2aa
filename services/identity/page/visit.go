package page

import (
	"context"
	"crypto/hmac"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// The bounds of a form, in bytes and fields.
const (
	longestForm = 64 << 10
	mostFields  = 100
)

// visit is one request, as a handler sees it.
type visit struct {
	request *http.Request
	form    url.Values // of a POST
	body    []byte     // of a POST of the script's
	caller  identity.Caller
	browser string // the secret that the form's token is bound to
	token   string // what a form on the page must carry
	cookies []*http.Cookie

	signIn *identity.SignIn // nil when nobody is signed in
	user   *identity.User
}

// read takes a request in: its cookies, its form, and whether the form came from a page of ours.
func (s *Server) read(ctx context.Context, r *http.Request) (*visit, error) {
	v := &visit{request: r, caller: identity.Caller{
		Address: callerAddress(r), Agent: r.UserAgent(), Device: s.cookie(r, deviceCookie),
	}}
	if err := s.bind(v); err != nil {
		return nil, err
	}
	if r.Method == http.MethodPost {
		if err := v.readBody(); err != nil {
			return v, err
		}
		// Whoever sends their users here by a POST (RFC 6749 §3.1) has no token: what they ask is turned into a GET.
		if !v.asksToAuthorize() {
			if err := s.genuine(v); err != nil {
				return v, err
			}
		}
	}
	cookie := s.cookie(r, signInCookie)
	if cookie == "" {
		return v, nil
	}
	var err error
	v.signIn, v.user, err = s.o.People.Browser(ctx, cookie)
	return v, err
}

// bind finds the secret that ties forms to the browser: the session's, or before there is one, one of its own.
func (s *Server) bind(v *visit) error {
	v.browser = s.cookie(v.request, signInCookie)
	if v.browser == "" {
		v.browser = s.cookie(v.request, formCookie)
	}
	if v.browser == "" {
		fresh, err := secret.Random(s.o.Random)
		if err != nil {
			return err
		}
		v.browser = fresh
		v.cookies = append(v.cookies, s.newCookie(formCookie, fresh))
	}
	v.token = s.formToken(v.browser)
	return nil
}

func (v *visit) readBody() error {
	media, _, err := mime.ParseMediaType(v.request.Header.Get("Content-Type"))
	raw, readErr := io.ReadAll(io.LimitReader(v.request.Body, longestForm+1))
	switch {
	case readErr != nil:
		return readErr
	case len(raw) > longestForm:
		return fault.New(fault.TooLarge, "body_too_large", "The form is too long.")
	case err == nil && media == "application/json":
		v.body, v.form = raw, url.Values{}
		return nil
	case err != nil || media != "application/x-www-form-urlencoded":
		return fault.New(fault.UnsupportedMedia, "unsupported_media_type", "A form was expected.")
	}
	v.form, err = url.ParseQuery(string(raw))
	if err != nil || len(v.form) > mostFields {
		return fault.New(fault.Invalid, "malformed_form", "The form could not be read.")
	}
	return nil
}

// asksToAuthorize reports an application's request that came as a form of its own, as nothing that decides.
func (v *visit) asksToAuthorize() bool {
	return v.request.URL.Path == authorizePath && !v.form.Has("decision") && !v.form.Has(tokenField)
}

// genuine holds a POST to what a form of ours carries: the token of this browser, and the browser's own word that it
// comes from our pages. Pages send no referrer, for which browsers say "null" as their origin.
func (s *Server) genuine(v *visit) error {
	refused := fault.New(fault.Denied, codeStaleForm, "The form was open for too long, or did not come from this site.")
	h := v.request.Header
	switch h.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
	default:
		return refused
	}
	switch h.Get("Origin") {
	case "", "null", s.origin:
	case s.alias: // never "", which is the case before
	default:
		return refused
	}
	sent := h.Get(tokenHeader)
	if v.body == nil {
		sent = v.form.Get(tokenField)
	}
	if !hmac.Equal([]byte(sent), []byte(v.token)) {
		return refused
	}
	return nil
}

// formToken is the token of a browser's forms.
func (s *Server) formToken(browser string) string { return tokenOf(s.o.FormKey, browser) }

// callerAddress is who sent the request, by the gateway's word, which takes the place of anything that clients say.
func callerAddress(r *http.Request) string {
	list := strings.Split(r.Header.Get("X-Forwarded-For"), ",")
	return strings.TrimSpace(list[len(list)-1])
}

// text is a field's value as people mean it: trimmed, in one normal form. Passwords are not read by it.
func (v *visit) text(name string) string {
	value := strings.TrimSpace(norm.NFC.String(v.form.Get(name)))
	if !utf8.ValidString(value) {
		return ""
	}
	return value
}

// given is nil for a field that was left empty.
func (v *visit) given(name string) *string {
	if value := v.text(name); value != "" {
		return &value
	}
	return nil
}

func (v *visit) query(name string) string { return v.request.URL.Query().Get(name) }

// onward is where to go after signing in. A form carries it as a field, an address as a parameter.
func (v *visit) onward() string {
	if v.form != nil {
		return local(v.form.Get("continue"))
	}
	return local(v.query("continue"))
}
