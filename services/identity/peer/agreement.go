package peer

import (
	"context"
	"net/http"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// Agreements asks the tenant service about the agreement, in the name of whoever stands in the context.
type Agreements struct{ caller *mesh.Caller }

// NewAgreements makes an Agreements that asks through the caller.
func NewAgreements(caller *mesh.Caller) *Agreements { return &Agreements{caller: caller} }

type agreement struct {
	ID      string `json:"id"`
	Version int    `json:"version"`
	Title   string `json:"title"`
	Text    string `json:"text"`
}

// Current is what the pages need.
func (a *Agreements) Current(ctx context.Context) (identity.Agreement, error) {
	found, err := mesh.Ask[agreement](ctx, a.caller, mesh.Question{Method: http.MethodGet, Target: "/v2/agreement/current"})
	return identity.Agreement(found), err
}

type agreementStatus struct {
	Accepted   bool       `json:"accepted"`
	AcceptedAt *time.Time `json:"acceptedAt"`
}

// Status is what the pages need.
func (a *Agreements) Status(ctx context.Context) (identity.AgreementStatus, error) {
	found, err := mesh.Ask[agreementStatus](ctx, a.caller, mesh.Question{Method: http.MethodGet, Target: "/v2/agreement/status"})
	return identity.AgreementStatus(found), err
}

// Accept is what the pages need.
func (a *Agreements) Accept(ctx context.Context, id string) error {
	_, err := mesh.Ask[struct{}](ctx, a.caller, mesh.Question{
		Method: http.MethodPost, Target: "/v2/agreement/accept", Body: map[string]string{"agreementId": id},
	})
	return err
}
