package oauth

import (
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// matches reports whether a redirect URI is the registered one: letter by letter (RFC 9700 §4.1.3), but for the port of
// a loopback address, which an application on its user's machine does not choose (RFC 8252 §7.3).
func matches(registered, asked string) bool {
	if asked == registered {
		return true
	}
	u, err := url.Parse(registered)
	if err != nil || u.Scheme != "http" || u.User != nil {
		return false
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err != nil || !ip.IsLoopback() {
		return false
	}
	host := strings.TrimSuffix(u.Host, ":"+u.Port())
	wantRest, ok := strings.CutPrefix(registered, "http://"+u.Host)
	if !ok {
		return false
	}
	rest, ok := strings.CutPrefix(asked, "http://"+host)
	if !ok {
		return false
	}
	if port, ok := strings.CutPrefix(rest, ":"); ok {
		digits := port[:len(port)-len(strings.TrimLeft(port, "0123456789"))]
		if number, err := strconv.ParseUint(digits, 10, 16); err != nil || number == 0 {
			return false
		}
		rest = port[len(digits):]
	}
	return rest == wantRest
}

// redirect sends the browser back to the client with an answer. The issuer tells the client which server it is from
// (RFC 9207), so that one of another's cannot be mixed up with it.
func (s *Server) redirect(to, state string, answer url.Values) Response {
	if state != "" {
		answer.Set("state", state)
	}
	answer.Set("iss", s.o.Issuer)
	glue := "?"
	if strings.Contains(to, "?") {
		glue = "&"
	}
	return Response{Status: http.StatusSeeOther, Header: map[string]string{
		"Location": to + glue + answer.Encode(), "Cache-Control": "no-store", "Pragma": "no-cache", "Referrer-Policy": "no-referrer",
	}}
}

// back sends the browser back to the client with an error (RFC 6749 §4.1.2.1).
func (s *Server) back(to, state, code string) *Response {
	_, description := described(code)
	r := s.redirect(to, state, url.Values{"error": {code}, "error_description": {description}})
	return &r
}
