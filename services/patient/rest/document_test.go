package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/rest"
)

// census knows one patient.
type census struct{ patient.Store }

func (census) Live(_ context.Context, tenant string, id int64) (bool, error) {
	return tenant == "t" && id == 7, nil
}

func TestRequestsForDocumentsPassWithWhatIsKnownOfThePatient(t *testing.T) {
	tests := []struct {
		method, target string
		may            principal.Permission
		want           string // what the header says; empty: nothing is sent
	}{
		{http.MethodGet, "/v2/patient/7/document?type=any", principal.DocumentRead, "live"},
		{http.MethodHead, "/v2/patient/7/document", principal.DocumentRead, "live"},
		{http.MethodPost, "/v2/patient/7/document", principal.DocumentWrite, "live"},
		{http.MethodGet, "/v3/patient/7/attach/x/content", principal.DocumentRead, "live"},
		{http.MethodPut, "/v3/patient/7/attach/x/content", principal.DocumentWrite, "live"},
		{http.MethodGet, "/v3/patient/8/attach", principal.DocumentRead, "missing"},
		{http.MethodGet, "/v3/patient/07/attach", principal.DocumentRead, "missing"},
		{http.MethodGet, "/v3/patient/7%2F/attach", principal.DocumentRead, "missing"},
		{http.MethodGet, "/v3/patient/%37/attach", principal.DocumentRead, "missing"},
		{http.MethodGet, "/v3/patient/7x/attach", principal.DocumentRead, "missing"},
		{http.MethodGet, "/v3/patient/7/attach", principal.DocumentWrite, ""},
		{http.MethodPost, "/v3/patient/7/attach", principal.DocumentRead | principal.PatientWrite, ""},
		{http.MethodPatch, "/v3/patient/7/attach/x", principal.DocumentRead, ""},
		{http.MethodDelete, "/v3/patient/7/attach/x", principal.DocumentRead, ""},
		{http.MethodPut, "/v3/patient/7/attach/x/content", principal.DocumentRead, ""},
	}
	for _, test := range tests {
		sent := ""
		d := rest.Documents{
			Patients: &patient.Service{Store: census{}},
			Attachment: func(_ context.Context, r *http.Request) (*http.Response, error) {
				if sent = r.Header.Get("Mesh-Patient"); r.Method != test.method || r.URL.RequestURI() != test.target {
					t.Errorf("passed on as %s %s", r.Method, r.URL)
				}
				return &http.Response{StatusCode: http.StatusTeapot}, nil
			},
		}
		ctx := principal.With(t.Context(), principal.Principal{TenantID: "t", Permissions: test.may})
		r, err := http.NewRequestWithContext(ctx, test.method, test.target, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Mesh-Patient", "live") // whoever says so
		answer, err := d.Pass(ctx, r)
		if sent != test.want {
			t.Errorf("%s %s: the patient is %q, want %q", test.method, test.target, sent, test.want)
		}
		if test.want == "" && !fault.Is(err, fault.Denied) || test.want != "" && answer.StatusCode != http.StatusTeapot {
			t.Errorf("%s %s: %v, %v", test.method, test.target, answer, err)
		}
	}
}
