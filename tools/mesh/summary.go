package mesh

import (
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/config"
)

// Summary tells people where everything is, with three calls to copy.
func (m *Mesh) Summary() string {
	first := m.demo.Tenants[0]
	return strings.NewReplacer(
		"{gateway}", m.URL(), "{demo}", shortPath(m.dir.Path(demoFile)), "{logs}", shortPath(m.dir.Path("log")),
		"{tenant}", first.Name, "{key}", first.APIKey, "{client}", first.ClientID, "{secret}", first.ClientSecret,
	).Replace(ready + m.agreement() + calls)
}

// agreement tells, in production, what stands before the first patient.
func (m *Mesh) agreement() string {
	if m.options.Environment != config.Production {
		return ""
	}
	return `
This is production: patient data answers 403 agreement_required until an Owner has read and accepted the agreement:

curl -s {gateway}/v2/agreement/current -H 'Authorization: Bearer {key}'; echo

curl -s -X POST {gateway}/v2/agreement/accept -H 'Authorization: Bearer {key}' \
  -H 'Content-Type: application/json' -d '{"agreementId":"ID"}'; echo
`
}

const (
	ready = `
The mesh is ready.

  gateway        {gateway}
  API reference  {gateway}/docs
  credentials    {demo}
  logs           {logs}/
`
	calls = `
Three calls to copy, as {tenant}:

curl -s -X POST {gateway}/v3/patient -H 'Authorization: Bearer {key}' \
  -H 'Content-Type: application/json' -d '{"firstName":"Grace","lastName":"Hopper","dob":"1906-12-09"}'; echo

curl -s '{gateway}/v3/patient?size=10' -H 'Authorization: Bearer {key}'; echo

curl -s -X POST {gateway}/oauth2/token -u '{client}:{secret}' -d grant_type=client_credentials; echo

Ctrl-C stops it; the next start finds everything again.
`
)
