package store_test

import (
	"testing"
	"time"

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
