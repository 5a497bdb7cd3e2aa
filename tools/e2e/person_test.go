package e2e

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// person is a program that reads pages and submits the forms that it is shown, as a person without script does.
type person struct {
	t    *testing.T
	base string
	http *http.Client
	// stop is an address before which redirects are not followed: the client application that nobody runs.
	stop string
}

// page is what a person sees.
type page struct {
	t      *testing.T
	status int
	at     *url.URL
	header http.Header
	text   string
	forms  []form
}

// form is one on a page.
type form struct {
	action string
	method string
	inputs url.Values // with their values
	names  []string   // of all inputs, also those that are empty
	button string     // what its first button says
}

func newPerson(t *testing.T, m *mesh.Mesh) *person {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := &person{t: t, base: m.URL(), stop: "http://127.0.0.1/callback"}
	p.http = &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), p.stop) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	return p
}

// visit opens a path of the mesh, or an address.
func (p *person) visit(address string) page {
	p.t.Helper()
	return p.send(http.MethodGet, address, nil)
}

func (p *person) send(method, address string, values url.Values) page {
	p.t.Helper()
	return p.sendWith(nil, method, address, values)
}

// sendWith sends headers that a browser would not, or not by itself.
func (p *person) sendWith(header map[string]string, method, address string, values url.Values) page {
	p.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = p.base + address
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, address, strings.NewReader(values.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for name, value := range header {
		req.Header.Set(name, value)
	}
	resp, err := p.http.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	seen := page{t: p.t, status: resp.StatusCode, at: resp.Request.URL, header: resp.Header}
	root, err := html.Parse(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	seen.read(root, nil)
	return seen
}

// read walks a page for its text and forms.
func (s *page) read(n *html.Node, within *form) {
	attribute := func(name string) string {
		for _, a := range n.Attr {
			if a.Key == name {
				return a.Val
			}
		}
		return ""
	}
	has := func(name string) bool {
		return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	}
	switch {
	case n.Type == html.TextNode:
		s.text += n.Data + " "
	case n.Type == html.ElementNode && n.Data == "form":
		s.forms = append(s.forms, form{action: attribute("action"), method: strings.ToUpper(attribute("method")), inputs: url.Values{}})
		within = &s.forms[len(s.forms)-1]
	case n.Type == html.ElementNode && within != nil && (n.Data == "input" || n.Data == "select"):
		name, kind := attribute("name"), attribute("type")
		if name != "" {
			within.names = append(within.names, name)
			if (kind != "checkbox" && kind != "radio") || has("checked") {
				within.inputs.Add(name, attribute("value"))
			}
		}
	case n.Type == html.ElementNode && within != nil && n.Data == "button":
		if name := attribute("name"); name != "" {
			within.names = append(within.names, name)
		}
		if within.button == "" && n.FirstChild != nil {
			within.button = strings.TrimSpace(n.FirstChild.Data)
		}
	}
	at := len(s.forms) - 1
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if within != nil {
			within = &s.forms[at]
		}
		s.read(child, within)
	}
}

// submit fills in the form that has all the inputs named and sends it.
func (p *person) submit(on page, fill map[string]string) page {
	p.t.Helper()
	f := on.form(fill)
	values := url.Values{}
	for name, list := range f.inputs {
		values[name] = slices.Clone(list)
	}
	for name, value := range fill {
		values.Set(name, value)
	}
	action, err := on.at.Parse(f.action)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.send(http.MethodPost, action.String(), values)
}

// form finds the form of a page that has all the inputs that are to be filled in.
func (s page) form(fill map[string]string) form {
	s.t.Helper()
	for _, f := range s.forms {
		fits := true
		for name := range fill {
			fits = fits && slices.Contains(f.names, name)
		}
		if fits && f.method == http.MethodPost {
			return f
		}
	}
	s.t.Fatalf("no form for %v on %s (%d):\n%s", fill, s.at, s.status, s.shown())
	return form{}
}

// shown is the page's text on few lines, and its forms.
func (s page) shown() string {
	return fmt.Sprintf("%s\n%+v", strings.Join(strings.Fields(s.text), " "), s.forms)
}

// is fails unless the page has the status.
func (s page) is(status int) page {
	s.t.Helper()
	if s.status != status {
		s.t.Fatalf("%s answered %d, want %d: %s", s.at, s.status, status, s.shown())
	}
	return s
}

// says fails unless the page has the text.
func (s page) says(text string) page {
	s.t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(s.text), " "), text) {
		s.t.Fatalf("%s does not say %q: %s", s.at, text, s.shown())
	}
	return s
}

// callback is what the client application would be sent to.
func (s page) callback() url.Values {
	s.t.Helper()
	to, err := url.Parse(s.header.Get("Location"))
	if err != nil || s.status/100 != 3 {
		s.t.Fatalf("%s (%d) does not lead to the client: %s", s.at, s.status, s.shown())
	}
	return to.Query()
}
