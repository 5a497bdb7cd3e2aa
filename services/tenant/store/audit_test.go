package store_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/store"
)

// entry is one of a context without a principal.
func entry(id, action string) audit.Entry {
	e := audit.Of(context.Background(), time.Now(), uuid.NewV7, action).In(id)
	return e.By(principal.Actor{Type: "user", ID: user}, "credential")
}

func append1(t *testing.T, s *store.Store, entries ...audit.Entry) {
	t.Helper()
	if err := s.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

// auditor may read the trail of a tenant.
func auditor(t *testing.T, id string) context.Context {
	t.Helper()
	return principal.With(t.Context(), principal.Principal{TenantID: id, Kind: principal.APIKey, Permissions: principal.AuditRead})
}

func verified(t *testing.T, s *store.Store, id string) tenant.Verification {
	t.Helper()
	v, err := (&tenant.Trail{Store: s}).Verify(auditor(t, id), 0)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// asOwner runs statements as the administrator, whom nothing binds.
func asOwner(t *testing.T, database testkit.Database, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for _, sql := range statements {
		if tag, err := conn.Exec(t.Context(), sql); err != nil || tag.RowsAffected() == 0 {
			t.Fatalf("%s: %v, %v", sql, tag, err)
		}
	}
}

func TestAppendedEntriesAreAChainThatOthersCanVerify(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	plain := entry(one, "patient.read").About(4711)
	odd := entry(one, "patient.list").Failed()
	odd.CredentialID, odd.TraceID, odd.Actor.ID = "Zoë,3:a,😀", "0af7651916cd43dd8448eb211c80319c", ""
	append1(t, s, plain, entry(two, "patient.read"), odd)
	append1(t, s, entry(one, "key.revoke"))
	list, total, err := s.Records(t.Context(), one, tenant.AuditFilter{}, page.Request{Size: 50})
	if err != nil || total != 3 || len(list) != 3 {
		t.Fatalf("%d of %d, %v", len(list), total, err)
	}
	var records []audit.Record
	for i, r := range list {
		records = append(records, r.Record)
		if r.Seq != int64(i+1) || uuid.MustParse(r.ID).Version() != 7 || i > 0 && r.ID <= list[i-1].ID {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	if last, err := audit.Verify(audit.Genesis, records); err != nil || last != records[2].Hash {
		t.Error(last, err)
	}
	want := audit.Record{
		ID: records[1].ID, At: odd.At, Actor: odd.Actor, TenantID: one, CredentialID: odd.CredentialID, Action: odd.Action,
		Outcome: audit.Failure, TraceID: odd.TraceID, PreviousHash: records[0].Hash, Hash: records[1].Hash,
	}
	if diff := cmp.Diff(want, records[1]); diff != "" {
		t.Error(diff)
	}
	if v := verified(t, s, one); !v.Intact || !v.Complete || v.Records != 3 || v.Hash != records[2].Hash {
		t.Errorf("%+v", v)
	}
	if v := verified(t, s, uuid.NewString()); !v.Intact || !v.Complete || v.Total != 0 {
		t.Errorf("nothing recorded: %+v", v)
	}
}

func TestAnEntryThatComesTwiceIsRecordedOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	first, second := entry(one, "patient.read"), entry(one, "patient.list")
	append1(t, s, first, first)
	append1(t, s, first, second)
	if v := verified(t, s, one); !v.Intact || v.Total != 2 {
		t.Errorf("%+v", v)
	}
}

func TestManyWhoAppendAtOnceMakeOneChain(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	const writers, batches, each = 4, 10, 20
	var wait sync.WaitGroup
	for range writers {
		wait.Go(func() {
			for range batches {
				var entries []audit.Entry
				for range each {
					entries = append(entries, entry(one, "patient.read"), entry(two, "patient.read"))
				}
				rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
				if err := s.Append(t.Context(), entries); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	for _, id := range []string{one, two} {
		if v := verified(t, s, id); !v.Intact || v.Total != writers*batches*each {
			t.Errorf("%s: %+v", id, v)
		}
	}
}

// Each way to tamper is tried by who owns the database.
func TestTamperingShows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql    []string
		broken int // the record that shows it, from 1; 0: none of those that are there
	}{
		"altered":            {[]string{`UPDATE audit_record SET actor_id = 'somebody else' WHERE seq = 3`}, 3},
		"moved to a patient": {[]string{`UPDATE audit_record SET patient_id = 1 WHERE seq = 1`}, 1},
		"hash made anew":     {[]string{`UPDATE audit_record SET outcome = 'failure', hash = sha256(hash) WHERE seq = 2`}, 2},
		"removed":            {[]string{`DELETE FROM audit_record WHERE seq = 2`}, 3},
		"removed first":      {[]string{`DELETE FROM audit_record WHERE seq = 1`}, 2},
		"removed and closed": {[]string{`DELETE FROM audit_record WHERE seq = 2`, `UPDATE audit_record SET seq = 2 WHERE seq = 3`, `UPDATE audit_record SET seq = 3 WHERE seq = 4`, `UPDATE audit_head SET records = 3`}, 3},
		"removed at the end": {[]string{`DELETE FROM audit_record WHERE seq = 4`}, 0},
		"all removed":        {[]string{`DELETE FROM audit_record`}, 0},
		"head set back":      {[]string{`DELETE FROM audit_record WHERE seq = 4`, `UPDATE audit_head SET records = 3`}, 0},
		"exchanged":          {[]string{`UPDATE audit_record SET seq = 9 WHERE seq = 2`, `UPDATE audit_record SET seq = 2 WHERE seq = 3`, `UPDATE audit_record SET seq = 3 WHERE seq = 9`}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, database := open(t)
			for range 4 {
				append1(t, s, entry(one, "patient.read").About(2))
			}
			list, err := s.Chain(t.Context(), one, 0, 4)
			if err != nil {
				t.Fatal(err)
			}
			asOwner(t, database, c.sql...)
			want := ""
			if c.broken > 0 {
				want = list[c.broken-1].ID
			}
			if v := verified(t, s, one); v.Intact || !v.Complete || v.BrokenID != want {
				t.Errorf("%+v, want %s", v, want)
			}
		})
	}
}

func TestAVerificationGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	for range 5 {
		append1(t, s, entry(one, "patient.read"))
	}
	trail := &tenant.Trail{Store: s}
	if v, err := trail.Verify(auditor(t, one), 3); err != nil || !v.Intact || !v.Complete || v.Records != 5 {
		t.Errorf("%+v, %v", v, err)
	}
	asOwner(t, database, `UPDATE audit_record SET action = 'patient.list' WHERE seq = 5`)
	if v, err := trail.Verify(auditor(t, one), 3); err != nil || v.Intact || v.Records != 4 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestFiltersOfTheTrail(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	start := time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		e := entry(one, "patient.read").About(int64(1 + i%2))
		if i >= 8 {
			e = entry(one, "key.revoke").By(principal.Actor{Type: "api_key", ID: "other"}, "")
		}
		e.At = start.Add(time.Duration(i) * time.Hour)
		append1(t, s, e, entry(two, "patient.read").About(1))
	}
	for name, c := range map[string]struct {
		f    tenant.AuditFilter
		want int64
	}{
		"none":        {tenant.AuditFilter{}, 10},
		"patient":     {tenant.AuditFilter{PatientID: 1}, 4},
		"actor":       {tenant.AuditFilter{Actor: "other"}, 2},
		"action":      {tenant.AuditFilter{Action: "patient.read"}, 8},
		"from":        {tenant.AuditFilter{From: start.Add(3 * time.Hour)}, 7},
		"to":          {tenant.AuditFilter{To: start.Add(3 * time.Hour)}, 3},
		"all of them": {tenant.AuditFilter{PatientID: 2, Actor: user, Action: "patient.read", From: start, To: start.Add(4 * time.Hour)}, 2},
		"nobody":      {tenant.AuditFilter{PatientID: 3}, 0},
	} {
		var seen []int64
		for after := ""; ; {
			list, total, err := s.Records(t.Context(), one, c.f, page.Request{Size: 3, After: after})
			if err != nil || total != c.want {
				t.Fatalf("%s: %d, want %d, %v", name, total, c.want, err)
			}
			for _, r := range list[:min(3, len(list))] {
				seen = append(seen, r.Seq)
			}
			if len(list) <= 3 {
				break
			}
			after = strconv.FormatInt(list[2].Seq, 10)
		}
		if int64(len(seen)) != c.want || !slices.IsSorted(seen) {
			t.Errorf("%s: %v", name, seen)
		}
	}
}

func TestTheServiceCanNeitherChangeNorRemoveARecord(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	append1(t, s, entry(one, "patient.read"))
	conn, err := pgx.Connect(t.Context(), database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for setting, want := range map[string]int{"": 0, one: 1, two: 0} {
		if _, err := conn.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, false)`, setting); err != nil {
			t.Fatal(err)
		}
		var records, heads int
		if err := conn.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM audit_record), (SELECT count(*) FROM audit_head)`).Scan(&records, &heads); err != nil {
			t.Fatal(err)
		}
		if records != want || heads != want {
			t.Errorf("as %q: %d records, %d heads", setting, records, heads)
		}
	}
	for _, sql := range []string{
		`UPDATE audit_record SET action = ''`, `DELETE FROM audit_record`, `TRUNCATE audit_record`, `UPDATE audit_head SET records = 0`,
		`DELETE FROM audit_head`, `INSERT INTO audit_record SELECT * FROM audit_record`, `INSERT INTO audit_head SELECT * FROM audit_head`,
		`UPDATE audit_entry SET number = 0`, `TRUNCATE audit_entry`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

func TestWhatIsDoneToATenantIsKeptInTheQueue(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	if _, err := s.ChangePlan(t.Context(), one, tenant.PlanStandard, entry(one, tenant.PlanChange)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{one, two} { // the second is not there: nothing happened, nothing is kept
		if _, err := s.PutMember(t.Context(), membership(id, user, owner), entry(id, tenant.MemberChange)); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, one, another, clinician)
	for range 2 { // who is gone cannot be removed
		if _, err := s.RemoveMember(t.Context(), one, another, entry(one, tenant.MemberRemove)); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	rows, err := conn.Query(t.Context(), `
		SELECT e->>'action' || ' ' || (e->>'tenantId') || ' ' || (e->>'outcome')
		FROM audit_entry, json_array_elements(entries) AS e ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"tenant.create " + one + " success", "plan.change " + one + " success"}
	for _, action := range []string{tenant.MemberChange, tenant.MemberChange, tenant.MemberRemove} {
		want = append(want, action+" "+one+" success")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
