package store_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

// kept is "action patient outcome" of every entry in the queue.
func kept(t *testing.T, database testkit.Database) []string {
	t.Helper()
	rows, err := connect(t, database.AdminURL).Query(t.Context(), `
		SELECT e->>'action' || ' ' || coalesce(e->>'patientId', 'none') || ' ' || (e->>'outcome')
		FROM audit_entry, json_array_elements(entries) WITH ORDINALITY AS one (e, place) ORDER BY seq, place`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEveryAccessKeepsOneEntry(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant := uuid.NewString()
	patient := int64(0)
	try := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{}
	// expect says which entry the next access leaves; each is about a patient of another number.
	expect := func(entry string) int64 {
		patient++
		if entry != "" {
			action, outcome, _ := strings.Cut(entry, " ")
			want = append(want, action+" "+strconv.FormatInt(patient, 10)+" "+outcome)
		}
		return patient
	}
	d := document(t, everything)
	create := entry(tenant, "document.create").About(expect("document.create success"))
	try(s.Create(t.Context(), tenant, d, idempotency.Key{}, 200, nil, create))
	try(s.Read(t.Context(), tenant, 7, d.ID, entry(tenant, "document.read").About(expect("document.read success"))))
	try(s.Read(t.Context(), tenant, 8, d.ID, entry(tenant, "document.read").About(expect("document.read failure"))))
	try(s.Find(t.Context(), tenant, 7, d.ID, entry(tenant, "document.update").About(expect(""))))
	try(s.Find(t.Context(), tenant, 8, d.ID, entry(tenant, "document.update").About(expect("document.update failure"))))
	_, _, err := s.Search(t.Context(), tenant, 7, attachment.Filter{}, page.Request{Size: 1}, entry(tenant, "document.list").About(expect("document.list success")))
	try(nil, err)
	_, _, err = s.Echo(t.Context(), tenant, 7, page.Request{Size: 1}, true)
	try(nil, err)
	after := d
	after.Version = 2
	try(s.Save(t.Context(), tenant, d, after, entry(tenant, "document.update").About(expect("document.update success"))))
	try(s.Save(t.Context(), tenant, d, after, entry(tenant, "document.update").About(expect("")))) // overtaken: it starts over, and that leaves the entry
	try(nil, s.Keep(t.Context(), entry(tenant, "document.delete").About(expect("document.delete failure")).Failed()))
	if diff := cmp.Diff(want, kept(t, database)); diff != "" {
		t.Error(diff)
	}
}

func TestNothingIsShownThatCannotBeKept(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant := uuid.NewString()
	d := create(t, s, tenant, everything)
	nobody := entry("", "document.read") // of no tenant: it cannot be kept
	if got, err := s.Read(t.Context(), tenant, 7, uuid.NewString(), nobody); err == nil || got != nil {
		t.Error(got, err)
	}
	if _, err := s.Read(t.Context(), tenant, 7, d.ID, nobody); err == nil {
		t.Error("read")
	}
	if _, _, err := s.Search(t.Context(), tenant, 7, attachment.Filter{}, page.Request{Size: 1}, nobody); err == nil {
		t.Error("listed")
	}
	if _, err := s.Create(t.Context(), tenant, document(t, everything), idempotency.Key{}, 200, nil, nobody); err == nil {
		t.Error("created")
	}
	after := d
	after.Version = 2
	if saved, err := s.Save(t.Context(), tenant, d, after, nobody); err == nil || saved {
		t.Error("saved")
	}
	if got := read(t, s, tenant, d.ID); got.Version != 1 {
		t.Error("changed without an entry")
	}
}

func TestExpiredKeysAreSweptAndOthersStay(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant := uuid.NewString()
	for _, header := range []string{"old", "new"} {
		key, _ := idempotency.Parse(principal.Principal{TenantID: tenant}, &header)
		if _, err := s.Create(t.Context(), tenant, document(t, everything), key, 200, []byte("{}"), entry(tenant, "document.create")); err != nil {
			t.Fatal(err)
		}
	}
	conn := connect(t, database.AdminURL)
	if _, err := conn.Exec(t.Context(), `UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key = 'old'`); err != nil {
		t.Fatal(err)
	}
	sweeping := t.Context()
	go func() { _ = s.Sweep(sweeping) }()
	for deadline := time.Now().Add(10 * time.Second); ; {
		rows, err := conn.Query(t.Context(), `SELECT key FROM idempotency_key ORDER BY key`)
		if err != nil {
			t.Fatal(err)
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(keys, []string{"new"}) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("still there: %v", keys)
		}
	}
}
