package patient_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// archive is the stores of one test: what they hold, and what was kept in the trail.
type archive struct {
	patient.Store // what a record does not use
	record        *patient.Record
	err           error
	reading       func() // called where a store would ask its database
	kept          []string
}

func (s *archive) Keep(_ context.Context, e audit.Entry) error {
	s.kept = append(s.kept, e.Action+" "+e.Outcome)
	return nil
}

func (s *archive) Record(context.Context, string, int64, time.Time) (*patient.Record, error) {
	if s.reading != nil {
		s.reading()
	}
	return s.record, s.err
}

func (s *archive) Patient(context.Context, string, int64) (*patient.Patient, error) {
	if s.record == nil {
		return nil, s.err
	}
	return &s.record.Patient, s.err
}

func (s *archive) Manifest(context.Context, string, int64, time.Time) (*patient.Manifest, error) {
	if s.record == nil {
		return nil, s.err
	}
	return &patient.Manifest{PatientID: s.record.Patient.ID}, s.err
}

// keeper is who keeps the documents.
type keeper func(ctx context.Context, view patient.View, part page.Request) (patient.Documents, error)

func (k keeper) Documents(ctx context.Context, _ int64, view patient.View, part page.Request) (patient.Documents, error) {
	return k(ctx, view, part)
}

func records(s *archive, k keeper) *patient.Records {
	return &patient.Records{
		Service: &patient.Service{Store: s, Now: func() time.Time { return now }, NewID: uuid.NewV7}, Store: s, Documents: k,
	}
}

func reader(t *testing.T, may principal.Permission) context.Context {
	t.Helper()
	return principal.With(t.Context(), principal.Principal{TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "key", Permissions: may})
}

const readsAll = principal.PatientRead | principal.DocumentRead

var errKeeper = fault.Away(nil, "The attachment service cannot be reached just now.")

func TestARecordByPermissionAndDocuments(t *testing.T) {
	there := &patient.Record{Patient: patient.Patient{ID: 7}}
	tests := map[string]struct {
		may     principal.Permission
		record  *patient.Record
		err     error // of the store
		away    error // of the keeper of documents
		partial bool

		want  fault.Kind // of the error; none when zero
		shown bool       // the documents
		asked bool
		kept  []string
	}{
		"whole":                      {may: readsAll, record: there, shown: true, asked: true, kept: []string{"record.read success"}},
		"no permission":              {may: principal.DocumentRead, record: there, want: fault.Denied},
		"none to read documents":     {may: principal.PatientRead, record: there, kept: []string{"record.read success"}},
		"documents away":             {may: readsAll, record: there, away: errKeeper, want: fault.Unavailable, asked: true, kept: []string{"record.read failure"}},
		"documents away, partial":    {may: readsAll, record: there, away: errKeeper, partial: true, asked: true, kept: []string{"record.read success"}},
		"nobody":                     {may: readsAll, want: fault.NotFound, asked: true, kept: []string{"record.read failure"}},
		"nobody, documents away":     {may: readsAll, away: errKeeper, want: fault.NotFound, asked: true, kept: []string{"record.read failure"}},
		"nobody, away, and partial":  {may: readsAll, away: errKeeper, partial: true, want: fault.NotFound, asked: true, kept: []string{"record.read failure"}},
		"database away":              {may: readsAll, err: fault.Away(nil, "x"), want: fault.Unavailable, asked: true},
		"database away, and partial": {may: readsAll, err: fault.Away(nil, "x"), away: errKeeper, partial: true, want: fault.Unavailable, asked: true},
	}
	for name, test := range tests {
		for _, view := range []patient.View{patient.FullView, patient.PageView, patient.ManifestView} {
			t.Run(name+"/"+string(view), func(t *testing.T) {
				s := &archive{record: test.record, err: test.err}
				asked := make(chan patient.View, 1)
				r := records(s, func(_ context.Context, view patient.View, part page.Request) (patient.Documents, error) {
					asked <- view
					if view == patient.PageView && part.Page != 3 {
						t.Errorf("asked for %+v", part)
					}
					return patient.Documents{Shown: json.RawMessage("[]")}, test.away
				})
				ctx := reader(t, test.may)
				var id int64
				var documents *patient.Documents
				var err error
				switch view {
				case patient.FullView:
					var whole patient.Record
					whole, documents, err = r.Read(ctx, 7, test.partial)
					id = whole.Patient.ID
				case patient.PageView:
					var p patient.Patient
					p, documents, err = r.Page(ctx, 7, page.Request{Page: 3, Size: 10}, test.partial)
					id = p.ID
				case patient.ManifestView:
					var m patient.Manifest
					m, documents, err = r.Manifest(ctx, 7, test.partial)
					id = m.PatientID
				}
				if test.want != 0 && !fault.Is(err, test.want) || test.want == 0 && (err != nil || id != 7) {
					t.Errorf("patient %d, %v", id, err)
				}
				if (documents != nil) != test.shown {
					t.Errorf("documents %v", documents)
				}
				if !slices.Equal(s.kept, test.kept) {
					t.Errorf("kept %v, want %v", s.kept, test.kept)
				}
				if test.asked {
					if got := <-asked; got != view {
						t.Errorf("asked for the view %s", got)
					}
				} else if len(asked) > 0 {
					t.Error("the documents were asked for")
				}
			})
		}
	}
}

// Each side begins before the other ends, or this test does not end.
func TestBothSidesOfARecordAreAskedAtTheSameTime(t *testing.T) {
	patients, documents := make(chan struct{}), make(chan struct{})
	s := &archive{record: &patient.Record{}, reading: func() { close(patients); <-documents }}
	r := records(s, func(context.Context, patient.View, page.Request) (patient.Documents, error) {
		close(documents)
		<-patients
		return patient.Documents{}, nil
	})
	if _, got, err := r.Read(reader(t, readsAll), 7, false); err != nil || got == nil {
		t.Error(got, err)
	}
}

// Who asks for nobody does not wait for documents, and the asking ends.
func TestANobodysDocumentsAreNotWaitedFor(t *testing.T) {
	ended := make(chan error, 1)
	r := records(&archive{}, func(ctx context.Context, _ patient.View, _ page.Request) (patient.Documents, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return patient.Documents{}, ctx.Err()
	})
	if _, _, err := r.Read(reader(t, readsAll), 7, false); !fault.Is(err, fault.NotFound) {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A keeper that never answers leaves time for an answer without it.
func TestDocumentsHaveLessTimeThanTheRecord(t *testing.T) {
	const whole = 10 * time.Second
	ctx, cancel := context.WithTimeout(reader(t, readsAll), whole)
	defer cancel()
	r := records(&archive{record: &patient.Record{}}, func(ctx context.Context, _ patient.View, _ page.Request) (patient.Documents, error) {
		if until, ok := ctx.Deadline(); !ok || time.Until(until) > whole*2/3 {
			t.Errorf("until %v, %v", until, ok)
		}
		return patient.Documents{}, errKeeper
	})
	if _, got, err := r.Read(ctx, 7, true); err != nil || got != nil {
		t.Error(got, err)
	}
}

func TestACutListIsShownToItsBound(t *testing.T) {
	for n, truncated := range map[int]bool{0: false, 1: false, patient.RecordLimit: false, patient.RecordLimit + 1: true} {
		c := make(patient.Cut[int], n)
		if c.Truncated() != truncated || len(c.Shown()) != min(n, patient.RecordLimit) {
			t.Errorf("%d: %v, %d shown", n, c.Truncated(), len(c.Shown()))
		}
	}
}
