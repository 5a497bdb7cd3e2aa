package store_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/store"
)

func TestEveryStatementCarriesItsTenant(t *testing.T) {
	some := time.Now()
	var counts, pages []string
	for _, f := range []tenant.AuditFilter{{}, {PatientID: 1, Actor: "a", Action: "b", From: some, To: some}} {
		count, page := store.RecordsSQL(f)
		counts, pages = append(counts, count), append(pages, page)
	}
	carried.Check(t, carried.Service{
		Migrations: store.Migrations(), Distribution: store.Distribution(),
		Built: map[string][]string{"Records: countWhere(where)": counts, "Records: pageWhere(where, n)": pages},
		Across: map[string]string{
			"ListPlaces": "the tenants of a user, before one is chosen; these tables stay on one node",
		},
		Functions: map[string]string{
			"sweep_idempotency_keys": "what has expired, of all tenants, node by node",
			"append_audit":           "for one tenant after the other: see TestTheTrailIsAppendedOnOneNode",
		},
	})
}

// What the database's own function does is planned while it runs: PostgreSQL tells each plan.
func TestTheTrailIsAppendedOnOneNode(t *testing.T) {
	database := carried.Nodes(t, store.Migrations(), store.Distribution())
	config, err := pgx.ParseConfig(database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	nodes, plans := map[string]int{}, 0
	part := regexp.MustCompile(`on (?:audit_record|audit_head)_node([0-9])`)
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if !strings.Contains(n.Message, "plan:") {
			return
		}
		plans++
		at := map[string]bool{}
		for _, found := range part.FindAllStringSubmatch(n.Message, -1) {
			at[found[1]] = true
			nodes[found[1]]++
		}
		if len(at) > 1 || strings.Contains(n.Message, "Subplans Removed") {
			t.Errorf("planned for %d nodes:\n%s", len(at), n.Message)
		}
	}
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	_, err = conn.Exec(t.Context(), `
		LOAD 'auto_explain';
		SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; SET auto_explain.log_level = notice;
		SET plan_cache_mode = force_custom_plan`)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time they are there
		_, err = conn.Exec(t.Context(), `
			SELECT append_audit(array_agg(md5(n::text)::uuid), array_agg(now()), array_agg(md5('tenant' || n % 5)::uuid), array_agg(text 'user'),
				array_agg(text 'u'), array_agg(text 'c'), array_agg(text 'patient.read'), array_agg(text ''), array_agg(n::bigint), array_agg(text 'success'))
			FROM generate_series(1, 20) AS n`)
		if err != nil {
			t.Fatal(err)
		}
	}
	if plans < 20 || len(nodes) < 2 {
		t.Errorf("%d plans on nodes %v: too few to tell", plans, nodes)
	}
}
