package page_test

import (
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/services/identity/page"
)

const origin = "https://mesh.example"

// browser keeps cookies and fills in forms, as one without scripts does.
type browser struct {
	t       *testing.T
	server  *page.Server
	cookies map[string]string
	header  http.Header
	set     []*http.Cookie // by the last answer
	code    int
	head    http.Header
	body    string
	at      string // address of the last page
}

func open(t *testing.T, w *world) *browser {
	t.Helper()
	return &browser{t: t, server: newServer(t, w, origin), cookies: map[string]string{}, header: http.Header{}}
}

func (b *browser) do(method, target, contentType, body string) *browser {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(body))
	maps.Copy(r.Header, b.header)
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	w := httptest.NewRecorder()
	b.server.ServeHTTP(w, r)
	answer := w.Result()
	raw, _ := io.ReadAll(answer.Body)
	b.code, b.head, b.body, b.set, b.at = answer.StatusCode, answer.Header, string(raw), answer.Cookies(), target
	for _, c := range b.set {
		if c.MaxAge < 0 {
			delete(b.cookies, c.Name)
		} else {
			b.cookies[c.Name] = c.Value
		}
	}
	return b
}

func (b *browser) get(target string) *browser {
	b.t.Helper()
	return b.do(http.MethodGet, target, "", "")
}

func (b *browser) post(target string, values url.Values) *browser {
	b.t.Helper()
	return b.do(http.MethodPost, target, "application/x-www-form-urlencoded", values.Encode())
}

var (
	formTag   = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>(.*?)</form>`)
	inputTag  = regexp.MustCompile(`<(?:input|button)([^>]*)>`)
	attribute = regexp.MustCompile(`([a-z-]+)(?:="([^"]*)")?`)
)

// form gives the values of the page's form that goes to an address, as they would be sent untouched.
func (b *browser) form(action string) url.Values {
	b.t.Helper()
	for _, m := range formTag.FindAllStringSubmatch(b.body, -1) {
		if to, _, _ := strings.Cut(html.UnescapeString(m[1]), "#"); to != action {
			continue
		}
		values := url.Values{}
		for _, tag := range inputTag.FindAllStringSubmatch(m[2], -1) {
			a := map[string]string{}
			for _, pair := range attribute.FindAllStringSubmatch(tag[1], -1) {
				a[pair[1]] = html.UnescapeString(pair[2])
			}
			_, checked := a["checked"]
			if a["name"] != "" && a["name"] != "decision" && (a["type"] != "checkbox" && a["type"] != "radio" || checked) {
				values.Add(a["name"], a["value"])
			}
		}
		return values
	}
	b.t.Fatalf("%s has no form to %s:\n%s", b.at, action, b.body)
	return nil
}

// submit fills in a form of the page and sends it.
func (b *browser) submit(action string, pairs ...string) *browser {
	b.t.Helper()
	values := b.form(action)
	for i := 0; i < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return b.post(action, values)
}

// follow goes where the last answer leads.
func (b *browser) follow() *browser {
	b.t.Helper()
	b.want(http.StatusSeeOther)
	return b.get(b.head.Get("Location"))
}

func (b *browser) want(code int, texts ...string) *browser {
	b.t.Helper()
	if b.code != code {
		b.t.Fatalf("%s: %d, want %d\n%s", b.at, b.code, code, b.body)
	}
	for _, text := range texts {
		if !strings.Contains(html.UnescapeString(b.body), text) {
			b.t.Errorf("%s does not say %q:\n%s", b.at, text, b.body)
		}
	}
	return b
}

// leads is the address of a redirect.
func (b *browser) leads(to string) *browser {
	b.t.Helper()
	b.want(http.StatusSeeOther)
	if got := b.head.Get("Location"); got != to {
		b.t.Errorf("%s leads to %q, want %q", b.at, got, to)
	}
	return b
}

func (b *browser) signIn() *browser {
	b.t.Helper()
	b.get("/sign-in").submit("/sign-in", "email", email, "password", password).want(http.StatusSeeOther)
	return b
}
