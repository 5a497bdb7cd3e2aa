package rest

import (
	"context"
	"net/http"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// PatientHeader tells the attachment service, which knows no patients, whether there is the one that a request names. A
// request without it is about nobody there.
const (
	PatientHeader = "Mesh-Patient"
	live          = "live"
	missing       = "missing"
)

// Documents lets requests for a patient's documents through to the service that keeps them, bytes and all.
type Documents struct {
	Patients *patient.Service
	// Attachment passes a request on in the name of whoever stands in the context: method, path and query as they are.
	Attachment func(ctx context.Context, r *http.Request) (*http.Response, error)
}

// Pass lets one request through. That there is no such patient is said by who answers: what is malformed is told first.
func (d *Documents) Pass(ctx context.Context, r *http.Request) (*http.Response, error) {
	need := principal.DocumentWrite
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		need = principal.DocumentRead
	}
	found, err := d.Patients.Live(ctx, parseID(patientOf(r.URL.EscapedPath())), need)
	if err != nil {
		return nil, err
	}
	r.Header.Set(PatientHeader, missing)
	if found {
		r.Header.Set(PatientHeader, live)
	}
	return d.Attachment(ctx, r)
}

// patientOf is the third segment of a path, as in /v2/patient/7/document.
func patientOf(path string) string {
	segments := strings.SplitN(path, "/", 5)
	if len(segments) < 4 {
		return ""
	}
	return segments[3]
}
