// Package rest turns what is on the wire into documents and back. It knows no SQL and no Fiber.
package rest

import (
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

// Server answers the operations of openapi.yaml.
type Server struct {
	Documents *attachment.Service
}
