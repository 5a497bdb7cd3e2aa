package route

import (
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Table is every operation that can be reached from outside. /internal is never among them.
func Table() []Route {
	const (
		identity = "identity"
		tenant   = "tenant"
		patient  = "patient"
		matching = "matching"
		anyone   = principal.Permission(0) // any valid credential
	)
	data, open := Traits{Patient: true}, Traits{Public: true}
	document := Traits{Patient: true, BodyLimit: DocumentLimit}
	content := Traits{Patient: true, Stream: true}
	question := Traits{Patient: true, BodyLimit: QuestionLimit, Repeat: mesh.RepeatAlways}
	return append([]Route{
		{"GET", "/v3/patient", patient, principal.PatientRead, data},
		{"POST", "/v3/patient", patient, principal.PatientWrite, data},
		{"POST", "/v3/patient/import", patient, principal.PatientWrite, Traits{Patient: true, Stream: true, Import: true}},
		{"GET", "/v3/patient/value-sets", patient, principal.PatientRead, data},
		{"GET", "/v3/patient/{patientId}", patient, principal.PatientRead, data},
		{"PATCH", "/v3/patient/{patientId}", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}", patient, principal.PatientDelete, data},
		{"POST", "/v3/patient/{patientId}/restore", patient, principal.PatientRestore, data},
		{"GET", "/v3/patient/{patientId}/deceased", patient, principal.PatientRead, data},
		{"PUT", "/v3/patient/{patientId}/deceased", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}/deceased", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/history", patient, principal.PatientRead, data},
		{"GET", "/v3/patient/{patientId}/address", patient, principal.PatientRead, data},
		{"POST", "/v3/patient/{patientId}/address", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/address/{childId}", patient, principal.PatientRead, data},
		{"PATCH", "/v3/patient/{patientId}/address/{childId}", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}/address/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/contact", patient, principal.PatientRead, data},
		{"POST", "/v3/patient/{patientId}/contact", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/contact/{childId}", patient, principal.PatientRead, data},
		{"PATCH", "/v3/patient/{patientId}/contact/{childId}", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}/contact/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/alias", patient, principal.PatientRead, data},
		{"POST", "/v3/patient/{patientId}/alias", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/alias/{childId}", patient, principal.PatientRead, data},
		{"PATCH", "/v3/patient/{patientId}/alias/{childId}", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}/alias/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/identifier", patient, principal.PatientRead, data},
		{"POST", "/v3/patient/{patientId}/identifier", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/identifier/{childId}", patient, principal.PatientRead, data},
		{"PATCH", "/v3/patient/{patientId}/identifier/{childId}", patient, principal.PatientWrite, data},
		{"DELETE", "/v3/patient/{patientId}/identifier/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v3/patient/{patientId}/attach", patient, principal.DocumentRead, data},
		{"POST", "/v3/patient/{patientId}/attach", patient, principal.DocumentWrite, document},
		{"GET", "/v3/patient/{patientId}/attach/{childId}", patient, principal.DocumentRead, data},
		{"PATCH", "/v3/patient/{patientId}/attach/{childId}", patient, principal.DocumentWrite, document},
		{"DELETE", "/v3/patient/{patientId}/attach/{childId}", patient, principal.DocumentWrite, data},
		{"GET", "/v3/patient/{patientId}/attach/{childId}/content", patient, principal.DocumentRead, content},
		{"PUT", "/v3/patient/{patientId}/attach/{childId}/content", patient, principal.DocumentWrite, content},

		{"POST", "/v2/patient", patient, principal.PatientWrite, data},
		{"GET", "/v2/patient/{id}", patient, principal.PatientRead, data},
		{"GET", "/v2/patient/{id}/address", patient, principal.PatientRead, data},
		{"POST", "/v2/patient/{id}/address", patient, principal.PatientWrite, data},
		{"DELETE", "/v2/patient/{id}/address/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v2/patient/{id}/contact", patient, principal.PatientRead, data},
		{"POST", "/v2/patient/{id}/contact", patient, principal.PatientWrite, data},
		{"DELETE", "/v2/patient/{id}/contact/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v2/patient/{id}/alias", patient, principal.PatientRead, data},
		{"POST", "/v2/patient/{id}/alias", patient, principal.PatientWrite, data},
		{"DELETE", "/v2/patient/{id}/alias/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v2/patient/{id}/identifier", patient, principal.PatientRead, data},
		{"POST", "/v2/patient/{id}/identifier", patient, principal.PatientWrite, data},
		{"DELETE", "/v2/patient/{id}/identifier/{childId}", patient, principal.PatientWrite, data},
		{"GET", "/v2/patient/{id}/document", patient, principal.DocumentRead, data},
		{"POST", "/v2/patient/{id}/document", patient, principal.DocumentWrite, document},
		{"GET", "/v2/patient/{id}/document/{documentId}", patient, principal.DocumentRead, data},
		{"DELETE", "/v2/patient/{id}/document/{documentId}", patient, principal.DocumentWrite, data},
		{"GET", "/v2/patient/{id}/document/{documentId}/content", patient, principal.DocumentRead, content},
		{"PUT", "/v2/patient/{id}/document/{documentId}/content", patient, principal.DocumentWrite, content},

		{"GET", "/v2/patient/find", matching, principal.MatchRead, question},
		{"GET", "/v3/patient/find", matching, principal.MatchRead, question},
		{"POST", "/v3/patient/find", matching, principal.MatchRead, question},
		{"GET", "/v3/matching/models", matching, principal.MatchRead, data},
		{"POST", "/v3/matching/models", matching, principal.TenantAdmin, data},
		{"POST", "/v3/matching/models/rollback", matching, principal.TenantAdmin, data},
		{"GET", "/v3/matching/models/{version}", matching, principal.MatchRead, data},
		{"POST", "/v3/matching/models/{version}/activate", matching, principal.TenantAdmin, data},

		{"GET", "/v3/audit", tenant, principal.AuditRead, Traits{}},
		{"GET", "/v3/audit/verification", tenant, principal.AuditRead, Traits{}},
		{"GET", "/v2/tenant", tenant, anyone, Traits{}},
		{"POST", "/v2/tenant", tenant, principal.ClientManage, Traits{}},
		{"PATCH", "/v2/tenant", tenant, principal.TenantAdmin, Traits{}},
		{"GET", "/v2/agreement/current", tenant, anyone, Traits{}},
		{"GET", "/v2/agreement/status", tenant, anyone, Traits{}},
		{"POST", "/v2/agreement/accept", tenant, principal.TenantAdmin, Traits{Recheck: true}},
		{"GET", "/v2/tenant/member", identity, principal.UserManage, Traits{}},
		{"PUT", "/v2/tenant/member/{userId}", identity, principal.UserManage, Traits{}},
		{"DELETE", "/v2/tenant/member/{userId}", identity, principal.UserManage, Traits{}},
		{"POST", "/v2/tenant/invitation", identity, principal.UserManage, Traits{}},
		{"GET", "/v2/tenant/invitation", identity, principal.UserManage, Traits{}},
		{"DELETE", "/v2/tenant/invitation/{id}", identity, principal.UserManage, Traits{}},
		{"GET", "/v2/tenant/identity-provider", identity, principal.TenantAdmin, Traits{}},
		{"PUT", "/v2/tenant/identity-provider", identity, principal.TenantAdmin, Traits{}},
		{"DELETE", "/v2/tenant/identity-provider", identity, principal.TenantAdmin, Traits{}},
		{"PUT", "/v2/tenant/{tenantId}/plan", tenant, principal.ClientManage, Traits{}},
		{"GET", "/v2/access-control/role/all", tenant, anyone, Traits{}},

		{"POST", "/v2/token", identity, principal.KeyManage, Traits{}},
		{"GET", "/v2/token", identity, principal.KeyManage, Traits{}},
		{"DELETE", "/v2/token/{id}", identity, principal.KeyManage, Traits{Recheck: true}},
		{"POST", "/v2/oauth2/client", identity, principal.ClientManage, Traits{}},
		{"GET", "/v2/oauth2/client", identity, principal.ClientManage, Traits{}},
		{"DELETE", "/v2/oauth2/client/{clientId}", identity, principal.ClientManage, Traits{}},

		{"POST", "/v2/external-application", identity, principal.ClientManage, Traits{}},
		{"GET", "/v2/external-application", identity, principal.ClientManage, Traits{}},
		{"DELETE", "/v2/external-application/{id}", identity, principal.ClientManage, Traits{}},
		{"POST", "/v2/external-application/{id}/launch", identity, anyone, Traits{}},
		{"POST", "/v2/public/external-application/auth/oauth2/user/token", identity, anyone, open},

		{"GET", "/v2/user/myself", identity, anyone, Traits{}},
		{"GET", "/v2/user/switch-tenant/{tenantId}", identity, anyone, Traits{Recheck: true, Repeat: mesh.RepeatNever}},
		{"POST", "/tenant/switch-tenant", identity, anyone, Traits{Recheck: true}},
		{"POST", "/auth/user/logout", identity, anyone, Traits{Recheck: true}},
		{"GET", "/mfa/code", identity, anyone, Traits{Repeat: mesh.RepeatNever}},
		{"POST", "/mfa/code", identity, anyone, Traits{}},
		{"GET", "/v2/mfa/config", identity, anyone, open},
		{"GET", "/v2/mfa/send-code", identity, anyone, Traits{Public: true, Repeat: mesh.RepeatNever}},
		{"POST", "/user/public/register-user", identity, anyone, open},
		{"POST", "/user/public/reset-password", identity, anyone, open},
		{"POST", "/user/public/verify-email/{userId}/{identifier}", identity, anyone, open},
		{"POST", "/user/public/verify-password-update/{userId}/{identifier}", identity, anyone, open},

		{"POST", "/oauth2/par", identity, anyone, open},
		{"POST", "/oauth2/token", identity, anyone, open},
		{"POST", "/auth/oauth2/token", identity, anyone, open},
		{"POST", "/oauth2/revoke", identity, anyone, open},
		{"POST", "/oauth2/introspect", identity, anyone, open},
		{"GET", "/oauth2/jwks", identity, anyone, open},
		{"GET", "/.well-known/oauth-authorization-server", identity, anyone, open},
	}, pages()...)
}
