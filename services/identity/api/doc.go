// Package api is the service's contract, openapi.yaml, and the server code that is generated from it. The OAuth
// operations, whose bodies are forms and whose errors are RFC 6749's, are written by hand in oauth and not generated.
package api

//go:generate ../../../.bin/oapi-codegen -config oapi-codegen.yaml openapi.yaml
