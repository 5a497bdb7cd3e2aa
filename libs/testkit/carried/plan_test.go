package carried

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

func schema() (fstest.MapFS, pg.Distribution) {
	return fstest.MapFS{"00001_note.sql": {Data: []byte(`-- +goose Up
CREATE TABLE note (tenant_id uuid NOT NULL, id bigint NOT NULL, text text NOT NULL, at timestamptz, PRIMARY KEY (tenant_id, id));
CREATE TABLE mark (tenant_id uuid NOT NULL, note bigint NOT NULL, PRIMARY KEY (tenant_id, note));
CREATE TABLE queue (id bigint PRIMARY KEY);
`)}}, pg.Distribution{Tables: []pg.Table{
		{Name: "note", Tenant: "tenant_id", Spread: true}, {Name: "mark", Tenant: "tenant_id", Spread: true}, {Name: "queue", Why: "of all"},
	}}
}

func TestAForgottenTenantIsFoundOut(t *testing.T) {
	migrations, distribution := schema()
	conn, err := pgx.Connect(t.Context(), Nodes(t, migrations, distribution).AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	p := planner{conn: conn, distribution: distribution}
	if err := p.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		`SELECT text FROM note WHERE tenant_id = $1 AND id = $2`:                                                      "",
		`SELECT text FROM note WHERE id = $1`:                                                                         "4 nodes",
		`SELECT text FROM note n JOIN mark m ON m.tenant_id = n.tenant_id AND m.note = n.id WHERE n.tenant_id = $1`:   "",
		`SELECT text FROM note n JOIN mark m ON m.note = n.id WHERE n.tenant_id = $1`:                                 "4 nodes",
		`SELECT text FROM note WHERE tenant_id = $1 AND EXISTS (SELECT FROM mark WHERE note = id)`:                    "4 nodes",
		`SELECT text FROM note WHERE tenant_id = $1 AND EXISTS (SELECT FROM mark WHERE tenant_id = $1 AND note = id)`: "",
		`SELECT text FROM note WHERE tenant_id = nullif(current_setting('app.tenant_id', true), '')::uuid`:            "which",
		`UPDATE note SET text = $2 WHERE id = $1`:                                                                     "4 nodes",
		`UPDATE note SET text = $2 WHERE tenant_id = $1`:                                                              "",
		`DELETE FROM note`: "4 nodes",
		`DELETE FROM note WHERE tenant_id = $1 AND ($2::timestamptz IS NULL OR id IN (SELECT note FROM mark))`:                  "4 nodes",
		`INSERT INTO note (tenant_id, id, text) VALUES ($1, $2, $3)`:                                                            "",
		`INSERT INTO note (tenant_id, id, text) VALUES (gen_random_uuid(), $1, $2)`:                                             "who knows",
		`INSERT INTO note (tenant_id, id, text) SELECT tenant_id, note, $2 FROM mark WHERE tenant_id = $1`:                      "",
		`INSERT INTO note (tenant_id, id, text) SELECT tenant_id, note, $1 FROM mark`:                                           "nodes",
		`WITH gone AS (DELETE FROM note WHERE tenant_id = $1 RETURNING id) INSERT INTO mark SELECT $1, id FROM gone`:            "",
		`WITH gone AS (DELETE FROM note WHERE tenant_id = $1 RETURNING id) INSERT INTO mark SELECT id::text::uuid, 1 FROM gone`: "who knows",
		`SELECT text FROM note WHERE tenant_id = $1 AND false`:                                                                  "no plan",
		`SELECT id FROM queue`: "",
		`UPDATE note SET text = $2 WHERE tenant_id = $1 AND EXISTS (SELECT FROM queue WHERE queue.id = $3)`:                                      "mixes",
		`WITH it AS MATERIALIZED (SELECT 1 FROM queue WHERE id = $3) UPDATE note SET text = $2 WHERE tenant_id = $1 AND EXISTS (SELECT FROM it)`: "",
		`DELETE FROM queue WHERE EXISTS (SELECT FROM note WHERE tenant_id = $1 AND note.id = $2)`:                                                "mixes",
		`WITH gone AS (DELETE FROM note WHERE tenant_id = $1 RETURNING id) INSERT INTO queue SELECT id FROM gone`:                                "",
		`SELECT 'a note'`: "",
	} {
		fault, err := p.fault(t.Context(), statement{sql: sql})
		if err != nil || want == "" && fault != "" || !strings.Contains(fault, want) {
			t.Errorf("%s: %q, %v", sql, fault, err)
		}
	}
}
