// Package rest turns what is on the wire into credentials and back. It knows no SQL and no Fiber.
package rest

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
	"github.com/patient-mesh/patient-mesh/services/identity/federation"
)

// Server answers the generated operations of openapi.yaml.
type Server struct {
	Identity   *identity.Service
	People     *identity.People
	Launcher   *identity.Launcher
	Federation *federation.Service
}

var _ api.StrictServerInterface = (*Server)(nil)

// Bounds of what a request may list, and of a secret text in bytes.
const (
	mostEntries   = 50
	longestSecret = 4096
)

const noStore = "no-store"

// instant writes RFC 3339 in UTC with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func maybeInstant(t *time.Time) *string {
	if t == nil {
		return nil
	}
	text := instant(*t)
	return &text
}

func parsePage(number, size, after *string) (page.Request, error) {
	part, faults := page.Parse(number, size, after)
	if len(faults) == 0 && part.After != "" && !identity.ValidID(part.After) {
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"})
	}
	if len(faults) > 0 {
		return part, fault.InvalidFields(faults)
	}
	return part, nil
}

// shownRoles names roles by their ids, in the order of the roles.
func shownRoles(roles []identity.Role, ids []string) []api.KeyRole {
	list := make([]api.KeyRole, 0, len(ids))
	for _, r := range roles {
		for _, id := range ids {
			if r.ID == id {
				list = append(list, api.KeyRole{Id: r.ID, Name: r.Name})
			}
		}
	}
	return list
}
