package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/getkin/kin-openapi/openapi3"
	"gopkg.in/yaml.v3"
)

// object is a JSON object of a document.
type object = map[string]any

var (
	errTwice  = errors.New("described twice")
	errMarked = errors.New("needs x-permission, x-public: true or x-internal: true")
)

// merge reads all documents into one.
func merge(base, services string) (object, error) {
	document, err := read(base)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(services, "*", "api", "openapi.yaml"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for _, file := range files {
		service, err := read(file)
		if err != nil {
			return nil, err
		}
		if err := add(document, service); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	if err := complete(document); err != nil {
		return nil, err
	}
	prune(document)
	delete(document, "x-errors")
	return document, nil
}

func read(file string) (object, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var document object
	if err := yaml.Unmarshal(raw, &document); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	// Through JSON and back, so that numbers and keys are of one type each, whatever YAML made of them.
	raw, err = json.Marshal(document)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var plain object
	if err := decoder.Decode(&plain); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	stripGo(plain)
	return plain, nil
}

// stripGo takes out what only the generator of our own code reads.
func stripGo(v any) {
	switch v := v.(type) {
	case object:
		for key := range v {
			if key == "x-order" || (len(key) > 4 && key[:5] == "x-go-") {
				delete(v, key)
				continue
			}
			stripGo(v[key])
		}
	case []any:
		for _, item := range v {
			stripGo(item)
		}
	}
}

// add puts a service's public operations and its components into the document.
func add(document, service object) error {
	for _, path := range sorted(member(service, "paths")) {
		item, ok := member(service, "paths")[path].(object)
		if !ok {
			return fmt.Errorf("%s: no object", path) //nolint:err113 // for whoever runs this
		}
		public := 0
		for _, method := range methods() {
			if operation, ok := item[method].(object); ok {
				if operation["x-internal"] == true {
					delete(item, method)
				} else {
					public++
				}
			}
		}
		if public == 0 {
			continue
		}
		if _, taken := member(document, "paths")[path]; taken {
			return fmt.Errorf("%s: %w", path, errTwice)
		}
		member(document, "paths")[path] = item
	}
	for _, kind := range sorted(member(service, "components")) {
		into := member(member(document, "components"), kind)
		for name, content := range member(member(service, "components"), kind) {
			if other, taken := into[name]; taken && !reflect.DeepEqual(other, content) {
				return fmt.Errorf("components/%s/%s: %w, differently", kind, name, errTwice)
			}
			into[name] = content
		}
	}
	tags, _ := document["tags"].([]any)
	more, _ := service["tags"].([]any)
	if tags = append(tags, more...); len(tags) > 0 {
		document["tags"] = tags
	}
	return nil
}

// member gives an object's member that is an object, and makes it when it is not there.
func member(o object, name string) object {
	m, ok := o[name].(object)
	if !ok {
		m = object{}
		o[name] = m
	}
	return m
}

func sorted(o object) []string { return slices.Sorted(maps.Keys(o)) }

func methods() []string { return []string{"get", "put", "post", "delete", "patch", "head", "options"} }

// render writes members in the order of their names, so that the same document is always the same bytes.
func render(document object) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	err := encoder.Encode(document)
	return out.Bytes(), err
}

// check reads the document as everybody else will.
func check(raw []byte) error {
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(raw)
	if err != nil {
		return err
	}
	return document.Validate(context.Background(), openapi3.DisableExamplesValidation())
}
