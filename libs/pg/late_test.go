package pg_test

import (
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

// late reads all notes in the way of what may be old.
func late(t *testing.T, db *pg.DB) (notes []note) {
	t.Helper()
	b := pg.Snapshot(tenant)
	pg.Rows(b, &notes, `SELECT id, text FROM note ORDER BY id`)
	if err := db.SendLate(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	return notes
}

// Another database stands in for a replica: what is read from it cannot come from anywhere else.
func TestWhatMayBeOldIsReadFromTheReplica(t *testing.T) {
	primary, copied := testkit.Postgres(t, migrations).URL, testkit.Postgres(t, migrations).URL
	for url, text := range map[string]string{primary: "new", copied: "old"} {
		b := pg.Tenant(tenant)
		b.Exec(`INSERT INTO note (tenant_id, id, text) VALUES ($1, 1, $2)`, tenant, text)
		if err := open(t, url).Send(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	nowhere := strings.Replace(copied, "@", "@127.0.0.1:1,", 1) // one of two hosts answers
	for name, test := range map[string]struct{ replica, want string }{
		"none": {"", "new"}, "there": {copied, "old"}, "one of two": {nowhere, "old"}, "away": {"postgres://a:b@127.0.0.1:1/c", "new"},
	} {
		db, err := pg.Open(pg.Config{URL: primary, ReadURL: test.replica, MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got := late(t, db); len(got) != 1 || got[0].Text != test.want {
				t.Errorf("%s: read %v, want %s", name, got, test.want)
			}
		}
		began := time.Now()
		if late(t, db); time.Since(began) > 200*time.Millisecond {
			t.Errorf("%s: a read waited %s", name, time.Since(began))
		}
		db.Close()
	}
	if _, err := pg.Open(pg.Config{URL: primary, ReadURL: "postgres://u:secret@h:port", MaxConns: 2}); err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "DATABASE_READ_URL") {
		t.Errorf("a wrong address: %v", err)
	}
}
