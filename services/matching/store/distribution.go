package store

import "github.com/patient-mesh/patient-mesh/libs/pg"

// Distribution is how the tables lie on an engine of many nodes: all on one, since there are a few rows for each tenant.
func Distribution() pg.Distribution {
	const few = "a few rows for each tenant"
	return pg.Distribution{Tables: []pg.Table{
		{Name: "model", Tenant: "tenant_id", Why: few},
		{Name: "model_activation", Tenant: "tenant_id", Why: few},
		{Name: "idempotency_key", Tenant: "tenant_id", Why: few},
		{Name: "index_use", Why: "read for all tenants at once"},
		{Name: "audit_entry", Why: "one queue in one order, of all tenants; a row may be of several"},
		{Name: "audit_lease", Why: "who carries the queue: one row"},
	}}
}
