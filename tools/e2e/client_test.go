package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// client calls the gateway as one credential, and holds every answer against the OpenAPI document.
type client struct {
	t      *testing.T
	base   string // the gateway's URL
	header http.Header
	host   string // what the Host header says; empty: the truth
}

// as is a client with a bearer token.
func as(t *testing.T, token string) *client {
	return at(t, world, token)
}

// at is a client of a mesh with a bearer token.
func at(t *testing.T, m *mesh.Mesh, token string) *client {
	return &client{t: t, base: m.URL(), header: http.Header{"Authorization": {"Bearer " + token}}}
}

// owner is a client as Owner of the first tenant, whose plan has no limit; other is one of the second.
func owner(t *testing.T) *client { return as(t, world.Demo().Tenants[0].APIKey) }
func other(t *testing.T) *client { return as(t, world.Demo().Tenants[1].APIKey) }

// anyone is a client without a credential.
func anyone(t *testing.T) *client { return &client{t: t, base: world.URL(), header: http.Header{}} }

// with is the client with one more header.
func (c *client) with(name, value string) *client {
	header := c.header.Clone()
	header.Add(name, value)
	return &client{t: c.t, base: c.base, header: header, host: c.host}
}

// answer is a response with its body read.
type answer struct {
	t      *testing.T
	status int
	header http.Header
	raw    []byte
}

// do sends a request. A body that is a string or bytes goes as it is, one that is read without its length being told, nil as
// none, anything else as JSON.
func (c *client) do(method, path string, body any) answer {
	c.t.Helper()
	a, req := c.ask(method, path, body)
	a.holdAgainstDocument(req)
	return a
}

// ask is do for an answer of many megabytes, which would take too long to hold against the document.
func (c *client) ask(method, path string, body any) (answer, *http.Request) {
	c.t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	case []byte:
		in = bytes.NewReader(b)
	case io.Reader:
		in = b
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			c.t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+path, in)
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header, req.Host = c.header.Clone(), c.host
	if in != nil && req.Header.Get("Content-Type") == "" {
		req.Header.Set("Content-Type", "application/json")
	}
	a, err := c.send(req)
	if err != nil {
		c.t.Fatal(err)
	}
	return a, req
}

func (c *client) send(req *http.Request) (answer, error) {
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return answer{t: c.t, status: resp.StatusCode, header: resp.Header, raw: raw}, err
}

func (c *client) get(path string) answer             { return c.do(http.MethodGet, path, nil) }
func (c *client) post(path string, body any) answer  { return c.do(http.MethodPost, path, body) }
func (c *client) patch(path string, body any) answer { return c.do(http.MethodPatch, path, body) }
func (c *client) put(path string, body any) answer   { return c.do(http.MethodPut, path, body) }
func (c *client) delete(path string) answer          { return c.do(http.MethodDelete, path, nil) }

// contract is the merged OpenAPI document, as it stands in the source.
var contract = sync.OnceValues(func() (routers.Router, error) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "gateway", "docs", "openapi.json"))
	if err != nil {
		return nil, err
	}
	doc, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		return nil, err
	}
	if err := doc.Validate(context.Background()); err != nil {
		return nil, err
	}
	doc.Servers = nil // whatever the port is
	openapi3filter.RegisterBodyDecoder("application/token-introspection+jwt", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder(linesType, func(body io.Reader, _ http.Header, _ *openapi3.SchemaRef, _ openapi3filter.EncodingFn) (any, error) {
		var line any // the first, for all
		err := json.NewDecoder(body).Decode(&line)
		return line, err
	})
	return gorillamux.NewRouter(doc)
})

// holdAgainstDocument checks status, headers and body of an answer to an operation that the document knows, and the
// problem document of every other.
func (a answer) holdAgainstDocument(req *http.Request) {
	a.t.Helper()
	if a.status >= http.StatusBadRequest && secrets.in(a.raw) != "" {
		a.t.Errorf("a refusal tells a secret: %s", a.raw)
	}
	if a.status >= http.StatusBadRequest && a.header.Get("Content-Type") == "application/problem+json" && req.Method != http.MethodHead {
		a.problem()
	}
	router, err := contract()
	if err != nil {
		a.t.Fatal(err)
	}
	route, params, err := router.FindRoute(req)
	if errors.Is(err, routers.ErrPathNotFound) || errors.Is(err, routers.ErrMethodNotAllowed) {
		return
	}
	if err != nil {
		a.t.Fatal(err)
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route},
		Status:                 a.status, Header: a.header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true},
	}
	input.SetBodyBytes(a.raw)
	if err := openapi3filter.ValidateResponse(a.t.Context(), input); err != nil {
		a.t.Errorf("%s %s: the answer %d is not what the document says: %v", req.Method, req.URL.Path, a.status, err)
	}
}

// problem is the body of an error.
type problem struct {
	Type, Title, Detail, Instance, Code, Message, TraceID string
	Status                                                int
	Errors                                                []struct{ Field, Code, Message string }
}

// problem reads and checks the problem document.
func (a answer) problem() problem {
	a.t.Helper()
	var p problem
	a.into(&p)
	if p.Status != a.status || p.Code == "" || p.Title == "" || p.Type == "" || p.Detail == "" || p.Message != p.Detail || p.Instance == "" {
		a.t.Errorf("an incomplete problem document: %s", a.raw)
	}
	return p
}

// is fails unless the status is the one wanted.
func (a answer) is(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("answered %d, want %d: %s", a.status, status, a.raw)
	}
	return a
}

// refused fails unless the answer is a problem with the status and code.
func (a answer) refused(status int, code string) problem {
	a.t.Helper()
	a.is(status)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		a.t.Fatalf("a refusal of type %q: %s", got, a.raw)
	}
	p := a.problem()
	if p.Code != code {
		a.t.Fatalf("refused with code %q, want %q: %s", p.Code, code, a.raw)
	}
	return p
}

// faults is "field code" of every fault that a 400 lists.
func (a answer) faults() []string {
	a.t.Helper()
	list := []string{}
	for _, e := range a.refused(http.StatusBadRequest, "invalid_request").Errors {
		list = append(list, e.Field+" "+e.Code)
	}
	return list
}

// into reads the body as JSON.
func (a answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.raw, v); err != nil {
		a.t.Fatalf("answered %d with no JSON: %v: %q", a.status, err, a.raw)
	}
}

// object reads the body as a JSON object.
func (a answer) object() map[string]any {
	a.t.Helper()
	var o map[string]any
	a.into(&o)
	return o
}

// etag fails unless there is a strong one.
func (a answer) etag() string {
	a.t.Helper()
	tag := a.header.Get("ETag")
	if !strings.HasPrefix(tag, `"`) {
		a.t.Fatalf("no strong ETag: %q", tag)
	}
	return tag
}
