package store_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

// child is a new one of a patient, made so long before now.
func child(t *testing.T, patientID int64) patient.Child {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return patient.Child{ID: id.String(), PatientID: patientID, Version: 1, CreatedAt: now, UpdatedAt: now}
}

// keep stores a child.
func keep[N any, P patient.Noun[N]](t *testing.T, s *store.Children[N, P], by principal.Principal, one N) N {
	t.Helper()
	found, _, err := s.Create(t.Context(), one, by, idempotency.Key{}, 0, nil, entry(by, "child.create"))
	if err != nil || !found {
		t.Fatal(found, err)
	}
	return one
}

func moment(t *testing.T, text string) civil.Moment {
	t.Helper()
	m, err := civil.ParseMoment(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestARecordHasWhatIsActive(t *testing.T) {
	s, _ := open(t)
	by, stranger := somebody(), somebody()
	p, other := create(t, s, by), create(t, s, by)
	gone := child(t, p.ID)
	gone.DeactivatedAt = &now
	past := patient.Interval{Until: moment(t, "2026-03-14T09:26:53.589Z")}   // the end does not belong to it
	present := patient.Interval{From: moment(t, "2026-03-14T09:26:53.589Z")} // the start does
	future := patient.Interval{From: moment(t, "2026-03-15")}

	want := patient.Record{Patient: p, Addresses: patient.Cut[patient.Address]{}}
	for n := range 3 {
		want.Addresses = append(want.Addresses, keep(t, s.Addresses(), by, patient.Address{Child: child(t, p.ID), Line1: fmt.Sprint(n), Country: "US", Use: "home"}))
	}
	keep(t, s.Addresses(), by, patient.Address{Child: child(t, other.ID), Line1: "another's"})
	keep(t, s.Addresses(), by, patient.Address{Child: gone, Line1: "gone"})
	want.Aliases = patient.Cut[patient.Alias]{keep(t, s.Aliases(), by, patient.Alias{Child: child(t, p.ID), Type: "maiden", LastName: "Reis", Interval: present})}
	keep(t, s.Aliases(), by, patient.Alias{Child: child(t, p.ID), Type: "alias", Interval: past})
	want.Identifiers = patient.Cut[patient.Identifier]{keep(t, s.Identifiers(), by, patient.Identifier{
		Child: child(t, p.ID), Type: "MRN", Value: "1", Authority: patient.Authority{OrganizationID: "o", ExternalSystemName: "n"}, SourceName: "s",
	})}
	keep(t, s.Identifiers(), by, patient.Identifier{Child: child(t, p.ID), Type: "MRN", Value: "2", Interval: future})
	want.Contacts = patient.Cut[patient.Contact]{keep(t, s.Contacts(), by, patient.Contact{Child: child(t, p.ID), System: "email", Value: "a@b.c"})}

	got, err := s.Record(t.Context(), by.TenantID, p.ID, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	listed := func(id, kind string) patient.Listing {
		return patient.Listing{Count: 1, Items: patient.Cut[patient.Item]{{ID: id, Type: kind, CreatedAt: now}}}
	}
	told := &patient.Manifest{
		PatientID: p.ID, Addresses: patient.Listing{Count: 3}, Aliases: listed(want.Aliases[0].ID, "maiden"),
		Identifiers: listed(want.Identifiers[0].ID, "MRN"), Contacts: listed(want.Contacts[0].ID, "email"),
	}
	for _, a := range want.Addresses {
		told.Addresses.Items = append(told.Addresses.Items, patient.Item{ID: a.ID, Type: "home", CreatedAt: now})
	}
	manifest, err := s.Manifest(t.Context(), by.TenantID, p.ID, now)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(told, manifest); diff != "" {
		t.Error(diff)
	}

	none(t, s, stranger.TenantID, p.ID)
	none(t, s, by.TenantID, p.ID+1)
	p.Version, p.DeletedAt = 2, &now
	change := patient.Change{By: by, Entry: entry(by, "patient.delete"), What: patient.Deleted, Fields: []string{}, Count: -1}
	if saved, err := s.Save(t.Context(), p, change, 0); err != nil || !saved {
		t.Fatal(saved, err)
	}
	none(t, s, by.TenantID, p.ID)
}

// none fails when there is a patient.
func none(t *testing.T, s *store.Store, tenant string, id int64) {
	t.Helper()
	if r, err := s.Record(t.Context(), tenant, id, now); err != nil || r != nil {
		t.Errorf("a record %v, %v", r, err)
	}
	if m, err := s.Manifest(t.Context(), tenant, id, now); err != nil || m != nil {
		t.Errorf("a manifest %v, %v", m, err)
	}
	if p, err := s.Patient(t.Context(), tenant, id); err != nil || p != nil {
		t.Errorf("a patient %v, %v", p, err)
	}
	if live, err := s.Live(t.Context(), tenant, id); err != nil || live {
		t.Errorf("there: %v, %v", live, err)
	}
}

func TestARecordOfMoreThanIsShown(t *testing.T) {
	s, database := open(t)
	by := somebody()
	p := create(t, s, by)
	for range 2 {
		keep(t, s.Contacts(), by, patient.Contact{Child: child(t, p.ID), System: "phone", Value: "1"})
	}
	admin := connect(t, database)
	for table, n := range map[string]int{"patient_address": patient.RecordLimit, "patient_alias": patient.RecordLimit + 7} {
		if _, err := admin.Exec(t.Context(), fill(table), by.TenantID, p.ID, n); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Record(t.Context(), by.TenantID, p.ID, now)
	if err != nil {
		t.Fatal(err)
	}
	if got.Addresses.Truncated() || !got.Aliases.Truncated() || got.Contacts.Truncated() || len(got.Addresses.Shown()) != patient.RecordLimit ||
		len(got.Aliases) != patient.RecordLimit+1 || len(got.Aliases.Shown()) != patient.RecordLimit {
		t.Errorf("%d addresses, %d aliases read", len(got.Addresses), len(got.Aliases))
	}
	m, err := s.Manifest(t.Context(), by.TenantID, p.ID, now)
	if err != nil {
		t.Fatal(err)
	}
	if m.Addresses.Count != patient.RecordLimit || m.Aliases.Count != patient.RecordLimit+7 || m.Contacts.Count != 2 ||
		m.Addresses.Items.Truncated() || !m.Aliases.Items.Truncated() || len(m.Aliases.Items) != patient.RecordLimit+1 {
		t.Errorf("%d, %d, %d", m.Addresses.Count, m.Aliases.Count, m.Contacts.Count)
	}
}

// While a patient is deleted and restored over and over, a record has all or is none.
func TestARecordIsWholeOrNone(t *testing.T) {
	s, _ := open(t)
	by := somebody()
	p := create(t, s, by)
	keep(t, s.Contacts(), by, patient.Contact{Child: child(t, p.ID), System: "phone", Value: "1"})
	ctx, stop := context.WithCancel(t.Context())
	var turning sync.WaitGroup
	turning.Go(func() {
		for ctx.Err() == nil {
			p.Version++
			if p.DeletedAt = nil; p.Version%2 == 0 {
				p.DeletedAt = &now
			}
			change := patient.Change{By: by, Entry: entry(by, "patient.update"), What: patient.Updated, Fields: []string{}}
			if saved, err := s.Save(ctx, p, change, 0); ctx.Err() == nil && (err != nil || !saved) {
				t.Error(saved, err)
				return
			}
		}
	})
	for whole, none := 0, 0; (whole < 50 || none < 50) && !t.Failed(); {
		r, err := s.Record(t.Context(), by.TenantID, p.ID, now)
		switch {
		case err != nil:
			t.Fatal(err)
		case r == nil:
			none++
		case len(r.Contacts) != 1:
			t.Fatal("a record without what hangs on the patient")
		default:
			whole++
		}
	}
	stop()
	turning.Wait()
}

// fill is a statement that gives a patient so many children at once.
func fill(table string) string {
	columns := map[string]string{
		"patient_address": `'', '', '', '', '', 'US', ''`, "patient_alias": `'alias', 'a', '', '', '', '', '', '(,)'`,
	}
	return `INSERT INTO ` + table + ` SELECT $1, $2, gen_random_uuid(), 1, now(), now(), NULL, ` + columns[table] + ` FROM generate_series(1, $3)`
}

func connect(t *testing.T, database testkit.Database) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}
