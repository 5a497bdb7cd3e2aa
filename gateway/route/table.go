package route

import "github.com/patient-mesh/patient-mesh/libs/principal"

// Table is every operation that can be reached from outside. /internal is never among them.
func Table() []Route {
	const (
		identity = "identity"
		tenant   = "tenant"
		patient  = "patient"
		anyone   = principal.Permission(0) // any valid credential
	)
	data, open := Traits{Patient: true}, Traits{Public: true}
	return []Route{
		{"GET", "/v3/patient", patient, principal.PatientRead, data},
		{"POST", "/v3/patient", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/value-sets", patient, principal.PatientRead, data},
		{"GET", "/v3/patient/{patientId}", patient, principal.PatientRead, data},
		{"PATCH", "/v3/patient/{patientId}", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}", patient, principal.PatientDelete, data},
		{"POST", "/v3/patient/{patientId}/restore", patient, principal.PatientRestore, data},
		{"GET", "/v3/patient/{patientId}/deceased", patient, principal.PatientRead, data},
		{"PUT", "/v3/patient/{patientId}/deceased", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}/deceased", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/history", patient, principal.PatientRead, data},

		{"GET", "/v2/tenant", tenant, anyone, Traits{}},
		{"PUT", "/v2/tenant/{tenantId}/plan", tenant, principal.ClientManage, Traits{}},
		{"GET", "/v2/access-control/role/all", tenant, anyone, Traits{}},

		{"POST", "/v2/token", identity, principal.KeyManage, Traits{}},
		{"GET", "/v2/token", identity, principal.KeyManage, Traits{}},
		{"DELETE", "/v2/token/{id}", identity, principal.KeyManage, Traits{}},
		{"POST", "/v2/oauth2/client", identity, principal.ClientManage, Traits{}},
		{"GET", "/v2/oauth2/client", identity, principal.ClientManage, Traits{}},
		{"DELETE", "/v2/oauth2/client/{clientId}", identity, principal.ClientManage, Traits{}},

		{"POST", "/oauth2/token", identity, anyone, open},
		{"POST", "/auth/oauth2/token", identity, anyone, open},
		{"POST", "/oauth2/revoke", identity, anyone, open},
		{"POST", "/oauth2/introspect", identity, anyone, open},
		{"GET", "/oauth2/jwks", identity, anyone, open},
		{"GET", "/.well-known/oauth-authorization-server", identity, anyone, open},
	}
}
