// Package rest turns what is on the wire into patients and back. It knows no SQL and no Fiber.
package rest

import (
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// Server answers the operations of openapi.yaml.
type Server struct {
	Patients    *patient.Service
	Addresses   *patient.Addresses
	Contacts    *patient.Contacts
	Aliases     *patient.Aliases
	Identifiers *patient.Identifiers
	Records     *patient.Records
	Feed        *patient.Feed
}

var _ api.StrictServerInterface = (*Server)(nil)

// maxID is the largest integer that a JavaScript client reads exactly.
const maxID = 1<<53 - 1

// parseID reads a patient id as it is written, without sign or leading zeros. What is no id is 0, which no patient
// has: it is not found like any other id that is not there.
func parseID(text string) int64 {
	id, err := strconv.ParseInt(text, 10, 64)
	if err != nil || id < 1 || id > maxID || strconv.FormatInt(id, 10) != text {
		return 0
	}
	return id
}

func parsePage(number, size, after *string) (page.Request, error) {
	part, faults := page.Parse(number, size, after)
	if len(faults) > 0 {
		return part, fault.InvalidFields(faults)
	}
	return part, nil
}

func precondition(ifMatch *string) patient.Precondition {
	return func(version int64) error { return web.IfMatch(ifMatch, version) }
}

// instant writes RFC 3339 in UTC with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
