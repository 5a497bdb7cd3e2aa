// Package page is the sign-in pages: everything of the identity service that people see in a browser, from signing up to
// the consent page and their account. Pages are plain HTML forms that work without script; every change is a POST that
// carries a token bound to the browser, and answers with a redirect. It knows HTML and forms, and no SQL, no Fiber and no
// rule of a password or a token: it asks the verbs.
package page

import (
	"bytes"
	"errors"
	"html/template"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Options say what the pages stand on. Every field is required.
type Options struct {
	PublicURL   string // where browsers reach us, without a slash at its end
	Environment string
	FormKey     []byte // 32 bytes that the forms' tokens are made by
	People      People
	OAuth       OAuth
	Consents    Consents
	Keys        Keys
	Roles       Roles
	Agreements  Agreements
	Federation  Federation
	Launcher    Launcher
	Logger      *slog.Logger
	Now         func() time.Time
	Random      io.Reader
}

// Server answers the pages. It is an http.Handler, safe for concurrent use.
type Server struct {
	o         Options
	origin    string // of PublicURL
	alias     string // the same by a name, which passkeys need, where PublicURL has a loopback address; "" elsewhere
	secure    bool   // browsers reach us by TLS
	templates map[string]*template.Template
	assets    assets
	mux       *http.ServeMux
}

// New makes a server.
func New(o Options) (*Server, error) {
	u, err := url.Parse(o.PublicURL)
	if err != nil || u.Host == "" {
		return nil, errors.New("the public address is not absolute")
	}
	if len(o.FormKey) < formKeySize {
		return nil, errors.New("the key of the forms is too short")
	}
	s := &Server{o: o, origin: u.Scheme + "://" + u.Host, alias: aliasOf(*u), secure: u.Scheme == "https"}
	if s.assets, err = readAssets(); err != nil {
		return nil, err
	}
	if s.templates, err = s.readTemplates(); err != nil {
		return nil, err
	}
	s.mux = http.NewServeMux()
	for _, r := range s.Routes() {
		pattern := r.Pattern
		if pattern == "/" {
			pattern = "/{$}"
		}
		s.mux.Handle(r.Method+" "+pattern, s.around(r))
	}
	return s, nil
}

// aliasOf is the origin under which a mesh on one's own machine is also visited.
func aliasOf(u url.URL) string {
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return ""
	}
	host := "localhost"
	if port := u.Port(); port != "" {
		host = net.JoinHostPort(host, port)
	}
	return u.Scheme + "://" + host
}

// ServeHTTP answers a page.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Serves reports whether a path is one of the pages'.
func Serves(path string) bool {
	for _, r := range new(Server).Routes() {
		if matches(r.Pattern, path) {
			return true
		}
	}
	return false
}

func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	if len(want) != len(got) {
		return false
	}
	for i, segment := range want {
		if segment != got[i] && (!strings.HasPrefix(segment, "{") || got[i] == "") {
			return false
		}
	}
	return true
}

// execute makes a page whole before anything of it is sent, so that one that breaks is an error and not half a page.
func (s *Server) execute(name string, data view) ([]byte, error) {
	var out bytes.Buffer
	if err := s.templates[name].ExecuteTemplate(&out, "layout", data); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
