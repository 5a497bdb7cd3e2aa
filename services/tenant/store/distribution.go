package store

import "github.com/patient-mesh/patient-mesh/libs/pg"

// Distribution is how the tables lie on an engine of many nodes: the trail of a tenant on one. The trail is what grows; all
// else comes to a row for each tenant and member, and is written together with queues that stay.
func Distribution() pg.Distribution {
	const small = "small, and written in one statement with the queue of audit entries"
	return pg.Distribution{
		Tables: []pg.Table{
			{Name: "audit_record", Tenant: "tenant_id", Spread: true},
			{Name: "audit_head", Tenant: "tenant_id", Spread: true},
			{Name: "tenant", Tenant: "id", Why: small + "; its policy asks membership, which Citus refuses of a table that is spread"},
			{Name: "membership", Tenant: "tenant_id", Why: small + "; asked for by user, too"},
			{Name: "agreement_acceptance", Tenant: "tenant_id", Why: small + "; its policy asks membership"},
			{Name: "idempotency_key", Tenant: "tenant_id", Why: small},
			{Name: "role", Why: "seven rows, the same for all tenants"},
			{Name: "agreement", Why: "a row for each version of the text"},
			{Name: "outbox", Why: "one queue of all tenants"},
			{Name: "audit_entry", Why: "one queue in one order, of all tenants; a row may be of several"},
			{Name: "audit_lease", Why: "who carries the queue: one row"},
		},
		After: appendOnNodes,
	}
}

// appendOnNodes has append_audit tell the nodes for whom it acts. It is the function of the newest migration but for that.
const appendOnNodes = `
	DO $do$ DECLARE
		function text := pg_get_functiondef('append_audit'::regproc);
		here     text := $$PERFORM set_config('app.tenant_id', given.tenant_id::text, true)$$;
	BEGIN
		IF strpos(function, here) > 0 THEN
			EXECUTE replace(function, here, 'PERFORM hold_tenant(given.tenant_id::text)');
		ELSIF strpos(function, 'hold_tenant') = 0 THEN
			RAISE EXCEPTION 'append_audit does not say for whom it acts';
		END IF;
	END $do$`
