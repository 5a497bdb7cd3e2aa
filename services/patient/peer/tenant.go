// Package peer asks the neighbours of patient. It knows what to ask them and no rule of a patient.
package peer

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/golang-lru/v2/expirable"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
)

const (
	nameFresh = time.Minute // a tenant that is renamed lives with the old name for so long
	mostNames = 10_000
)

// Tenants asks the tenant service. It is safe for concurrent use.
type Tenants struct {
	caller *mesh.Caller
	names  *expirable.LRU[string, string]
}

// NewTenants makes a Tenants that asks through the caller.
func NewTenants(caller *mesh.Caller) *Tenants {
	return &Tenants{caller: caller, names: expirable.NewLRU[string, string](mostNames, nil, nameFresh)}
}

type tenant struct {
	Name string `json:"name"`
}

// Name is what the tenant of the context's principal, whose id is given, is called. It asks as that principal.
func (t *Tenants) Name(ctx context.Context, id string) (string, error) {
	if name, ok := t.names.Get(id); ok {
		return name, nil
	}
	found, err := mesh.Ask[tenant](ctx, t.caller, mesh.Question{Method: http.MethodGet, Target: "/v2/tenant"})
	if err != nil {
		return "", err
	}
	t.names.Add(id, found.Name)
	return found.Name, nil
}
