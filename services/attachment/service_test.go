package attachment_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

// shelf keeps one document of patient 7, and what it was told of.
type shelf struct {
	document  attachment.Document
	overtaken int // how many changes come first
	saved     []attachment.Document
	calls     []string
	broken    error
}

func (s *shelf) Create(context.Context, string, attachment.Document, idempotency.Key, int, []byte, audit.Entry) (*idempotency.Record, error) {
	s.calls = append(s.calls, "create")
	return nil, s.broken
}

func (s *shelf) Read(context.Context, string, int64, string, audit.Entry) (*attachment.Document, error) {
	s.calls = append(s.calls, "read")
	return nil, s.broken
}

func (s *shelf) Find(_ context.Context, _ string, patientID int64, id string, _ audit.Entry) (*attachment.Document, error) {
	s.calls = append(s.calls, "find")
	if patientID != s.document.PatientID || id != s.document.ID {
		return nil, s.broken
	}
	found := s.document
	return &found, s.broken
}

func (s *shelf) Save(_ context.Context, _ string, _, after attachment.Document, _ audit.Entry) (bool, error) {
	s.calls = append(s.calls, "save")
	if s.overtaken > 0 {
		s.overtaken--
		s.document.Version++
		return false, nil
	}
	s.saved = append(s.saved, after)
	return true, nil
}

func (s *shelf) Keep(_ context.Context, e audit.Entry) error {
	s.calls = append(s.calls, "keep "+e.Action+" "+e.Outcome)
	return s.broken
}

func (s *shelf) Search(context.Context, string, int64, attachment.Filter, page.Request, audit.Entry) ([]attachment.Document, int64, error) {
	s.calls = append(s.calls, "search")
	return nil, 0, nil
}

func (s *shelf) Echo(context.Context, string, int64, page.Request, bool) ([]attachment.Document, int64, error) {
	s.calls = append(s.calls, "echo")
	return nil, 0, nil
}

func serve() (*attachment.Service, *shelf) {
	s := &shelf{document: full()}
	s.document.ID, s.document.PatientID = "d", 7
	return &attachment.Service{Store: s, Now: func() time.Time { return now.Add(time.Hour) }, NewID: uuid.NewV7}, s
}

func by(may principal.Permission, live bool) context.Context {
	ctx := principal.With(context.Background(), principal.Principal{TenantID: "t", Kind: principal.APIKey, Permissions: may})
	return attachment.WithPatient(ctx, live)
}

func shown(attachment.Document) ([]byte, error) { return []byte("{}"), nil }

// verbs are all of them, with an input that breaks a rule, where they take one, or with one that breaks none.
func verbs(s *attachment.Service, in attachment.Input, may attachment.Precondition) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"create": func(ctx context.Context) error {
			_, _, err := s.Create(ctx, 7, in, idempotency.Key{}, 200, shown)
			return err
		},
		"read": func(ctx context.Context) error { _, err := s.Read(ctx, 7, "none"); return err },
		"list": func(ctx context.Context) error {
			_, _, err := s.Search(ctx, 7, attachment.Filter{}, page.Request{})
			return err
		},
		"update": func(ctx context.Context) error { _, err := s.Update(ctx, 7, "none", in, may); return err },
		"delete": func(ctx context.Context) error { return s.Deactivate(ctx, 7, "none", may) },
	}
}

func TestRefusalsComeInOrderAndAMissingPatientIsKept(t *testing.T) {
	fine, bad := attachment.Input{Title: some("A")}, attachment.Input{Type: some("x")}
	long := attachment.Input{Type: some("x"), Payload: []byte(strings.Repeat("1", 2<<20))}
	need := map[string]principal.Permission{"read": principal.DocumentRead, "list": principal.DocumentRead}
	for _, name := range []string{"create", "read", "list", "update", "delete"} {
		may := need[name]
		if may == 0 {
			may = principal.DocumentWrite
		}
		takes := name == "create" || name == "update"
		call := func(ctx context.Context, in attachment.Input) (fault.Kind, []string) {
			s, store := serve()
			return fault.Of(verbs(s, in, nil)[name](ctx)).Kind, store.calls
		}
		if kind, calls := call(context.Background(), long); kind != fault.Unauthenticated || calls != nil {
			t.Errorf("%s by nobody: %v, %v", name, kind, calls)
		}
		if kind, calls := call(by(principal.All&^may, false), long); kind != fault.Denied || calls != nil {
			t.Errorf("%s without the permission: %v, %v", name, kind, calls)
		}
		if kind, calls := call(by(may, false), long); takes && (kind != fault.TooLarge || calls != nil) {
			t.Errorf("%s of too much: %v, %v", name, kind, calls)
		}
		if kind, calls := call(by(may, false), bad); takes && (kind != fault.Invalid || calls != nil) {
			t.Errorf("%s of a bad input: %v, %v", name, kind, calls)
		}
		kept := []string{"keep document." + name + " failure"}
		if kind, calls := call(by(may, false), fine); kind != fault.NotFound || !cmp.Equal(kept, calls) {
			t.Errorf("%s of a missing patient: %v, %v", name, kind, calls)
		}
		unsaid := principal.With(context.Background(), principal.Principal{TenantID: "t", Kind: principal.APIKey, Permissions: may})
		if kind, calls := call(unsaid, fine); kind != fault.NotFound || !cmp.Equal(kept, calls) {
			t.Errorf("%s where nobody said that there is the patient: %v, %v", name, kind, calls)
		}
		if kind, calls := call(by(may, true), fine); len(calls) != 1 || name != "create" && name != "list" && kind != fault.NotFound {
			t.Errorf("%s of a patient: %v, %v", name, kind, calls)
		}
	}
}

