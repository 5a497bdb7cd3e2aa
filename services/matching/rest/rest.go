// Package rest turns what is on the wire into questions, and answers back. It knows no index and no Fiber.
package rest

import (
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
)

// Server answers the operations of openapi.yaml.
type Server struct {
	Finds    *matching.Service
	Versions *matching.Versions
	Sealer   Sealer
}

// Sealer hides texts that go out in a URL and come back (principal.Keyring).
type Sealer interface {
	Seal(text string, bound ...string) string
	Open(sealed string, bound ...string) (text string, ok bool)
}

var _ api.StrictServerInterface = (*Server)(nil)
