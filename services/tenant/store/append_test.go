package store_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// However many records there are, what PostgreSQL knows of them and when a session made its plans: to append reads none of
// those that the entries have nothing to do with.
func TestAppendingReadsNoOtherRecords(t *testing.T) {
	_, database := open(t)
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	const deliver = `
		SELECT append_audit(array_agg(gen_random_uuid()), array_agg(now()), array_agg($1::uuid), array_agg('user'::text), array_agg('u'::text),
			array_agg('c'::text), array_agg('patient.create'::text), array_agg(''::text), array_agg(n::bigint), array_agg('success'::text))
		FROM generate_series(1, 500) AS n`
	tenant := uuid.NewString()
	append500 := func(times int) {
		t.Helper()
		for range times {
			var added int
			if err := conn.QueryRow(t.Context(), deliver, tenant).Scan(&added); err != nil || added != 500 {
				t.Fatalf("%d are added, %v", added, err)
			}
		}
	}
	append500(2) // so few are read in one go
	for _, what := range []string{"nobody has looked at the table", "it was looked at while it was small", "and while it was larger"} {
		var read int
		for _, sql := range []string{`SELECT pg_stat_force_next_flush()`, `BEGIN`} { // what is counted below begins at nothing
			if _, err := conn.Exec(t.Context(), sql); err != nil {
				t.Fatal(err)
			}
		}
		append500(10)
		const count = `SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) FROM pg_stat_xact_user_tables WHERE relname = 'audit_record'`
		if err := conn.QueryRow(t.Context(), count).Scan(&read); err != nil || read > 0 {
			t.Errorf("%s: %d records are read, %v", what, read, err)
		}
		if _, err := conn.Exec(t.Context(), `COMMIT; ANALYZE audit_record`); err != nil {
			t.Fatal(err)
		}
	}
}
