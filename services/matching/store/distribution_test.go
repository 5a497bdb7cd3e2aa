package store_test

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
	"github.com/patient-mesh/patient-mesh/services/matching/store"
)

func TestEveryStatementCarriesItsTenant(t *testing.T) {
	carried.Check(t, carried.Service{
		Migrations: store.Migrations(), Distribution: store.Distribution(),
		Functions: map[string]string{
			"sweep_idempotency_keys": "what has expired, of all tenants, node by node",
			"model_choices":          "asks for each of a list of tenants by itself",
		},
	})
}