func TestAMissingPatientIsNotToldBeforeItIsKept(t *testing.T) {
	for _, name := range []string{"create", "read", "list", "update", "delete"} {
		s, store := serve()
		store.broken = fault.Away(nil, "Away.")
		if err := verbs(s, attachment.Input{}, nil)[name](by(principal.All, false)); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARecordsDocumentsNeedThePermissionAlone(t *testing.T) {
	s, store := serve()
	if _, _, err := s.Echo(by(principal.All&^principal.DocumentRead, true), 7, page.Request{}, true); !fault.Is(err, fault.Denied) {
		t.Error(err)
	}
	if _, _, err := s.Echo(by(principal.DocumentRead, false), 7, page.Request{}, true); err != nil || !cmp.Equal(store.calls, []string{"echo"}) {
		t.Error(err, store.calls)
	}
}

func TestCreateGivesAnIDThatTheRecordedAnswerHolds(t *testing.T) {
	s, _ := serve()
	header, answered := "k", ""
	key, _ := idempotency.Parse(principal.Principal{TenantID: "t"}, &header)
	d, _, err := s.Create(by(principal.DocumentWrite, true), 7, attachment.Input{}, key, 200, func(d attachment.Document) ([]byte, error) {
		answered = d.ID
		return nil, nil
	})
	if err != nil || answered != d.ID || uuid.MustParse(d.ID).Version() != 7 || d.PatientID != 7 || !d.CreatedAt.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v answered as %s, %v", d, answered, err)
	}
	broken := errors.New("cannot be shown")
	if _, _, err := s.Create(by(principal.DocumentWrite, true), 7, attachment.Input{}, key, 200, func(attachment.Document) ([]byte, error) {
		return nil, broken
	}); !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestUpdateMakesTheNextVersion(t *testing.T) {
	s, store := serve()
	d, err := s.Update(by(principal.DocumentWrite, true), 7, "d", attachment.Input{Title: some("B")}, nil)
	want := full()
	want.ID, want.PatientID, want.Title, want.Version, want.UpdatedAt = "d", 7, "B", 2, now.Add(time.Hour)
	if diff := cmp.Diff(want, d); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if diff := cmp.Diff([]attachment.Document{want}, store.saved); diff != "" {
		t.Error(diff)
	}
}

func TestAChangeOfNothingKeepsItsVersion(t *testing.T) {
	for _, in := range []attachment.Input{
		{},
		{Type: some("Observation"), ContentType: some("text/plain"), Filename: some("a.txt"), Title: some("A"), Size: some("3"), Payload: []byte(`{}`)},
	} {
		s, store := serve()
		d, err := s.Update(by(principal.DocumentWrite, true), 7, "d", in, nil)
		if err != nil || d.Version != 1 || !cmp.Equal(store.calls, []string{"find", "keep document.update success"}) {
			t.Errorf("version %d, %v, %v", d.Version, store.calls, err)
		}
	}
	for name, in := range map[string]attachment.Input{
		"type": {Type: some("document")}, "contentType": {ContentType: some("text/html")}, "filename": {Filename: some("n/a")},
		"title": {Title: some("B")}, "size": {Size: some("n/a")}, "payload": {Payload: []byte(`{ }`)}, "no payload": {Payload: []byte(`"n/a"`)},
	} {
		s, store := serve()
		if d, err := s.Update(by(principal.DocumentWrite, true), 7, "d", in, nil); err != nil || d.Version != 2 || len(store.saved) != 1 {
			t.Errorf("%s: version %d, %v", name, d.Version, err)
		}
	}
}

func TestRefusalsOfAChangeAreKept(t *testing.T) {
	refuse := func(version int64) error {
		if version != 1 {
			t.Error("asked of version ", version)
		}
		return fault.New(fault.PreconditionFailed, "version_mismatch", "Changed.")
	}
	s, store := serve()
	mismatch := attachment.Input{Size: some("4")}
	if _, err := s.Update(by(principal.DocumentWrite, true), 7, "d", mismatch, refuse); !fault.Is(err, fault.Invalid) || fault.Of(err).Fields[0].Code != "size_mismatch" {
		t.Error("before the precondition: ", err)
	}
	if err := s.Deactivate(by(principal.DocumentWrite, true), 7, "d", refuse); !fault.Is(err, fault.PreconditionFailed) {
		t.Error(err)
	}
	want := []string{"find", "keep document.update failure", "find", "keep document.delete failure"}
	if diff := cmp.Diff(want, store.calls); diff != "" {
		t.Error(diff)
	}
}

func TestDeactivateTakesOutOfSight(t *testing.T) {
	s, store := serve()
	if err := s.Deactivate(by(principal.DocumentWrite, true), 7, "d", nil); err != nil {
		t.Fatal(err)
	}
	if after := store.saved[0]; after.Active() || after.Version != 2 || !after.HasContent() {
		t.Errorf("%+v", after)
	}
}

func TestWhoIsOvertakenStartsOver(t *testing.T) {
	s, store := serve()
	store.overtaken = 3
	d, err := s.Update(by(principal.DocumentWrite, true), 7, "d", attachment.Input{Title: some("B")}, nil)
	if err != nil || d.Version != 5 || len(store.saved) != 1 {
		t.Errorf("version %d, %v, %v", d.Version, err, store.calls)
	}
	store.overtaken = 1 << 30
	ctx, cancel := context.WithTimeout(by(principal.DocumentWrite, true), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Update(ctx, 7, "d", attachment.Input{Title: some("C")}, nil); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}
