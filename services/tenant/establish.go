package tenant

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Establish makes a tenant for a multi-tenant administrator: where people cannot register themselves it is the only way
// to one. Its first Owner is invited, which is identity's matter. Further are faults of the request that were found
// before; answer is what the key, if there is one, is to answer again.
func (s *Service) Establish(
	ctx context.Context, d Draft, key idempotency.Key, further func(...fault.Field) error, answer func(Tenant) ([]byte, error),
) (Tenant, *idempotency.Record, error) {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return Tenant{}, nil, err
	}
	id, err := s.NewID()
	if err != nil {
		return Tenant{}, nil, err
	}
	d.ID = nil
	t, faults := New(d, id.String(), s.Environment, s.now())
	if err := further(faults...); err != nil {
		return Tenant{}, nil, err
	}
	record, err := answer(t)
	if err != nil {
		return Tenant{}, nil, err
	}
	repeat, err := s.Store.CreateOnce(ctx, t, key, record, s.entry(ctx, t.ID, TenantCreate))
	return t, repeat, err
}
