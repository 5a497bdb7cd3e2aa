package store

import "github.com/patient-mesh/patient-mesh/libs/pg"

// Distribution is how the tables lie on an engine of many nodes: all on one. A credential is looked up before anybody
// knows its tenant, and a user stands in several.
func Distribution() pg.Distribution {
	const (
		credential = "looked up by the credential before its tenant is known"
		user       = "a user's, who may stand in several tenants"
		few        = "a row or a few for each tenant"
	)
	return pg.Distribution{Tables: []pg.Table{
		{Name: "idempotency_key", Tenant: "tenant_id", Why: few},
		{Name: "identity_provider", Tenant: "tenant_id", Why: few},
		{Name: "invitation", Why: "found by the hash of its link before its tenant is known"},
		{Name: "external_application", Why: "a tenant's or everybody's, found by its id"},
		{Name: "api_key", Why: credential},
		{Name: "oauth_client", Why: credential},
		{Name: "access_token", Why: credential},
		{Name: "authorization_code", Why: credential},
		{Name: "refresh_token", Why: credential},
		{Name: "launch_code", Why: credential},
		{Name: "pushed_request", Why: credential},
		{Name: "federation_state", Why: credential},
		{Name: "federation_link", Why: credential},
		{Name: "token_family", Why: user},
		{Name: "user_account", Why: user},
		{Name: "consent", Why: user},
		{Name: "mailed_link", Why: user},
		{Name: "sign_in", Why: user},
		{Name: "totp", Why: user},
		{Name: "recovery_code", Why: user},
		{Name: "passkey", Why: user},
		{Name: "passkey_ceremony", Why: user},
		{Name: "challenge", Why: user},
		{Name: "factor_limit", Why: user},
		{Name: "federated_identity", Why: user},
		{Name: "signing_key", Why: "the mesh's own keys"},
		{Name: "outbox", Why: "one queue of all tenants"},
		{Name: "audit_entry", Why: "one queue in one order, of all tenants; a row may be of several"},
		{Name: "audit_lease", Why: "who carries the queue: one row"},
	}}
}
