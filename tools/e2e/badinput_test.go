package e2e

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestBodiesThatAreNoJSONObject(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000)
	for name, test := range map[string]struct{ body, code string }{
		"empty":              {"", "body_required"},
		"not JSON":           {"firstName=Ana", "malformed_json"},
		"cut off":            {`{"firstName":"Ana"`, "malformed_json"},
		"a list":             {`[]`, "not_an_object"},
		"a string":           {`"Ana"`, "not_an_object"},
		"null":               {`null`, "not_an_object"},
		"two values":         {`{} {}`, "malformed_json"},
		"a comment":          {`{} // `, "malformed_json"},
		"duplicate members":  {`{"firstName":"Ana","lastName":"Lima","dob":"1980-02-29","firstName":"Eva"}`, "invalid_request"},
		"escaped duplicates": {`{"firstName":"Ana","lastName":"Lima","dob":"1980-02-29","first\u004eame":"Eva"}`, "invalid_request"},
		"invalid UTF-8":      {"{\"firstName\":\"A\xffna\",\"lastName\":\"Lima\",\"dob\":\"1980-02-29\"}", "malformed_json"},
		"a lone surrogate":   {`{"firstName":"A\ud800na","lastName":"Lima","dob":"1980-02-29"}`, "malformed_json"},
		"a raw NUL":          {"{\"firstName\":\"A\x00na\",\"lastName\":\"Lima\",\"dob\":\"1980-02-29\"}", "malformed_json"},
		"UTF-16":             {"\xff\xfe{\x00}\x00", "malformed_json"},
		"very deep":          {deep, "malformed_json"},
		"NaN":                {`{"firstName":NaN}`, "malformed_json"},
	} {
		t.Run(name, func(t *testing.T) {
			c := owner(t)
			path, _ := stored(c, ana())
			for _, a := range []answer{c.post(patients, test.body), c.patch(path, test.body)} {
				a.is(bad)
				if code := a.problem().Code; code != test.code {
					t.Errorf("code %q, want %q", code, test.code)
				}
				if strings.Contains(string(a.raw), "Ana") {
					t.Errorf("the answer repeats what was sent: %s", a.raw)
				}
			}
		})
	}
}

func TestBodyTypes(t *testing.T) {
	c := owner(t)
	for _, contentType := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", "application/jsonp", "image/png", "application/vnd.api+json", "application/json; charset=utf-16"} {
		c.with("Content-Type", contentType).post(patients, `{"firstName":"Ana","lastName":"Lima","dob":"1980-02-29"}`).refused(http.StatusUnsupportedMediaType, "unsupported_media_type")
	}
	for _, contentType := range []string{"application/json; charset=utf-8", "APPLICATION/JSON"} {
		c.with("Content-Type", contentType).post(patients, ana()).is(ok)
	}
	at, _ := stored(c, ana())
	c.with("Content-Type", "application/merge-patch+json").patch(at, map[string]any{"middleName": "M"}).is(ok)
	c.with("Content-Type", "application/json-patch+json").patch(at, map[string]any{}).is(http.StatusUnsupportedMediaType)
	c.with("Content-Encoding", "gzip").post(patients, ana()).is(http.StatusUnsupportedMediaType)
}

func TestBodiesOverTheLimit(t *testing.T) {
	huge := append([]byte(`{"firstName":"`), bytes.Repeat([]byte("x"), 10<<20)...)
	for range 20 {
		owner(t).post(patients, huge).refused(http.StatusRequestEntityTooLarge, "body_too_large")
	}
	// The same without a length: only counting finds out. And from a client that wants to close afterwards.
	for _, closes := range []bool{false, true} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, world.URL()+patients, struct{ io.Reader }{bytes.NewReader(huge)})
		if err != nil {
			t.Fatal(err)
		}
		req.Header = owner(t).header.Clone()
		req.Header.Set("Content-Type", "application/json")
		req.Close = closes
		a, err := owner(t).send(req)
		if err != nil {
			t.Fatalf("the answer was lost: %v", err)
		}
		a.refused(http.StatusRequestEntityTooLarge, "body_too_large")
	}
	just := but(map[string]any{"note": strings.Repeat("x", 900<<10)})
	owner(t).post(patients, just).is(ok)
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	c := owner(t)
	for _, path := range []string{"/v3", "/v3/", "/v3/patients", "/v1/patient", "/v3/patient/", "/V3/patient", "/internal/credential", "/metrics", "/v3/patient/1/2/3/4"} {
		c.get(path).refused(missing, "not_found")
		anyone(t).get(path).is(http.StatusUnauthorized)
	}
	c.get("/v3/patient/%00").refused(bad, "malformed_path")
	for path, allow := range map[string][]string{
		patients: {"GET", "POST"}, patients + "/1": {"DELETE", "GET", "PATCH"}, patients + "/1/deceased": {"DELETE", "GET", "PUT"},
		patients + "/value-sets": {"GET"}, patients + "/1/restore": {"POST"}, patients + "/1/history": {"GET"},
	} {
		a := c.do("PROPFIND", path, nil)
		a.refused(http.StatusMethodNotAllowed, "method_not_allowed")
		got := strings.Split(a.header.Get("Allow"), ", ")
		got = slices.DeleteFunc(got, func(m string) bool { return m == "HEAD" || m == "OPTIONS" })
		slices.Sort(got)
		if !slices.Equal(got, allow) {
			t.Errorf("%s allows %v, want %v", path, got, allow)
		}
		anyone(t).do("PROPFIND", path, nil).is(http.StatusUnauthorized)
	}
}

func TestOpenPathsAskForNoCredential(t *testing.T) {
	for _, path := range []string{"/livez", "/readyz", "/startedz", "/openapi.json", "/docs", "/.well-known/oauth-authorization-server", "/oauth2/jwks"} {
		anyone(t).get(path).is(ok)
		a := anyone(t).do(http.MethodDelete, path, nil)
		a.refused(http.StatusMethodNotAllowed, "method_not_allowed")
		if !strings.Contains(a.header.Get("Allow"), "GET") {
			t.Errorf("%s allows %q", path, a.header.Get("Allow"))
		}
	}
	anyone(t).do(http.MethodDelete, "/oauth2/token", nil).is(http.StatusMethodNotAllowed)
	anyone(t).get("/.well-known/nothing").is(missing)
}

func TestPathsAreNormalisedBeforeTheyAreRouted(t *testing.T) {
	for _, path := range []string{"/v3/patient/../../internal/credential", "/v3/%2e%2e/internal/credential", "/docs/..%2finternal/credential", "//internal/credential", "/v3\\..\\internal\\credential"} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, world.Demo().Gateway, strings.NewReader(`{"token":"x"}`))
		if err != nil {
			t.Fatal(err)
		}
		req.URL.Opaque = strings.TrimPrefix(world.Demo().Gateway, "http:") + path
		req.Header = owner(t).header
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != missing && resp.StatusCode != http.StatusMethodNotAllowed && resp.StatusCode != bad {
			t.Errorf("%s answered %d", path, resp.StatusCode)
		}
	}
}
