package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const base = `
openapi: 3.0.3
info: {title: T, version: "1"}
paths: {}
x-errors: {"400": Bad, "401": Bad, "403": Bad, "404": Bad, "402": Bad, "409": Bad, "412": Bad, "413": Bad, "415": Bad, "422": Bad, "429": Bad, "503": Bad}
components:
  securitySchemes: {bearerAuth: {type: http, scheme: bearer}, apiKeyAuth: {type: apiKey, in: header, name: X-API-Key}}
  headers: {TraceId: {schema: {type: string}}}
  responses: {Bad: {description: bad}}
`

const first = `
openapi: 3.0.3
info: {title: A, version: "1"}
paths:
  /v3/a/{id}:
    parameters: [{name: id, in: path, required: true, schema: {type: string, x-go-type: string}}]
    post:
      operationId: a
      x-permission: patient:write
      x-errors: [402]
      parameters: [{$ref: "#/components/parameters/Key"}, {name: If-Match, in: header, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {$ref: "#/components/schemas/Shared"}}}}
      responses: {"200": {description: fine}, "404": {description: its own}}
    get: {operationId: hidden, x-internal: true, responses: {"200": {description: fine}}}
  /internal/b:
    get: {operationId: b, x-internal: true, responses: {"200": {description: fine, content: {application/json: {schema: {$ref: "#/components/schemas/Hidden"}}}}}}
components:
  parameters: {Key: {name: Idempotency-Key, in: header, schema: {type: string}}}
  schemas: {Shared: {type: object, x-go-type: body.Object}, Hidden: {type: object}}
`

const second = `
openapi: 3.0.3
info: {title: B, version: "1"}
paths:
  /open: {get: {operationId: open, x-public: true, responses: {"200": {description: fine, content: {application/json: {schema: {$ref: "#/components/schemas/Shared"}}}}}}}
components:
  schemas: {Shared: {type: object}}
`

func write(t *testing.T, documents map[string]string) (baseFile, services string) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	put("base.yaml", base)
	for name, text := range documents {
		put(filepath.Join("services", name, "api", "openapi.yaml"), text)
	}
	return filepath.Join(dir, "base.yaml"), filepath.Join(dir, "services")
}

func TestMerge(t *testing.T) {
	baseFile, services := write(t, map[string]string{"a": first, "b": second})
	outputs := [2]string{}
	for i := range outputs {
		out := filepath.Join(t.TempDir(), "out.json")
		if err := run(baseFile, services, out); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		outputs[i] = string(raw)
	}
	if outputs[0] != outputs[1] {
		t.Error("two runs, two results")
	}
	for _, gone := range []string{"hidden", "Hidden", "internal", "x-go", "x-errors"} {
		if strings.Contains(outputs[0], gone) {
			t.Errorf("%s is in the public document", gone)
		}
	}
	var document struct {
		Paths map[string]map[string]struct {
			Security  []map[string]any
			Responses map[string]struct {
				Ref         string `json:"$ref"`
				Description string
				Headers     map[string]any
			}
		}
	}
	// the path's own parameters are a list, no operation
	var loose object
	_ = json.Unmarshal([]byte(outputs[0]), &loose)
	for _, item := range member(loose, "paths") {
		delete(item.(object), "parameters") //nolint:forcetypeassert // a failure here fails the test
	}
	raw, _ := json.Marshal(loose)
	if err := json.Unmarshal(raw, &document); err != nil {
		t.Fatal(err)
	}
	post := document.Paths["/v3/a/{id}"]["post"]
	for _, status := range []string{"200", "400", "401", "402", "403", "404", "409", "412", "413", "415", "422", "429", "503"} {
		if _, ok := post.Responses[status]; !ok {
			t.Errorf("no %s", status)
		}
	}
	if len(post.Responses) != 13 || post.Responses["404"].Description != "its own" || post.Responses["200"].Headers["Trace-Id"] == nil || len(post.Security) != 2 {
		t.Errorf("%+v", post)
	}
	open := document.Paths["/open"]["get"]
	if open.Security == nil || len(open.Security) != 0 || len(open.Responses) != 4 {
		t.Errorf("%+v", open)
	}
}

func TestMergeRefuses(t *testing.T) {
	tests := map[string]map[string]string{
		"one name, two schemas":  {"a": first, "b": strings.Replace(second, "Shared: {type: object}", "Shared: {type: string}", 1)},
		"one path twice":         {"a": second, "b": second},
		"no permission":          {"a": strings.Replace(second, "x-public: true, ", "", 1)},
		"public and permission":  {"a": strings.Replace(second, "x-public: true", "x-public: true, x-permission: any", 1)},
		"a reference to nowhere": {"a": strings.Replace(second, "schemas/Shared\"", "schemas/Nowhere\"", 1)},
		"an error of no shape":   {"a": strings.Replace(first, "x-errors: [402]", "x-errors: [418]", 1)},
	}
	for name, documents := range tests {
		baseFile, services := write(t, documents)
		if err := run(baseFile, services, filepath.Join(t.TempDir(), "out.json")); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}
