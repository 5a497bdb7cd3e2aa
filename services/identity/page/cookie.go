package page

import (
	"net/http"
	"time"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// The cookies. Where browsers reach us by TLS, their names begin with __Host-, which keeps neighbouring domains from
// setting them (RFC 6265bis §4.1.3.2).
const (
	signInCookie = "sign-in"
	deviceCookie = "device"
	formCookie   = "form"

	deviceLifetime = 400 * 24 * time.Hour // as long as browsers keep one
	longestCookie  = 512
)

func (s *Server) cookieName(name string) string {
	if s.secure {
		return "__Host-" + name
	}
	return name
}

// cookie is a cookie's value; "" when there is none, or more than one, of which nobody knows which is ours.
func (s *Server) cookie(r *http.Request, name string) string {
	found := r.CookiesNamed(s.cookieName(name))
	if len(found) != 1 || len(found[0].Value) > longestCookie {
		return ""
	}
	return found[0].Value
}

// newCookie ends with the browser, as people share machines on a ward.
func (s *Server) newCookie(name, value string) *http.Cookie {
	return &http.Cookie{ //nolint:gosec // Secure where there is TLS: on a developer's machine there is none
		Name: s.cookieName(name), Value: value, Path: "/", HttpOnly: true, Secure: s.secure, SameSite: http.SameSiteLaxMode,
	}
}

// enter gives the browser its new session. The secret of the forms before it goes.
func (s *Server) enter(v *visit, e identity.Entered) {
	v.cookies = append(v.cookies, s.newCookie(signInCookie, e.Cookie), s.gone(formCookie))
	s.remember(v, e)
}

// remember keeps the proof that somebody signed in from this browser.
func (s *Server) remember(v *visit, e identity.Entered) {
	if e.Device != "" {
		c := s.newCookie(deviceCookie, e.Device) //nolint:gosec // as newCookie makes it
		c.MaxAge = int(deviceLifetime.Seconds())
		v.cookies = append(v.cookies, c)
	}
}

func (s *Server) gone(name string) *http.Cookie {
	c := s.newCookie(name, "") //nolint:gosec // as newCookie makes it
	c.MaxAge = -1
	return c
}
