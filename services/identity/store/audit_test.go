package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
)

// entry is one of a context without a principal.
func entry(tenant, action string) audit.Entry {
	return audit.Of(context.Background(), time.Now(), uuid.NewV7, action).In(tenant)
}

func TestWhatIsDoneToCredentialsIsKeptInTheQueue(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant := newID(t)
	k, c := key(t, tenant), client(t, tenant)
	once := idempotency.Key{Tenant: tenant, Credential: "c", Value: "v", Hash: []byte{1}}
	for i := range 2 { // what is repeated, or gone already, is kept once
		again := k
		again.ID = []string{k.ID, newID(t)}[i]
		_, err := s.CreateKey(t.Context(), again, once, entry(tenant, "token.mint"))
		check(t, err)
		_, err = s.RevokeKey(t.Context(), tenant, k.ID, "aa", now(), entry(tenant, "key.revoke"))
		check(t, err)
	}
	_, err := s.CreateClient(t.Context(), c, idempotency.Key{}, entry(tenant, "client.create"))
	check(t, err)
	for range 2 {
		_, err = s.DeleteClient(t.Context(), tenant, c.ID, entry(tenant, "client.delete"))
		check(t, err)
	}
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	check(t, err)
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `
		SELECT e->>'action' FROM audit_entry, json_array_elements(entries) AS e
		WHERE e->>'tenantId' = $1 AND e->>'outcome' = 'success' ORDER BY seq`, tenant)
	check(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	if diff := cmp.Diff([]string{"token.mint", "key.revoke", "client.create", "client.delete"}, got); diff != "" {
		t.Error(diff)
	}
}
