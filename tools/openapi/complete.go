package main

import (
	"fmt"
	"slices"
	"strings"
)

// complete adds to each operation what the mesh does around it.
func complete(document object) error {
	names := member(document, "x-errors")
	for _, path := range sorted(member(document, "paths")) {
		item := member(member(document, "paths"), path)
		for _, method := range methods() {
			operation, ok := item[method].(object)
			if !ok {
				continue
			}
			if err := secure(operation, path); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			responses := member(operation, "responses")
			for _, status := range errorsOf(document, path, item, operation) {
				name, known := names[status].(string)
				if !known {
					return fmt.Errorf("%s %s: no response for %s: %w", method, path, status, errMarked)
				}
				if _, own := responses[status]; !own {
					responses[status] = object{"$ref": "#/components/responses/" + name}
				}
			}
			delete(operation, "x-errors")
			for _, status := range sorted(responses) {
				traced(responses[status])
			}
		}
	}
	for _, name := range sorted(member(member(document, "components"), "responses")) {
		traced(member(member(document, "components"), "responses")[name])
	}
	return nil
}

// secure says which credentials an operation takes.
func secure(operation object, path string) error {
	permission, marked := operation["x-permission"].(string)
	switch {
	case operation["x-public"] == true && !marked:
		operation["security"] = []any{}
		return nil
	case !marked || permission == "" || operation["x-public"] == true:
		return errMarked
	}
	either := []any{object{"bearerAuth": []any{}}}
	if strings.HasPrefix(path, "/v3/") {
		either = append(either, object{"apiKeyAuth": []any{}})
	}
	operation["security"] = either
	return nil
}

// errorsOf lists the statuses that fit an operation: what it takes tells what can be wrong with it. An operation names
// further ones in x-errors.
func errorsOf(document object, path string, item, operation object) []string {
	statuses := []string{"400", "429", "503"}
	if operation["x-public"] != true {
		statuses = append(statuses, "401", "403")
	}
	if strings.Contains(path, "{") {
		statuses = append(statuses, "404")
	}
	if _, body := operation["requestBody"]; body {
		statuses = append(statuses, "413", "415")
	}
	for _, name := range parameters(document, item, operation) {
		switch name {
		case "Idempotency-Key":
			statuses = append(statuses, "409", "422")
		case "If-Match":
			statuses = append(statuses, "412")
		}
	}
	further, _ := operation["x-errors"].([]any)
	for _, status := range further {
		statuses = append(statuses, fmt.Sprint(status))
	}
	slices.Sort(statuses)
	return slices.Compact(statuses)
}

// parameters lists the names of an operation's parameters, with those of its path.
func parameters(document, item, operation object) []string {
	var names []string
	for _, from := range []object{item, operation} {
		list, _ := from["parameters"].([]any)
		for _, entry := range list {
			p, _ := entry.(object)
			if ref, ok := p["$ref"].(string); ok {
				p = member(member(member(document, "components"), "parameters"), ref[strings.LastIndexByte(ref, '/')+1:])
			}
			name, _ := p["name"].(string)
			names = append(names, name)
		}
	}
	return names
}

// traced gives a response the header that all of them have.
func traced(v any) {
	response, ok := v.(object)
	if _, ref := response["$ref"]; !ok || ref {
		return
	}
	member(response, "headers")["Trace-Id"] = object{"$ref": "#/components/headers/TraceId"}
}

// prune takes out the components that no operation leads to: those of internal ones.
func prune(document object) {
	used := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if ref, ok := v["$ref"].(string); ok && !used[ref] {
				used[ref] = true
				parts := strings.Split(strings.TrimPrefix(ref, "#/components/"), "/")
				if len(parts) == 2 {
					walk(member(member(document, "components"), parts[0])[parts[1]])
				}
			}
			for _, value := range v {
				walk(value)
			}
		case []any:
			for _, value := range v {
				walk(value)
			}
		}
	}
	walk(document["paths"])
	components := member(document, "components")
	for _, kind := range sorted(components) {
		if kind == "securitySchemes" {
			continue
		}
		all := member(components, kind)
		for _, name := range sorted(all) {
			if !used["#/components/"+kind+"/"+name] {
				delete(all, name)
			}
		}
		if len(all) == 0 {
			delete(components, kind)
		}
	}
}
