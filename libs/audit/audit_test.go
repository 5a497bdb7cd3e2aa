package audit_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
)

const tenant = "01900000-0000-7000-8000-0000000000a1"

const schema = "-- +goose Up\n" + audit.Queue + `
CREATE TABLE thing (id bigint PRIMARY KEY, name text NOT NULL);
-- +goose StatementBegin
DO $$
DECLARE service text := current_setting('app.service_role');
BEGIN
	EXECUTE format('GRANT SELECT, INSERT, DELETE ON audit_entry TO %I', service);
	EXECUTE format('GRANT USAGE ON SEQUENCE audit_entry_seq_seq TO %I', service);
	EXECUTE format('GRANT SELECT, UPDATE ON audit_lease TO %I', service);
	EXECUTE format('GRANT SELECT, INSERT, UPDATE ON thing TO %I', service);
END $$;
-- +goose StatementEnd
`

func open(t testing.TB) *pg.DB {
	t.Helper()
	database := testkit.Postgres(t, fstest.MapFS{"00001_audit.sql": {Data: []byte(schema)}})
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

func send(t *testing.T, db *pg.DB, fill func(b *pg.Batch)) {
	t.Helper()
	b := pg.Global()
	fill(b)
	if err := db.Send(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func somebody() context.Context {
	return principal.With(context.Background(), principal.Principal{TenantID: tenant, Kind: principal.Session, UserID: "u", CredentialID: "family"})
}

func entry(action string) audit.Entry {
	return audit.Of(somebody(), time.Now(), uuid.NewV7, action)
}

// collector is where a relay delivers to.
type collector struct {
	mu      sync.Mutex
	got     []audit.Entry
	sizes   []int
	refused error
}

func (c *collector) deliver(_ context.Context, entries []audit.Entry) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused != nil {
		return c.refused
	}
	c.got, c.sizes = append(c.got, entries...), append(c.sizes, len(entries))
	return nil
}

func (c *collector) refuse(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = err
}

func (c *collector) actions() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, e := range c.got {
		list = append(list, e.Action)
	}
	return list
}

// start runs a relay; stop ends it and waits.
func start(t *testing.T, db *pg.DB, deliver audit.Deliver, o audit.Options) (stop func()) {
	t.Helper()
	relay, err := audit.NewRelay(db, slog.New(slog.DiscardHandler), deliver, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = relay.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

func waiting(t *testing.T, db *pg.DB) (n int64) {
	t.Helper()
	send(t, db, func(b *pg.Batch) { pg.Value(b, &n, `SELECT coalesce(sum(number), 0) FROM audit_entry`) })
	return n
}

func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			t.Fatal("not in time")
		}
		<-time.After(time.Millisecond) // there is nothing to wait on but the database itself
	}
}

