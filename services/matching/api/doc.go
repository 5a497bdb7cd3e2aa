// Package api is the service's contract, openapi.yaml, and the server code that is generated from it.
package api

//go:generate ../../../.bin/oapi-codegen -config oapi-codegen.yaml openapi.yaml
