package attachment

import "context"

type patientKey struct{}

// WithPatient puts into a context whether there is the patient that a request names. Who passes the request on knows it.
func WithPatient(ctx context.Context, live bool) context.Context {
	return context.WithValue(ctx, patientKey{}, live)
}

// PatientLive reports whether there is the patient that the context's request names. Where nobody said so, there is none.
func PatientLive(ctx context.Context) bool {
	live, _ := ctx.Value(patientKey{}).(bool)
	return live
}
