package mesh

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

func keyring(t *testing.T) *principal.Keyring {
	t.Helper()
	keys, err := principal.ParseKeyring("a:" + strings.Repeat("QUFB", 16))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func callerOf(t *testing.T, handler fasthttp.RequestHandler) *Caller {
	t.Helper()
	c, err := New(Static{"patient": {serve(t, handler).address}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Caller("patient", keyring(t), "matching")
}

type answer struct {
	Name string `json:"name"`
}

func TestAskSignsAndDecodes(t *testing.T) {
	keys := keyring(t)
	var got principal.Principal
	var verifyErr error
	caller := callerOf(t, func(c *fasthttp.RequestCtx) {
		got, verifyErr = keys.Verify(string(c.Request.Header.Peek(principal.AssertionHeader)), string(c.Method()),
			string(c.Request.Header.RequestURI()), time.Now())
		c.SetBody(c.Request.Body())
	})
	q := Question{Method: "POST", Target: "/internal/thing?a=1", Body: answer{"echo"}, Self: true}
	out, err := Ask[answer](t.Context(), caller, q)
	if err != nil || out.Name != "echo" || verifyErr != nil || got.Kind != principal.Service || got.ClientID != "matching" {
		t.Errorf("%v, %v, %v, %+v", out, err, verifyErr, got)
	}
	ctx := principal.With(t.Context(), principal.Principal{TenantID: "t", Kind: principal.APIKey})
	q.Self = false
	if _, err := Ask[struct{}](ctx, caller, q); err != nil || got.TenantID != "t" {
		t.Errorf("as the caller: %v, %+v", err, got)
	}
	if _, err := Ask[struct{}](t.Context(), caller, q); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("without a principal: %v", err)
	}
}

func TestAskTurnsProblemsIntoFaults(t *testing.T) {
	tests := []struct {
		status int
		body   string
		kind   fault.Kind
		code   string
	}{
		{400, `{"code":"invalid_request","detail":"d","errors":[{"field":"a","code":"b","message":"c"}]}`, fault.Invalid, "invalid_request"},
		{401, `{"code":"unauthenticated","detail":"d"}`, fault.Internal, "internal"}, // the program's own assertion
		{403, `{"code":"permission_denied","detail":"d"}`, fault.Internal, "internal"},
		{404, `{"code":"patient_not_found","detail":"d"}`, fault.NotFound, "patient_not_found"},
		{409, `{"code":"busy","detail":"d"}`, fault.Conflict, "busy"},
		{503, `{"code":"unavailable","detail":"d"}`, fault.Unavailable, "unavailable"},
		{503, `<html>`, fault.Unavailable, "unavailable"},
		{500, `{"code":"internal","detail":"secrets"}`, fault.Internal, "internal"},
		{418, `{"code":"teapot"}`, fault.Internal, "internal"},
	}
	for _, test := range tests {
		caller := callerOf(t, func(c *fasthttp.RequestCtx) {
			c.SetStatusCode(test.status)
			c.SetBodyString(test.body)
			c.Response.Header.Set("Retry-After", "7")
		})
		_, err := Ask[answer](t.Context(), caller, Question{Method: "GET", Target: "/", Self: true})
		f, ok := errors.AsType[*fault.Error](err)
		if !ok || f.Kind != test.kind || f.Code != test.code || strings.Contains(f.Detail, "secrets") {
			t.Errorf("%d %s: %#v", test.status, test.body, err)
		}
		if ok && test.status == 400 && (len(f.Fields) != 1 || f.Fields[0].Field != "a") {
			t.Errorf("fields %v", f.Fields)
		}
	}
}

func TestAskHidesWhatItCannotRead(t *testing.T) {
	caller := callerOf(t, func(c *fasthttp.RequestCtx) { c.SetBodyString(`{"name": ["Ada"]}`) })
	_, err := Ask[answer](t.Context(), caller, Question{Method: "GET", Target: "/", Self: true})
	if err == nil || strings.Contains(err.Error(), "Ada") {
		t.Errorf("got %v", err)
	}
}

func TestFetchGivesTheBytes(t *testing.T) {
	const media = "application/msgpack"
	answers := map[string]func(c *fasthttp.RequestCtx){
		"bytes": func(c *fasthttp.RequestCtx) {
			c.SetContentType(media)
			c.SetBodyString(string(c.Request.Header.Peek("Accept")))
		},
		"json": func(c *fasthttp.RequestCtx) { c.SetContentType("application/json") },
		"problem": func(c *fasthttp.RequestCtx) {
			c.SetStatusCode(409)
			c.SetBodyString(`{"code":"position_lost","detail":"d"}`)
		},
	}
	caller := callerOf(t, func(c *fasthttp.RequestCtx) { answers[string(c.QueryArgs().Peek("as"))](c) })
	fetch := func(as string) (got string, err error) {
		err = Fetch(t.Context(), caller, Question{Method: "GET", Target: "/x?as=" + as, Self: true, Accept: media}, func(body []byte) error {
			got = string(body)
			return nil
		})
		return got, err
	}
	if got, err := fetch("bytes"); err != nil || got != media+", application/problem+json" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := fetch("json"); !errors.Is(err, errUnexpected) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := fetch("problem"); fault.Of(err).Code != "position_lost" || !fault.Is(err, fault.Conflict) || got != "" {
		t.Errorf("%q, %v", got, err)
	}
	failed := errors.New("cannot be read")
	err := Fetch(t.Context(), caller, Question{Method: "GET", Target: "/x?as=bytes", Self: true, Accept: media}, func([]byte) error { return failed })
	if !errors.Is(err, failed) {
		t.Errorf("the reader's own error: %v", err)
	}
}
