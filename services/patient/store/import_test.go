package store_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

// newcomer is a patient without children, whom a line brings.
func newcomer(by principal.Principal, line int64, content string) patient.Newcomer {
	one := patient.Newcomer{Line: line, Patient: ana(), Entry: entry(by, "patient.create")}
	one.MiddleName = content
	copy(one.Digest[:], content)
	return one
}

// newcomers are those of so many lines.
func newcomers(by principal.Principal, first, last int64) (list []patient.Newcomer) {
	for line := first; line <= last; line++ {
		list = append(list, newcomer(by, line, "line "+strconv.FormatInt(line, 10)))
	}
	return list
}

func keyed(by principal.Principal, value string) idempotency.Key {
	key, _ := idempotency.Parse(by, &value, []byte("import"))
	return key
}

// take imports, and gives the ids; 0 where there is a fault, whose codes come besides.
func take(t *testing.T, s *store.Store, by principal.Principal, limit int, key idempotency.Key, list []patient.Newcomer) (ids []int64, codes []string) {
	t.Helper()
	done, err := s.Import(t.Context(), by, limit, key, list)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range done {
		ids = append(ids, one.ID)
		if one.Err != nil {
			codes = append(codes, code(one.Err))
		}
	}
	return ids, codes
}

func TestWhatIsImportedReadsBack(t *testing.T) {
	s, database := open(t)
	by := somebody()
	in := newcomers(by, 1, 3)
	past := patient.Interval{Until: moment(t, "2026-03-14T09:26:53.589Z")}
	in[0].Addresses = []patient.Address{
		{Child: child(t, 0), Line1: `{"1",} Main\`, Line2: "NULL", City: "", Country: "US", Use: "home"}, {Child: child(t, 0), Line1: "2"},
	}
	in[0].Aliases = []patient.Alias{
		{Child: child(t, 0), Type: "maiden", LastName: "Reis", Interval: patient.Interval{From: moment(t, "2026-03-14")}}, {Child: child(t, 0), Type: "alias", Interval: past},
	}
	in[2].Identifiers = []patient.Identifier{{
		Child: child(t, 0), Type: "MRN", Value: "1", Authority: patient.Authority{OrganizationID: "o", OrganizationName: "p", ExternalSystemID: "x", ExternalSystemName: "n"},
		SourceName: "s", Interval: patient.Interval{From: moment(t, "1999-01-01"), Until: moment(t, "2030-01-01T00:00:00Z")},
	}}
	in[2].Contacts = []patient.Contact{{Child: child(t, 0), System: "phone", Value: "(602) 955-5987", E164: "+16029555987", Use: "work"}}
	in[2].Patient, _ = patient.New(patient.Input{
		FirstName: some("Zo\u00eb"), LastName: some("L\u4e16"), DOB: some("1900-02-28"), MiddleName: some("M"), Prefix: some("Dr"), Suffix: some("Jr"), Gender: some("female"), Race: some("asian"),
		Ethnicity: some("declined"), SexAtBirth: some("intersex"), GenderIdentity: some("g"), PreferredLanguage: some("pt"), Last4SSN: some("6789"),
	}, now)

	ids, codes := take(t, s, by, 0, idempotency.Key{}, in)
	if len(ids) != 3 || len(codes) > 0 || ids[0] <= 0 || !slices.IsSorted(ids) || ids[2] >= 1<<53 {
		t.Fatal(ids, codes)
	}
	for n := range in {
		in[n].ID = ids[n]
		want := patient.Record{Patient: in[n].Patient, Addresses: of(in[n].Addresses, ids[n]), Aliases: of(in[n].Aliases, ids[n]), Identifiers: of(in[n].Identifiers, ids[n]), Contacts: of(in[n].Contacts, ids[n])}
		want.Aliases = slices.DeleteFunc(want.Aliases, func(a patient.Alias) bool { return !a.Active(now) })
		got, err := s.Record(t.Context(), by.TenantID, ids[n], now)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, got); diff != "" {
			t.Error(diff)
		}
		changes, total, _, err := s.History(t.Context(), by.TenantID, ids[n], page.Request{Size: 5}, entry(by, "history.read"))
		if err != nil || total != 1 || changes[0].Change != patient.Created || changes[0].ActorID != by.Actor().ID || !cmp.Equal(changes[0].Fields, patient.Diff(patient.Patient{}, in[n].Patient)) {
			t.Errorf("history %+v, %v", changes, err)
		}
	}
	if _, total, err := s.List(t.Context(), by.TenantID, page.Request{Size: 1}, entry(by, "patient.list")); err != nil || total != 3 {
		t.Errorf("%d patients, %v", total, err)
	}
	if list, total, err := s.List(t.Context(), somebody().TenantID, page.Request{Size: 1}, entry(by, "patient.list")); err != nil || total != 0 || len(list) != 0 {
		t.Errorf("a stranger sees %d patients, %v", total, err)
	}
	told := kept(t, database)
	for _, id := range ids {
		if want := fmt.Sprintf("patient.create %d success", id); !slices.Contains(told, want) {
			t.Errorf("%q is not kept: %v", want, told)
		}
	}
}

// of is children as they read back.
func of[N any, P interface {
	*N
	Base() *patient.Child
}](list []N, patientID int64) patient.Cut[N] {
	if list == nil {
		return patient.Cut[N]{}
	}
	for n := range list {
		P(&list[n]).Base().PatientID = patientID
	}
	return list
}

// A batch's entries are in rows of which some together are still a delivery that is taken.
func TestTheEntriesOfABatch(t *testing.T) {
	s, database := open(t)
	by := somebody()
	take(t, s, by, 0, idempotency.Key{}, newcomers(by, 1, patient.ImportBatch))
	rows, err := admin(t, database).Query(t.Context(), `SELECT number FROM audit_entry WHERE number = json_array_length(entries) ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	if numbers, err := pgx.CollectRows(rows, pgx.RowTo[int]); err != nil || !cmp.Equal(numbers, []int{500, 500}) {
		t.Error(numbers, err)
	}
}

func TestAKeyMakesEachLineRepeatable(t *testing.T) {
	s, database := open(t)
	by := somebody()
	key, other := keyed(by, "k"), keyed(by, "other")
	first, _ := take(t, s, by, 0, key, newcomers(by, 2, 5))
	// Otherwise cut, with a line before, one between and one behind.
	again, codes := take(t, s, by, 0, key, newcomers(by, 1, 3))
	rest, _ := take(t, s, by, 0, key, newcomers(by, 3, 6))
	if len(codes) > 0 || !cmp.Equal(again[1:], first[:2]) || !cmp.Equal(rest[:3], first[1:]) || slices.Contains(first, again[0]) || slices.Contains(first, rest[3]) {
		t.Errorf("%v, then %v and %v, %v", first, again, rest, codes)
	}
	changed := newcomers(by, 4, 7)
	changed[1] = newcomer(by, 5, "another")
	ids, codes := take(t, s, by, 0, key, changed)
	if !cmp.Equal(codes, []string{"idempotency_key_reused"}) || ids[0] != first[2] || ids[1] != 0 || ids[2] != rest[3] {
		t.Errorf("%v, %v", ids, codes)
	}
	if ids, _ := take(t, s, by, 0, key, newcomers(by, 1002, 1005)); slices.Contains(first, ids[0]) {
		t.Errorf("the next block answers %v", ids)
	}
	if ids, _ := take(t, s, by, 0, other, newcomers(by, 2, 5)); slices.Contains(first, ids[0]) {
		t.Errorf("under another key %v", ids)
	}
	if ids, _ := take(t, s, by, 0, idempotency.Key{}, newcomers(by, 2, 5)); slices.Contains(first, ids[0]) {
		t.Errorf("under no key %v", ids)
	}
	stranger := somebody()
	if ids, codes := take(t, s, stranger, 0, keyed(stranger, "k"), newcomers(stranger, 2, 5)); slices.Contains(first, ids[0]) || len(codes) > 0 {
		t.Errorf("a stranger's %v, %v", ids, codes)
	}
	const want = 7 + 4 + 4 + 4
	if _, total, err := s.List(t.Context(), by.TenantID, page.Request{Size: 1}, entry(by, "patient.list")); err != nil || total != want {
		t.Errorf("%d patients, want %d, %v", total, want, err)
	}
	if entries := len(kept(t, database)); entries != want+4+1 { // the stranger's, and the list
		t.Errorf("%d entries", entries)
	}
}

// Imports under one key that know nothing of each other store each line once.
func TestLinesAreStoredOnceHoweverManyTry(t *testing.T) {
	s, _ := open(t)
	by := somebody()
	const last = 40
	var mu sync.Mutex
	found := map[int64]map[int64]bool{}
	var wait sync.WaitGroup
	for worker := range int64(6) {
		wait.Go(func() {
			for first := int64(1); first <= last; first += worker + 3 {
				list := newcomers(by, first, min(first+worker+2, last))
				done, err := s.Import(t.Context(), by, 0, keyed(by, "k"), list)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				for n, one := range done {
					if found[list[n].Line] == nil {
						found[list[n].Line] = map[int64]bool{}
					}
					found[list[n].Line][one.ID] = true
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	ids := map[int64]bool{}
	for line, all := range found {
		if len(all) != 1 {
			t.Errorf("line %d is %v", line, all)
		}
		for id := range all {
			ids[id] = true
		}
	}
	_, total, err := s.List(t.Context(), by.TenantID, page.Request{Size: 1}, entry(by, "patient.list"))
	if len(ids) != last || total != last || err != nil {
		t.Errorf("%d ids, %d patients, %v", len(ids), total, err)
	}
}

// Imports, creates and deletes of one tenant at once never come past the plan's limit, and lines are refused only when it is
// reached.
func TestImportsHoldThePlansLimit(t *testing.T) {
	s, _ := open(t)
	const limit = 50
	for range 3 {
		by := somebody()
		var mu sync.Mutex
		made := 0
		var wait sync.WaitGroup
		for worker := range 6 {
			wait.Go(func() {
				for round := range 4 {
					n := 0
					if worker < 2 {
						if _, _, err := s.Create(t.Context(), ana(), by, limit, idempotency.Key{}, nil, entry(by, "patient.create")); err == nil {
							n = 1
						} else if !fault.Is(err, fault.PlanLimit) {
							t.Error(err)
						}
					} else {
						done, err := s.Import(t.Context(), by, limit, keyed(by, fmt.Sprint(worker, round)), newcomers(by, 1, 5))
						if err != nil {
							t.Error(err)
						}
						full := false
						for _, one := range done {
							if full = full || one.Err != nil; one.Err == nil {
								n++
							}
							if full != (one.Err != nil) || full && !fault.Is(one.Err, fault.PlanLimit) {
								t.Errorf("%+v", done)
							}
						}
					}
					mu.Lock()
					made += n
					mu.Unlock()
				}
			})
		}
		wait.Wait()
		if _, total, err := s.List(t.Context(), by.TenantID, page.Request{Size: 1}, entry(by, "patient.list")); err != nil || total != limit || made != limit {
			t.Errorf("%d patients, %d told, %v", total, made, err)
		}
		if ids, codes := take(t, s, by, limit, keyed(by, "2 0"), newcomers(by, 1, 5)); len(ids) != 5 || slices.Contains(codes, "idempotency_key_reused") {
			t.Errorf("a repeat on a full plan: %v, %v", ids, codes)
		}
	}
}

func TestOneRunAtATime(t *testing.T) {
	s, database := open(t)
	by := somebody()
	run := func(value string) patient.Run {
		return patient.Run{Key: keyed(by, value), Holder: uuid.Must(uuid.NewV7()), Lease: time.Minute}
	}
	first, second, elsewhere := run("k"), run("k"), run("l")
	begin := func(r patient.Run) string { return code(s.BeginImport(t.Context(), r)) }
	held := func(r patient.Run) bool {
		ok, err := s.HoldImport(t.Context(), r)
		if err != nil {
			t.Error(err)
		}
		return ok
	}
	if got := begin(first) + begin(elsewhere) + begin(second); got != "idempotency_key_in_use" || !held(first) || held(second) {
		t.Error(got)
	}
	if err := s.EndImport(t.Context(), second); err != nil || begin(second) == "" { // it is not its own to end
		t.Error(err)
	}
	if err := s.EndImport(t.Context(), first); err != nil || begin(second) != "" || held(first) || !held(second) {
		t.Errorf("after the first: %v", err)
	}
	conn := admin(t, database)
	if _, err := conn.Exec(t.Context(), `UPDATE patient_import_run SET until = now() - interval '1 millisecond' WHERE key = 'k'`); err != nil {
		t.Fatal(err)
	}
	if got := begin(first); got != "" || held(second) { // who was not heard of any more
		t.Error(got)
	}

	// A key is of one request, whichever comes first.
	name := "k"
	key, _ := idempotency.Parse(by, &name, []byte("create"))
	if _, _, err := s.Create(t.Context(), ana(), by, 0, key, []byte("{}"), entry(by, "patient.create")); code(err) != "idempotency_key_reused" {
		t.Error(err)
	}
	name = "c"
	key, _ = idempotency.Parse(by, &name, []byte("create"))
	if _, _, err := s.Create(t.Context(), ana(), by, 0, key, []byte("{}"), entry(by, "patient.create")); err != nil {
		t.Fatal(err)
	}
	if got := begin(run("c")); got != "idempotency_key_reused" {
		t.Error(got)
	}
	var runs int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM patient_import_run WHERE key = 'c'`).Scan(&runs); err != nil || runs != 0 {
		t.Error(runs, err)
	}
}

// The second wall: the service's role, with statements that forget the tenant.
func TestRowLevelSecurityHidesImports(t *testing.T) {
	s, database := open(t)
	by := somebody()
	if err := s.BeginImport(t.Context(), patient.Run{Key: keyed(by, "k"), Holder: uuid.Must(uuid.NewV7()), Lease: time.Minute}); err != nil {
		t.Fatal(err)
	}
	take(t, s, by, 0, keyed(by, "k"), newcomers(by, 1, 2))
	conn, err := pgx.Connect(t.Context(), database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	for tenant, want := range map[string]int{"": 0, somebody().TenantID: 0, by.TenantID: 1} {
		if _, err := conn.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, false)`, tenant); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"patient_import", "patient_import_run"} {
			var sees int
			if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&sees); err != nil || sees != want {
				t.Errorf("as %q: sees %d rows of %s, %v", tenant, sees, table, err)
			}
			if _, err := conn.Exec(t.Context(), `DELETE FROM `+table); err == nil {
				t.Errorf("the service's role may delete from %s", table)
			}
		}
	}
}

// What imports kept expires with the keys, but for what one of them that is under way was begun with.
func TestExpiredImportsAreSwept(t *testing.T) {
	s, database := open(t)
	by := somebody()
	for _, value := range []string{"old", "new", "repeated"} {
		if err := s.BeginImport(t.Context(), patient.Run{Key: keyed(by, value), Holder: uuid.Must(uuid.NewV7()), Lease: time.Minute}); err != nil {
			t.Fatal(err)
		}
		take(t, s, by, 0, keyed(by, value), newcomers(by, 1, 2))
	}
	conn := admin(t, database)
	for _, age := range []string{
		`UPDATE patient_import SET created_at = now() - interval '25 hours' WHERE key <> 'new'`,
		`UPDATE patient_import_run SET until = now() - interval '25 hours' WHERE key = 'old'`,
		`UPDATE idempotency_key SET created_at = now() - interval '25 hours' WHERE key <> 'new'`,
		`UPDATE patient_import_run SET until = now() + interval '1 hour' WHERE key = 'repeated'`,
	} {
		if _, err := conn.Exec(t.Context(), age); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	go func() { _ = s.Sweep(ctx) }()
	for {
		rows, err := conn.Query(ctx, `SELECT key FROM patient_import UNION ALL SELECT key FROM patient_import_run UNION ALL SELECT key FROM idempotency_key ORDER BY key`)
		if err != nil {
			t.Fatal("they are still there")
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal("they are still there")
		}
		if strings.Join(keys, " ") == "new new new repeated repeated" {
			return
		}
	}
}
