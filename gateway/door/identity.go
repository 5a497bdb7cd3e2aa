package door

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Remote asks the identity service.
type Remote struct{ Caller *mesh.Caller }

// Credential asks POST /internal/credential, which changes nothing and may be repeated.
func (r Remote) Credential(ctx context.Context, token string) (principal.Principal, error) {
	return mesh.Ask[principal.Principal](ctx, r.Caller, mesh.Question{
		Method: "POST", Target: "/internal/credential", Self: true, Repeat: mesh.RepeatAlways,
		Body: struct {
			Token string `json:"token"`
		}{token},
	})
}