func TestOfTakesWhoAsksAndWhichRequest(t *testing.T) {
	t.Parallel()
	id := trace.TraceID{1, 2, 3}
	ctx := trace.ContextWithSpanContext(somebody(), trace.NewSpanContext(trace.SpanContextConfig{TraceID: id, SpanID: trace.SpanID{1}}))
	at := time.Date(2026, 3, 14, 9, 26, 53, 589_793_238, time.FixedZone("", 3600))
	got := audit.Of(ctx, at, uuid.NewV7, "patient.read").About(7)
	if uuid.MustParse(got.ID).Version() != 7 {
		t.Error(got.ID)
	}
	seven := int64(7)
	want := audit.Entry{
		ID: got.ID, At: time.Date(2026, 3, 14, 8, 26, 53, 589e6, time.UTC), TenantID: tenant, Actor: principal.Actor{Type: "user", ID: "u"},
		CredentialID: "family", Action: "patient.read", PatientID: &seven, Outcome: audit.Success, TraceID: id.String(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.About(0).PatientID != nil || got.Failed().Outcome != audit.Failure || got.In("x").TenantID != "x" {
		t.Error("changed copies are not changed")
	}
	if got.By(principal.Actor{Type: "user", ID: "v"}, "").Actor.ID != "v" {
		t.Error("by another")
	}
	var tenants []string
	for i := range audit.MostTenants + 5 {
		tenants = append(tenants, fmt.Sprint(i))
	}
	each := got.InEach(uuid.NewV7, tenants...)
	if len(each) != audit.MostTenants || each[1].TenantID != "1" || each[0].ID == each[1].ID || each[1].Action != got.Action {
		t.Errorf("%d entries", len(each))
	}
	if len(got.InEach(uuid.NewV7)) != 0 {
		t.Error("an event of nobody's")
	}
}

func TestAnEntryStandsOrFallsWithItsBatch(t *testing.T) {
	t.Parallel()
	db := open(t)
	b := pg.Global()
	audit.Keep(b, entry("kept"))
	b.Exec(`SELECT 1 / 0`)
	if err := db.Send(t.Context(), b); err == nil || waiting(t, db) != 0 {
		t.Errorf("%v, %d kept", err, waiting(t, db))
	}
	b = pg.Global()
	b.Exec(`INSERT INTO thing VALUES (1, 'one')`)
	audit.Keep(b, entry("kept").In(""))
	if err := db.Send(t.Context(), b); err == nil {
		t.Error("a change with an entry of no tenant")
	}
	send(t, db, func(b *pg.Batch) { audit.Keep(b, entry("a"), entry("b")) })
	if waiting(t, db) != 2 {
		t.Error("not both are kept")
	}
}

func TestWhatIsKeptIsWhatHappened(t *testing.T) {
	t.Parallel()
	db := open(t)
	type thing struct {
		ID   int64
		Name string
	}
	var first, second int64
	var made, none *thing
	send(t, db, func(b *pg.Batch) {
		audit.Change(b, &first, entry("made"), `INSERT INTO thing VALUES ($1, $2)`, int64(1), "one")
		audit.Change(b, &second, entry("not made"), `INSERT INTO thing VALUES ($1, $2) ON CONFLICT DO NOTHING`, int64(1), "one")
		audit.ChangeRow(b, &made, entry("renamed"), `UPDATE thing SET name = $2 WHERE id = $1 RETURNING id, name`, int64(1), "uno")
		audit.ChangeRow(b, &none, entry("not renamed"), `UPDATE thing SET name = $2 WHERE id = $1 RETURNING id, name`, int64(2), "dos")
	})
	if first != 1 || second != 0 || none != nil || !cmp.Equal(made, &thing{1, "uno"}) {
		t.Error(first, second, made, none)
	}
	if diff := cmp.Diff([]string{"made", "renamed"}, queued(t, db)); diff != "" {
		t.Error(diff)
	}
}

// queued is the actions in the queue.
func queued(t *testing.T, db *pg.DB) (list []string) {
	t.Helper()
	var rows []struct{ Action string }
	send(t, db, func(b *pg.Batch) {
		pg.Rows(b, &rows, `SELECT e->>'action' AS action FROM audit_entry, json_array_elements(entries) AS e ORDER BY seq`)
	})
	for _, r := range rows {
		list = append(list, r.Action)
	}
	return list
}

func TestReadsAtTheSameTimeShareACommitAndEachIsKept(t *testing.T) {
	t.Parallel()
	db := open(t)
	ledger := audit.NewLedger(db)
	const readers, each = 16, 20
	var reading sync.WaitGroup
	for range readers {
		reading.Go(func() {
			for range each {
				e := entry("patient.read").About(7)
				if err := ledger.Keep(t.Context(), e); err != nil {
					t.Error(err)
					return
				}
				var there bool // at once, for whoever looks
				b := pg.Global()
				pg.Value(b, &there, `
					SELECT EXISTS (SELECT FROM audit_entry, json_array_elements(entries) AS e WHERE e->>'id' = $1 AND e->>'patientId' = '7' AND e->>'tenantId' = $2)`, e.ID, tenant)
				if err := db.Send(t.Context(), b); err != nil || !there {
					t.Error("not there: ", err)
				}
			}
		})
	}
	reading.Wait()
	var kept, commits int64
	send(t, db, func(b *pg.Batch) {
		pg.Value(b, &kept, `SELECT count(DISTINCT e->>'id') FROM audit_entry, json_array_elements(entries) AS e`)
		pg.Value(b, &commits, `SELECT count(*) FROM audit_entry WHERE number = json_array_length(entries)`)
	})
	if kept != readers*each || commits >= kept {
		t.Errorf("%d kept in %d commits", kept, commits)
	}
}

func TestAReadThatCannotBeKeptIsTold(t *testing.T) {
	t.Parallel()
	db := open(t)
	ledger := audit.NewLedger(db)
	if err := ledger.Keep(t.Context(), entry("a").In("")); err == nil {
		t.Error("an entry of no tenant")
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := ledger.Keep(gone, entry("b")); err != nil && !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
	if err := ledger.Keep(t.Context(), entry("c")); err != nil {
		t.Error("one who left took another along: ", err)
	}
	db.Close()
	if err := ledger.Keep(t.Context(), entry("d")); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

func TestTheRelayDeliversInOrderWholeAndOnce(t *testing.T) {
	t.Parallel()
	db, to := open(t), &collector{}
	failed := entry("0").About(9).Failed()
	send(t, db, func(b *pg.Batch) { audit.Keep(b, failed) })
	want := []string{"0"}
	for i := range 24 {
		want = append(want, fmt.Sprint(i+1))
		send(t, db, func(b *pg.Batch) { audit.Keep(b, entry(want[i+1])) })
	}
	start(t, db, audit.To(to.deliver), audit.Options{Batch: 10, Poll: 5 * time.Millisecond})
	eventually(t, func() bool { return waiting(t, db) == 0 })
	if diff := cmp.Diff(want, to.actions()); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(to.sizes, []int{10, 10, 5}) {
		t.Errorf("deliveries of %v", to.sizes)
	}
	if diff := cmp.Diff(failed, to.got[0], cmp.Transformer("UTC", time.Time.UTC)); diff != "" {
		t.Error(diff)
	}
}

func TestAnEntryThatIsCommittedLateIsNotPassedOver(t *testing.T) {
	t.Parallel()
	db, to := open(t), &collector{}
	send(t, db, func(b *pg.Batch) { // its number is given, and is free until it commits
		b.Exec(`SELECT nextval(pg_get_serial_sequence('audit_entry', 'seq'))`)
		audit.Keep(b, entry("early"))
	})
	start(t, db, audit.To(to.deliver), audit.Options{Poll: time.Millisecond, FullLook: 50 * time.Millisecond})
	eventually(t, func() bool { return waiting(t, db) == 0 })
	send(t, db, func(b *pg.Batch) {
		b.Exec(`INSERT INTO audit_entry (seq, entries) OVERRIDING SYSTEM VALUE VALUES (1, $1)`, audit.List(entry("late")))
	})
	eventually(t, func() bool { return waiting(t, db) == 0 })
	if diff := cmp.Diff([]string{"early", "late"}, to.actions()); diff != "" {
		t.Error(diff)
	}
}

func TestWhatCannotBeDeliveredWaits(t *testing.T) {
	t.Parallel()
	db, to := open(t), &collector{refused: errors.New("away")}
	send(t, db, func(b *pg.Batch) { audit.Keep(b, entry("a"), entry("b")) })
	tried := make(chan struct{}, 100)
	deliver := func(ctx context.Context, entries []audit.Entry) error {
		defer func() { tried <- struct{}{} }()
		return to.deliver(ctx, entries)
	}
	start(t, db, audit.To(deliver), audit.Options{Poll: time.Millisecond, FirstPause: time.Millisecond, LongestPause: time.Millisecond})
	<-tried
	<-tried
	if waiting(t, db) != 2 {
		t.Error("removed though it was not delivered")
	}
	to.refuse(nil)
	eventually(t, func() bool { return waiting(t, db) == 0 })
	if diff := cmp.Diff([]string{"a", "b"}, to.actions()); diff != "" {
		t.Error(diff)
	}
}

func TestARelayThatEndsDeliversWhatIsThere(t *testing.T) {
	t.Parallel()
	db, to := open(t), &collector{}
	stop := start(t, db, audit.To(to.deliver), audit.Options{Poll: time.Hour})
	send(t, db, func(b *pg.Batch) { audit.Keep(b, entry("last")) })
	stop()
	// Twice, where the end came between a delivery and its being noted: it is at least once.
	if delivered := slices.Compact(to.actions()); waiting(t, db) != 0 || strings.Join(delivered, " ") != "last" {
		t.Errorf("%d wait, delivered %v", waiting(t, db), delivered)
	}
}

func TestOfTwoRelaysOneWorksAndTheOtherFollows(t *testing.T) {
	t.Parallel()
	db, first, second := open(t), &collector{}, &collector{}
	o := audit.Options{Poll: time.Millisecond, Batch: 5}
	stop := start(t, db, audit.To(first.deliver), o)
	send(t, db, func(b *pg.Batch) { audit.Keep(b, entry("a")) })
	eventually(t, func() bool { return waiting(t, db) == 0 })
	start(t, db, audit.To(second.deliver), o)
	for range 50 {
		send(t, db, func(b *pg.Batch) { audit.Keep(b, entry("b")) })
	}
	eventually(t, func() bool { return waiting(t, db) == 0 })
	if len(first.actions()) != 51 || len(second.actions()) != 0 {
		t.Errorf("delivered %d and %d", len(first.actions()), len(second.actions()))
	}
	stop()
	send(t, db, func(b *pg.Batch) { audit.Keep(b, entry("c")) })
	eventually(t, func() bool { return waiting(t, db) == 0 })
	if diff := cmp.Diff([]string{"c"}, second.actions()); diff != "" {
		t.Error(diff)
	}
}

// The sum is written down once by hand: what was noted elsewhere must hold for ever.
func TestTheSumOfARecord(t *testing.T) {
	t.Parallel()
	patient := int64(4711)
	r := audit.Record{
		ID: "01991f5e-6f2b-7c3a-9d41-0c2f6b7a1e55", At: time.Date(2026, 3, 14, 9, 26, 53, 500e6, time.UTC), TenantID: tenant,
		Actor: principal.Actor{Type: "user", ID: "Zoë"}, CredentialID: "k", Action: "patient.read", PatientID: &patient,
		Outcome: audit.Success, PreviousHash: audit.Genesis,
	}
	// "".join(f"{len(x.encode())}:{x}," for x in fields), in Python
	if got := r.Sum(); got != "2cadf68a21fe4c060ad2f39d71a948ca33b338b516b73a75a5275a4ba7a5f7eb" {
		t.Error(got)
	}
}

func TestVerifyFindsEachWayToTamper(t *testing.T) {
	t.Parallel()
	chain := func() []audit.Record {
		var list []audit.Record
		last := audit.Genesis
		for i := range 4 {
			r := audit.Record{ID: fmt.Sprint(i), At: time.Unix(int64(i), 0), TenantID: tenant, Action: "patient.read", PreviousHash: last}
			r.Hash = r.Sum()
			list, last = append(list, r), r.Hash
		}
		return list
	}
	good := chain()
	if last, err := audit.Verify(audit.Genesis, good); err != nil || last != good[3].Hash {
		t.Error(last, err)
	}
	if _, err := audit.Verify(good[1].Hash, good[2:]); err != nil {
		t.Error("the second page:", err)
	}
	one := int64(1)
	for name, tamper := range map[string]func([]audit.Record) []audit.Record{
		"altered":   func(l []audit.Record) []audit.Record { l[1].Outcome = audit.Failure; return l },
		"a patient": func(l []audit.Record) []audit.Record { l[1].PatientID = &one; return l },
		"shifted":   func(l []audit.Record) []audit.Record { l[1].Action, l[1].Outcome = "patient.", "read"; return l },
		"removed":   func(l []audit.Record) []audit.Record { return slices.Delete(l, 1, 2) },
		"beheaded":  func(l []audit.Record) []audit.Record { return l[1:] },
		"put in":    func(l []audit.Record) []audit.Record { return slices.Insert(l, 1, l[1]) },
		"exchanged": func(l []audit.Record) []audit.Record { l[1], l[2] = l[2], l[1]; return l },
		"hash anew": func(l []audit.Record) []audit.Record { l[1].Outcome = "x"; l[1].Hash = l[1].Sum(); return l },
	} {
		if _, err := audit.Verify(audit.Genesis, tamper(chain())); !errors.Is(err, audit.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
