package store

import "github.com/patient-mesh/patient-mesh/libs/pg"

// Distribution is how the tables lie on an engine of many nodes: a tenant's patients with all that hangs on them on one.
func Distribution() pg.Distribution {
	return pg.Distribution{
		Tables: []pg.Table{
			{Name: "patient", Tenant: "tenant_id", Spread: true},
			{Name: "patient_history", Tenant: "tenant_id", Spread: true},
			{Name: "patient_count", Tenant: "tenant_id", Spread: true},
			{Name: "patient_address", Tenant: "tenant_id", Spread: true},
			{Name: "patient_contact", Tenant: "tenant_id", Spread: true},
			{Name: "patient_alias", Tenant: "tenant_id", Spread: true},
			{Name: "patient_identifier", Tenant: "tenant_id", Spread: true},
			{Name: "patient_import", Tenant: "tenant_id", Spread: true},
			{Name: "patient_import_run", Tenant: "tenant_id", Spread: true},
			{Name: "idempotency_key", Tenant: "tenant_id", Spread: true},
			{Name: "audit_entry", Why: "one queue in one order, of all tenants; a row may be of several"},
			{Name: "audit_lease", Why: "who carries the queue: one row"},
			{Name: "feed_epoch", Why: "where positions of the feed hold: one row"},
		},
		Before: noPositions,
		After:  sweepNodes,
	}
}

// noPositions takes away what numbers transactions: each node has its own numbers, and Citus refuses tables that have
// triggers. Without them there is no feed (see People).
const noPositions = `
	DROP TRIGGER IF EXISTS moved ON patient;
	DROP TRIGGER IF EXISTS moved ON patient_address;
	DROP TRIGGER IF EXISTS moved ON patient_contact;
	DROP TRIGGER IF EXISTS moved ON patient_alias;
	DROP TRIGGER IF EXISTS moved ON patient_identifier;
	ALTER TABLE patient ALTER COLUMN moved DROP DEFAULT;
	ALTER TABLE patient_address ALTER COLUMN moved DROP DEFAULT;
	ALTER TABLE patient_contact ALTER COLUMN moved DROP DEFAULT;
	ALTER TABLE patient_alias ALTER COLUMN moved DROP DEFAULT;
	ALTER TABLE patient_identifier ALTER COLUMN moved DROP DEFAULT;`

// sweepNodes sweeps as the migrations' function does, but for the bound: rows of several nodes can neither be picked by
// ctid nor be locked to be skipped (FOR UPDATE is for one shard).
const sweepNodes = `
	CREATE OR REPLACE FUNCTION sweep_idempotency_keys(at_most integer) RETURNS bigint
	LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
	DECLARE
		gone  bigint := 0;
		swept bigint;
	BEGIN
		DELETE FROM patient_import AS line WHERE created_at < now() - interval '24 hours' AND NOT EXISTS (
			SELECT FROM patient_import_run AS run
			WHERE run.tenant_id = line.tenant_id AND run.credential_id = line.credential_id AND run.key = line.key AND run.until > now());
		GET DIAGNOSTICS swept = ROW_COUNT;
		gone := gone + swept;
		DELETE FROM patient_import_run WHERE until < now() - interval '24 hours';
		GET DIAGNOSTICS swept = ROW_COUNT;
		gone := gone + swept;
		DELETE FROM idempotency_key WHERE created_at < now() - interval '24 hours';
		GET DIAGNOSTICS swept = ROW_COUNT;
		RETURN gone + swept;
	END $$`
