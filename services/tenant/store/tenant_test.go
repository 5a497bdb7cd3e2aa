package store_test

import (
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/services/tenant"
)

func TestChange(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	name, required := "Harbour & Sons", true
	changed, err := s.Change(t.Context(), one, tenant.Change{Name: &name}, entry(one, tenant.TenantChange))
	if err != nil || changed == nil || changed.Name != name || changed.MFARequired {
		t.Errorf("name: %+v, %v", changed, err)
	}
	changed, err = s.Change(t.Context(), one, tenant.Change{MFARequired: &required}, entry(one, tenant.TenantChange))
	if err != nil || changed == nil || changed.Name != name || !changed.MFARequired {
		t.Errorf("second factor: %+v, %v", changed, err)
	}
	if other, err := s.Read(t.Context(), two); err != nil || other.Name != "Hillside" || other.MFARequired {
		t.Errorf("another tenant changed too: %+v, %v", other, err)
	}
	if list := effects(t, database); len(list) != 2 || list[0]["tenant"] != one {
		t.Errorf("effects %v", list)
	}
	const nobody = "01900000-0000-7000-8000-0000000000a9"
	if none, err := s.Change(t.Context(), nobody, tenant.Change{Name: &name}, entry(nobody, tenant.TenantChange)); err != nil || none != nil {
		t.Errorf("changed what is not there: %+v, %v", none, err)
	}
}

// The key is kept for the tenant of who asks; the tenant that it made is another.
func TestCreateOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	create(t, s, one, "Operations")
	key := idempotency.Key{Tenant: one, Credential: "c", Value: "k", Hash: []byte{1}}
	made := tenant.Tenant{ID: two, Name: "Hillside", Plan: "free", Environment: "demo", CreatedAt: time.Now()}
	if repeat, err := s.CreateOnce(t.Context(), made, key, []byte("answer"), entry(made.ID, tenant.TenantCreate)); err != nil || repeat != nil {
		t.Fatalf("%+v, %v", repeat, err)
	}
	again := made
	again.ID = "01900000-0000-7000-8000-0000000000a3"
	repeat, err := s.CreateOnce(t.Context(), again, key, []byte("another"), entry(again.ID, tenant.TenantCreate))
	if err != nil || repeat == nil || repeat.ResourceID != two || string(repeat.Body) != "answer" {
		t.Errorf("repeat %+v, %v", repeat, err)
	}
	if none, err := s.Read(t.Context(), again.ID); err != nil || none != nil {
		t.Errorf("a repeat made %+v, %v", none, err)
	}
	key.Hash = []byte{2}
	if _, err := s.CreateOnce(t.Context(), again, key, []byte{}, entry(again.ID, tenant.TenantCreate)); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another request: %v", err)
	}
	if repeat, err := s.CreateOnce(t.Context(), again, idempotency.Key{}, nil, entry(again.ID, tenant.TenantCreate)); err != nil || repeat != nil {
		t.Errorf("without a key: %+v, %v", repeat, err)
	}
	for _, id := range []string{two, again.ID} {
		if found, err := s.Read(t.Context(), id); err != nil || found == nil {
			t.Errorf("%s: %+v, %v", id, found, err)
		}
	}
}

// What is done once is told once, and what is not done is not told.
func TestWhatIsToldOfATenant(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	create(t, s, one, "Harbour")
	accept(t, s, one, first)
	accept(t, s, one, first)
	name := "Hillside"
	for _, id := range []string{one, two} { // the second is none
		if _, err := s.Change(t.Context(), id, tenant.Change{Name: &name}, entry(id, tenant.TenantChange)); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), `SELECT e->>'tenantId' || ' ' || (e->>'action') FROM audit_entry, json_array_elements(entries) e ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	want := []string{one + " tenant.create", one + " agreement.accept", one + " tenant.change"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
