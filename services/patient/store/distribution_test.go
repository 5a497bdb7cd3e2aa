package store_test

import (
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

func TestEveryStatementCarriesItsTenant(t *testing.T) {
	carried.Check(t, carried.Service{
		Migrations: store.Migrations(), Distribution: store.Distribution(), Built: store.BuiltSQL(),
		Functions: map[string]string{"sweep_idempotency_keys": "what has expired, of all tenants, node by node"},
	})
}

// Each node numbers its transactions for itself: no position could be told, and one that lies is worse than none.
func TestThereIsNoFeedOfNodes(t *testing.T) {
	database := carried.Nodes(t, store.Migrations(), store.Distribution())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 2, Distribute: pg.Citus})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	s, by := store.New(db, slog.New(slog.DiscardHandler)), somebody()
	create(t, s, by)
	if _, _, err := s.People(t.Context(), by.TenantID, nil, 0, 10); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
}

func TestTheSweepOfNodes(t *testing.T) {
	database := carried.Nodes(t, store.Migrations(), store.Distribution())
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `
		INSERT INTO idempotency_key (tenant_id, credential_id, key, request_hash, status, body, resource_id, created_at)
		SELECT gen_random_uuid(), 'c', n::text, '', 200, '', '', now() - n * interval '10 hours' FROM generate_series(1, 4) AS n;
		INSERT INTO patient_import (tenant_id, credential_id, key, block, first_line, lines, digests, patient_ids, created_at)
		SELECT '00000000-0000-0000-0000-000000000001', 'c', n::text, 0, 1, '{}', '', '{}', now() - interval '25 hours' FROM generate_series(1, 2) AS n;
		INSERT INTO patient_import_run (tenant_id, credential_id, key, holder, until) VALUES
			('00000000-0000-0000-0000-000000000001', 'c', '1', gen_random_uuid(), now() + interval '1 minute'),
			('00000000-0000-0000-0000-000000000001', 'c', '9', gen_random_uuid(), now() - interval '25 hours')`)
	if err != nil {
		t.Fatal(err)
	}
	service, err := pgx.Connect(t.Context(), database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close(t.Context())
	var gone int64
	if err := service.QueryRow(t.Context(), `SELECT sweep_idempotency_keys(1000)`).Scan(&gone); err != nil || gone != 4 {
		t.Errorf("%d gone, %v", gone, err)
	}
	var left string
	err = conn.QueryRow(t.Context(), `
		SELECT (SELECT string_agg(key, '' ORDER BY key) FROM idempotency_key) || '/' || (SELECT string_agg(key, '') FROM patient_import)
			|| '/' || (SELECT string_agg(key, '') FROM patient_import_run)`).Scan(&left)
	if err != nil || left != "12/1/1" {
		t.Errorf("%q is left, %v", left, err)
	}
}
