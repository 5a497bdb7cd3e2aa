package store

import "github.com/patient-mesh/patient-mesh/libs/pg"

// Distribution is how the tables lie on an engine of many nodes: a tenant's documents on one.
func Distribution() pg.Distribution {
	return pg.Distribution{
		Tables: []pg.Table{
			{Name: "document", Tenant: "tenant_id", Spread: true},
			{Name: "idempotency_key", Tenant: "tenant_id", Spread: true},
			{Name: "blob_upload", Why: "uploads under way of all tenants, which are collected together"},
			{Name: "audit_entry", Why: "one queue in one order, of all tenants; a row may be of several"},
			{Name: "audit_lease", Why: "who carries the queue: one row"},
		},
		After: sweepNodes,
	}
}

// sweepNodes sweeps as the migrations' function does, but for the bound: rows of several nodes can neither be picked by
// ctid nor be locked to be skipped (FOR UPDATE is for one shard).
const sweepNodes = `
	CREATE OR REPLACE FUNCTION sweep_idempotency_keys(at_most integer) RETURNS bigint
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
	DECLARE
		gone bigint;
	BEGIN
		DELETE FROM idempotency_key WHERE created_at < now() - interval '24 hours';
		GET DIAGNOSTICS gone = ROW_COUNT;
		RETURN gone;
	END $$`
