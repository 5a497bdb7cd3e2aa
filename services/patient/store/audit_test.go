package store_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// kept is "action patient outcome" of every entry in the queue.
func kept(t *testing.T, database testkit.Database) []string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `
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
	s, database := open(t)
	by := somebody()
	p := create(t, s, by)
	id := strconv.FormatInt(p.ID, 10)
	about := func(action string) patient.Change {
		return patient.Change{By: by, Fields: []string{}, Entry: entry(by, action).About(p.ID)}
	}
	try := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(s.Read(t.Context(), by.TenantID, p.ID, entry(by, "patient.read").About(p.ID)))
	try(s.Read(t.Context(), by.TenantID, p.ID+1, entry(by, "patient.read").About(7)))
	_, _, err := s.List(t.Context(), by.TenantID, page.Request{Size: 1}, entry(by, "patient.list"))
	try(nil, err)
	for _, which := range []int64{p.ID, p.ID + 1} {
		_, _, _, err := s.History(t.Context(), by.TenantID, which, page.Request{Size: 1}, entry(by, "history.read").About(8))
		try(nil, err)
		try(s.Find(t.Context(), by.TenantID, which, false, entry(by, "patient.update").About(9)))
	}
	p.Version = 2
	for range 2 { // the second is overtaken: it starts over, and that leaves the entry
		try(s.Save(t.Context(), p, about("patient.update"), 0))
	}
	p.Version, p.DeletedAt = 3, &now
	try(s.Save(t.Context(), p, about("patient.delete"), 0))
	try(s.Read(t.Context(), by.TenantID, p.ID, entry(by, "patient.read").About(p.ID)))
	try(s.Find(t.Context(), by.TenantID, p.ID, false, entry(by, "patient.update").About(p.ID)))
	try(s.Find(t.Context(), by.TenantID, p.ID, true, entry(by, "patient.restore").About(p.ID)))
	try(nil, s.Keep(t.Context(), entry(by, "patient.update").Failed()))

	want := []string{
		"patient.create " + id + " success", "patient.read " + id + " success", "patient.read 7 failure", "patient.list none success",
		"history.read 8 success", "history.read 8 failure", "patient.update 9 failure", "patient.update " + id + " success",
		"patient.delete " + id + " success", "patient.read " + id + " failure", "patient.update " + id + " failure", "patient.update none failure",
	}
	if diff := cmp.Diff(want, kept(t, database)); diff != "" {
		t.Error(diff)
	}
}

func TestAnIdempotentRepeatKeepsNoSecondEntry(t *testing.T) {
	s, database := open(t)
	by, header := somebody(), "once"
	key, _ := idempotency.Parse(by, &header)
	for range 2 {
		if _, _, err := s.Create(t.Context(), ana(), by, 0, key, []byte("{}"), entry(by, "patient.create")); err != nil {
			t.Fatal(err)
		}
	}
	if list := kept(t, database); len(list) != 1 {
		t.Error(list)
	}
}
