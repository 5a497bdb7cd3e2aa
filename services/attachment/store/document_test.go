package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/store"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC)

func some[T any](v T) *T { return &v }

// open gives a store on a database of the test's own.
func open(t *testing.T) (*store.Store, testkit.Database) {
	t.Helper()
	database, distribute := carried.Postgres(t, store.Migrations(), store.Distribution())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 8, Distribute: distribute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return store.New(db, slog.New(slog.DiscardHandler)), database
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// entry is one of a tenant's actions.
func entry(tenant, action string) audit.Entry {
	by := principal.Principal{TenantID: tenant, Kind: principal.APIKey, CredentialID: "key"}
	return audit.Of(principal.With(context.Background(), by), now, uuid.NewV7, action)
}

// document is one of patient 7 that is not stored yet.
func document(t *testing.T, in attachment.Input) attachment.Document {
	t.Helper()
	d, faults := attachment.New(in, now)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	d.ID, d.PatientID = uuid.Must(uuid.NewV7()).String(), 7
	return d
}

func keep(t *testing.T, s *store.Store, tenant string, d attachment.Document) attachment.Document {
	t.Helper()
	if _, err := s.Create(t.Context(), tenant, d, idempotency.Key{}, 200, nil, entry(tenant, "document.create")); err != nil {
		t.Fatal(err)
	}
	return d
}

func create(t *testing.T, s *store.Store, tenant string, in attachment.Input) attachment.Document {
	t.Helper()
	return keep(t, s, tenant, document(t, in))
}

func read(t *testing.T, s *store.Store, tenant, id string) *attachment.Document {
	t.Helper()
	d, err := s.Read(t.Context(), tenant, 7, id, entry(tenant, "document.read"))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func search(t *testing.T, s *store.Store, tenant string, f attachment.Filter, part page.Request) ([]attachment.Document, int64) {
	t.Helper()
	list, total, err := s.Search(t.Context(), tenant, 7, f, part, entry(tenant, "document.list"))
	if err != nil {
		t.Fatal(err)
	}
	return list, total
}

func titles(list []attachment.Document) []string {
	names := []string{}
	for _, d := range list {
		names = append(names, d.Title)
	}
	return names
}

var everything = attachment.Input{
	Type: some("observation"), ContentType: some("text/plain"), Filename: some("a.txt"), Title: some("A"), Size: some("9007199254740992"),
	Payload: []byte(`{"b": 1.0, "a": [1e400, "\u00e9", "😀", {"x": 1, "x": 2}]}`),
}

func TestWhatIsCreatedReadsBack(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant := uuid.NewString()
	for _, in := range []attachment.Input{everything, {}} {
		want := create(t, s, tenant, in)
		if diff := cmp.Diff(&want, read(t, s, tenant, want.ID)); diff != "" {
			t.Error(diff)
		}
		list, _ := search(t, s, tenant, attachment.Filter{}, page.Request{Size: 50})
		if diff := cmp.Diff(want, list[len(list)-1]); diff != "" {
			t.Error("in a list: ", diff)
		}
	}
}

func TestPayloadsAreKeptByteForByte(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant := uuid.NewString()
	for _, payload := range []string{
		`1.0`, `1e400`, `-0`, `0.1e-0001`, `12345678901234567890123`, `true`, `""`, `"n/a "`, `[]`, `{ }`,
		`{"b":1,"a":2}`, `{"x":1,"x":2}`, `["\u00e9","é","\ud83d\ude00","😀","\u0000","\/","/"]`, "[\n\t1 ,\r 2]",
		`"` + strings.Repeat("a", 1<<20) + `"`, `"` + strings.Repeat(`\u0000`, 1<<20) + `"`,
	} {
		d := create(t, s, tenant, attachment.Input{Payload: []byte(payload)})
		if got := read(t, s, tenant, d.ID); string(got.Payload) != payload {
			t.Errorf("%.40s came back as %.40s", payload, got.Payload)
		}
	}
}

func TestSaveIsOverTheVersionRead(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant := uuid.NewString()
	before := create(t, s, tenant, everything)
	after, _ := before.With(attachment.Input{Type: some("document"), ContentType: some("a/b"), Filename: some("b"), Title: some("B"), Size: some("n/a")})
	after.Version, after.UpdatedAt = 2, now.Add(time.Hour)
	for i, want := range []bool{true, false} {
		if saved, err := s.Save(t.Context(), tenant, before, after, entry(tenant, "document.update")); err != nil || saved != want {
			t.Errorf("save %d: %v, %v", i, saved, err)
		}
	}
	if diff := cmp.Diff(&after, read(t, s, tenant, after.ID)); diff != "" {
		t.Error(diff)
	}
	if list, _ := search(t, s, tenant, attachment.Filter{Text: "b"}, page.Request{Size: 1}); len(list) != 1 {
		t.Error("it is not found by its new title")
	}
	for _, payload := range [][]byte{[]byte(`[]`), nil, []byte(`{}`)} {
		before, after.Payload, after.Version = after, payload, after.Version+1
		if saved, err := s.Save(t.Context(), tenant, before, after, entry(tenant, "document.update")); err != nil || !saved {
			t.Error(saved, err)
		}
		if diff := cmp.Diff(&after, read(t, s, tenant, after.ID)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestADeactivatedDocumentIsNotFound(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant := uuid.NewString()
	create(t, s, tenant, attachment.Input{Title: some("other")})
	before := create(t, s, tenant, attachment.Input{Title: some("gone")})
	after := before
	after.Version, after.DeactivatedAt = 2, &now
	if saved, err := s.Save(t.Context(), tenant, before, after, entry(tenant, "document.delete")); err != nil || !saved {
		t.Fatal(saved, err)
	}
	if d := read(t, s, tenant, before.ID); d != nil {
		t.Errorf("read %+v", d)
	}
	if d, err := s.Find(t.Context(), tenant, 7, before.ID, entry(tenant, "document.update")); d != nil || err != nil {
		t.Errorf("found %+v, %v", d, err)
	}
	for which, want := range map[attachment.Which][]string{
		attachment.ActiveOnly: {"other"}, attachment.InactiveOnly: {"gone"}, attachment.All: {"other", "gone"},
	} {
		list, total := search(t, s, tenant, attachment.Filter{Which: which}, page.Request{Size: 50})
		if diff := cmp.Diff(want, titles(list)); diff != "" || total != int64(len(want)) {
			t.Error(which, total, diff)
		}
	}
}

func TestADocumentIsOnePatientsAndOneTenantsOwn(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant, stranger := uuid.NewString(), uuid.NewString()
	header := "k"
	key, _ := idempotency.Parse(principal.Principal{TenantID: tenant}, &header)
	d := document(t, everything)
	if _, err := s.Create(t.Context(), tenant, d, key, 200, []byte("{}"), entry(tenant, "document.create")); err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]struct {
		tenant  string
		patient int64
	}{"another tenant": {stranger, 7}, "another patient": {tenant, 8}} {
		e := entry(other.tenant, "document.read")
		if got, err := s.Read(t.Context(), other.tenant, other.patient, d.ID, e); err != nil || got != nil {
			t.Errorf("%s read %v, %v", name, got, err)
		}
		if got, err := s.Find(t.Context(), other.tenant, other.patient, d.ID, e); err != nil || got != nil {
			t.Errorf("%s found %v, %v", name, got, err)
		}
		changed := d
		changed.PatientID, changed.Version = other.patient, 2
		if saved, err := s.Save(t.Context(), other.tenant, d, changed, e); err != nil || saved {
			t.Errorf("%s saved: %v", name, err)
		}
		if list, total, err := s.Search(t.Context(), other.tenant, other.patient, attachment.Filter{Which: attachment.All}, page.Request{Size: 50}, e); err != nil || len(list) != 0 || total != 0 {
			t.Errorf("%s listed %d of %d, %v", name, len(list), total, err)
		}
		if list, total, err := s.Echo(t.Context(), other.tenant, other.patient, page.Request{Size: 50}, true); err != nil || len(list) != 0 || total != 0 {
			t.Errorf("%s listed %d of %d, %v", name, len(list), total, err)
		}
	}

	// The second wall: the service's role, with queries that forget the tenant.
	conn := connect(t, database.URL)
	as := func(tenant string) {
		if _, err := conn.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, false)`, tenant); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"document", "idempotency_key"} {
		for setting, want := range map[string]bool{"": false, stranger: false, tenant: true} {
			as(setting)
			var sees bool
			if err := conn.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM `+table+`)`).Scan(&sees); err != nil || sees != want {
				t.Errorf("as %q: sees rows of %s: %v, %v", setting, table, sees, err)
			}
		}
	}
	as(stranger)
	if tag, err := conn.Exec(t.Context(), `UPDATE document SET title = 'Eve'`); err != nil || tag.RowsAffected() != 0 {
		t.Errorf("updated %d rows of another tenant, %v", tag.RowsAffected(), err)
	}
	for _, forbidden := range []string{
		`INSERT INTO idempotency_key (tenant_id, credential_id, key, request_hash, status, body, resource_id) VALUES ('` + tenant + `', '', 'k2', '', 1, '', '')`,
		`DELETE FROM document`, `TRUNCATE document`, `UPDATE idempotency_key SET status = 1`, `UPDATE blob_upload SET expires_at = now()`,
		`UPDATE audit_entry SET number = 1`, `ALTER TABLE document NO FORCE ROW LEVEL SECURITY`, `SET ROLE testkit_owner`,
	} {
		if _, err := conn.Exec(t.Context(), forbidden); err == nil {
			t.Errorf("the service's role may %s", forbidden)
		}
	}
}

func TestWhatIsSearchedFor(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant := uuid.NewString()
	at := map[string]time.Duration{"early": -time.Millisecond, "late": time.Millisecond}
	for _, in := range []attachment.Input{
		{Title: some("early"), Filename: some("100%_sure.pdf")},
		{Title: some("exact"), Filename: some("100 percent.pdf"), Type: some("observation")},
		{Title: some("late"), Type: some("wearable")},
		{Title: some("Straße nach ÅRHUS"), Filename: some("ΣΊΣΥΦΟΣ.pdf")},
		{Title: some("end"), Filename: some("begin")},
		{Title: some(`back\slash`), Type: some("structured")},
	} {
		d := document(t, in)
		d.CreatedAt = d.CreatedAt.Add(at[d.Title])
		keep(t, s, tenant, d)
	}
	const street = "Straße nach ÅRHUS"
	for asked, want := range map[attachment.Question][]string{
		{}:                                                               {"early", "exact", "late", street, "end", `back\slash`},
		{Type: some("any"), Active: some("all")}:                         {"early", "exact", "late", street, "end", `back\slash`},
		{Type: some("Observation")}:                                      {"exact"},
		{Type: some("document")}:                                         {"early", street, "end"},
		{Filename: some("%")}:                                            {"early"},
		{Filename: some("_")}:                                            {"early"},
		{Filename: some("100%")}:                                         {"early"},
		{Filename: some("1%r")}:                                          {},
		{Filename: some(`\`)}:                                            {`back\slash`},
		{Filename: some("PDF")}:                                          {"early", "exact", street},
		{Filename: some("STRASSE")}:                                      {street},
		{Filename: some("straße NACH århus")}:                            {street},
		{Filename: some("σίσυφος")}:                                      {street},
		{Filename: some("A")}:                                            {"early", "exact", "late", street, `back\slash`},
		{Filename: some("endbegin")}:                                     {},
		{Filename: some("dbeg")}:                                         {},
		{Filename: some("")}:                                             {"early", "exact", "late", street, "end", `back\slash`},
		{CreatedAfter: some("2026-03-14T09:26:53.589Z")}:                 {"exact", "late", street, "end", `back\slash`},
		{CreatedAfter: some("2026-03-14T10:26:53.59+01:00")}:             {"late"},
		{CreatedAfter: some("2026-03-14T09:26:53.5891Z")}:                {"exact", "late", street, "end", `back\slash`}, // instants are in milliseconds
		{CreatedAfter: some("2026-03-14")}:                               {"early", "exact", "late", street, "end", `back\slash`},
		{CreatedAfter: some("2026-03-15")}:                               {},
		{Type: some("document"), Filename: some("PDF")}:                  {"early", street},
		{Active: some("false")}:                                          {},
		{Type: some("wearable"), CreatedAfter: some("2026-03-14")}:       {"late"},
		{CreatedAfter: some("1800-01-01T00:00:00-01:00")}:                {"early", "exact", "late", street, "end", `back\slash`},
		{Type: some("document"), CreatedAfter: some("9999-12-31")}:       {},
		{Filename: some("PDF"), CreatedAfter: some("2026-03-14T09:27Z")}: nil, // no instant
	} {
		f, faults := asked.Filter()
		if want == nil {
			if len(faults) == 0 {
				t.Errorf("%+v is taken", asked)
			}
			continue
		}
		list, total := search(t, s, tenant, f, page.Request{Size: 50})
		if diff := cmp.Diff(want, titles(list)); diff != "" || total != int64(len(want)) {
			t.Errorf("%+v: %d, %s", f, total, diff)
		}
	}
}

func TestPagesByNumberAndByCursorAgreeWhileDocumentsAreAdded(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant := uuid.NewString()
	add := func(n int) {
		for range n {
			create(t, s, tenant, attachment.Input{Type: some("wearable")})
			create(t, s, tenant, attachment.Input{})
		}
	}
	add(9)
	f := attachment.Filter{Type: "wearable"}
	byNumber, total := search(t, s, tenant, f, page.Request{Page: 1, Size: 3})
	if total != 9 || len(byNumber) != 4 {
		t.Fatalf("%d entries of %d", len(byNumber), total)
	}
	first, _ := search(t, s, tenant, f, page.Request{Size: 3})
	add(4)
	byCursor, total := search(t, s, tenant, f, page.Request{Size: 3, Page: 1, After: first[2].ID})
	if diff := cmp.Diff(byNumber, byCursor); diff != "" || total != 13 {
		t.Error(total, diff)
	}
	again, _ := search(t, s, tenant, f, page.Request{Page: 1, Size: 3})
	if diff := cmp.Diff(byNumber, again); diff != "" {
		t.Error(diff)
	}
	seen := map[string]bool{}
	for after := ""; ; {
		list, _ := search(t, s, tenant, f, page.Request{Size: 3, After: after})
		for _, d := range list[:min(3, len(list))] {
			seen[d.ID] = true
		}
		if len(list) <= 3 {
			break
		}
		after = list[2].ID
		if len(seen) < 10 {
			add(1)
		}
	}
	if len(seen) < 13 {
		t.Errorf("a walk met %d documents", len(seen))
	}
}

// incompressible is a payload of so many bytes that PostgreSQL keeps apart from its row.
func incompressible(length int) []byte {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_"
	payload := make([]byte, length)
	for i := range payload {
		payload[i] = digits[rand.IntN(len(digits))]
	}
	payload[0], payload[length-1] = '"', '"'
	return payload
}

func TestPayloadsOfAPageAreBounded(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant := uuid.NewString()
	const each, fit = 1 << 20, attachment.MostPayload / (1 << 20)
	sizes := []int{}
	for range fit {
		sizes = append(sizes, each)
	}
	sizes = append(sizes, 0, 3, each, each, each) // all past the sum but the one without
	for _, size := range sizes {
		in := attachment.Input{}
		if size > 0 {
			in.Payload = incompressible(size)
		}
		create(t, s, tenant, in)
	}
	check := func(list []attachment.Document, from, shown int) {
		t.Helper()
		for i, d := range list {
			size := sizes[from+i]
			if want := i < shown && size > 0; (d.Payload != nil) != want || d.PayloadOmitted != (size > 0 && !want) || want && len(d.Payload) != size {
				t.Errorf("document %d: %d bytes of %d, omitted %v", from+i, len(d.Payload), size, d.PayloadOmitted)
			}
		}
	}
	list, _ := search(t, s, tenant, attachment.Filter{}, page.Request{Size: 50})
	check(list, 0, fit)
	later, _ := search(t, s, tenant, attachment.Filter{}, page.Request{Size: 50, After: list[2].ID})
	check(later, 3, fit+1) // sizes of 13 MiB, then 3 bytes, then two more
	whole, total, err := s.Echo(t.Context(), tenant, 7, page.Request{Size: 500}, true)
	if err != nil || total != int64(len(sizes)) {
		t.Fatal(total, err)
	}
	check(whole, 0, fit)
	// The one past the page is told of, and its payload is not fetched for that.
	two, _ := search(t, s, tenant, attachment.Filter{}, page.Request{Size: 2})
	if len(two) != 3 || two[1].Payload == nil || two[2].Payload != nil {
		t.Errorf("%d entries", len(two))
	}
	names, _, err := s.Echo(t.Context(), tenant, 7, page.Request{Size: 500}, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range names {
		if d.Payload != nil || d.PayloadOmitted {
			t.Errorf("document %d of a manifest has a payload, or omits one", i)
		}
	}
	if diff := cmp.Diff(whole, names, cmpopts.IgnoreFields(attachment.Document{}, "Payload", "PayloadOmitted")); diff != "" {
		t.Error(diff)
	}

	// What is not shown is not read: payloads of 1 MiB lie in some 128 pages each.
	conn := connect(t, database.AdminURL)
	pages := func(budget int64) int {
		t.Helper()
		var raw []byte
		query := `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT md5(payload) FROM (` + store.SearchSQL + `) AS found`
		args := []any{tenant, int64(7), "", nil, "", nil, uuid.Nil.String(), int64(0), int64(51), budget}
		if err := conn.QueryRow(t.Context(), query, args...).Scan(&raw); err != nil {
			t.Fatal(err)
		}
		var plans []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal(raw, &plans); err != nil {
			t.Fatal(err)
		}
		return plans[0].Plan.Hit + plans[0].Plan.Read
	}
	none, one, all := pages(0), pages(each), pages(1<<40)
	if none > 30 || one < 100 || one > 300 || all < 100*fit {
		t.Errorf("%d pages are read for no payload, %d for one, %d for all", none, one, all)
	}
}

func TestARecordShowsActiveOnesByPages(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant := uuid.NewString()
	for i := range 5 {
		before := create(t, s, tenant, attachment.Input{Title: some(fmt.Sprint(i))})
		if i == 1 {
			after := before
			after.Version, after.DeactivatedAt = 2, &now
			if saved, err := s.Save(t.Context(), tenant, before, after, entry(tenant, "document.delete")); err != nil || !saved {
				t.Fatal(saved, err)
			}
		}
	}
	entries := len(kept(t, database))
	list, total, err := s.Echo(t.Context(), tenant, 7, page.Request{Page: 1, Size: 2}, true)
	if err != nil || total != 4 || !cmp.Equal(titles(list), []string{"3", "4"}) {
		t.Error(titles(list), total, err)
	}
	if got := len(kept(t, database)); got != entries {
		t.Error("it leaves an entry")
	}
}

func TestARepeatGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant, header := uuid.NewString(), "lost answer"
	by := principal.Principal{TenantID: tenant}
	key, _ := idempotency.Parse(by, &header, []byte("one"))
	first := document(t, attachment.Input{Title: some("A")})
	answer := []byte(`{"id": "` + first.ID + `"}`)
	if repeat, err := s.Create(t.Context(), tenant, first, key, 201, answer, entry(tenant, "document.create")); err != nil || repeat != nil {
		t.Fatal(repeat, err)
	}
	repeat, err := s.Create(t.Context(), tenant, document(t, attachment.Input{Title: some("A")}), key, 201, []byte("other"), entry(tenant, "document.create"))
	if err != nil || repeat == nil || repeat.ResourceID != first.ID || string(repeat.Body) != string(answer) || repeat.Status != 201 {
		t.Errorf("%+v, %v", repeat, err)
	}
	other, _ := idempotency.Parse(by, &header, []byte("two"))
	if _, err := s.Create(t.Context(), tenant, document(t, attachment.Input{}), other, 201, answer, entry(tenant, "document.create")); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Error(err)
	}
	if _, total := search(t, s, tenant, attachment.Filter{}, page.Request{Size: 50}); total != 1 {
		t.Errorf("%d documents", total)
	}
	if got := kept(t, database); len(got) != 2 {
		t.Errorf("a repeat leaves an entry of its own: %v", got)
	}

	// Of many at once, one creates; the others are told that it runs, or get its answer.
	header = "at once"
	key, _ = idempotency.Parse(by, &header, []byte("one"))
	var trying sync.WaitGroup
	for range 8 {
		d := document(t, attachment.Input{Type: some("wearable")})
		trying.Go(func() {
			if _, err := s.Create(t.Context(), tenant, d, key, 201, answer, entry(tenant, "document.create")); err != nil && !fault.Is(err, fault.Conflict) {
				t.Error(err)
			}
		})
	}
	trying.Wait()
	if _, total := search(t, s, tenant, attachment.Filter{Type: "wearable"}, page.Request{Size: 50}); total != 1 {
		t.Errorf("%d documents", total)
	}
}

// The rules that documents and bytes keep with each other hold whoever writes.
func TestContentIsWholeAndOfTheSizeDeclared(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	tenant := uuid.NewString()
	d := create(t, s, tenant, attachment.Input{Size: some("3")})
	conn := connect(t, database.AdminURL)
	for statement, want := range map[string]string{
		`UPDATE document SET blob_key = 'k'`: "document_content",
		`UPDATE document SET blob_key = 'k', content_size = 4, content_sha256 = '', uploaded_at = now()`: "document_size",
	} {
		if _, err := conn.Exec(t.Context(), statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", statement, err)
		}
	}
	if _, err := conn.Exec(t.Context(), `
		UPDATE document SET blob_key = 'k', content_size = 3, content_sha256 = '\x0102', encryption_key_id = 'key', uploaded_at = $1`, now); err != nil {
		t.Fatal(err)
	}
	want := d
	want.Content = attachment.Content{BlobKey: some("k"), Size: some(int64(3)), SHA256: []byte{1, 2}, EncryptionKeyID: "key", UploadedAt: &now}
	if diff := cmp.Diff(&want, read(t, s, tenant, d.ID)); diff != "" {
		t.Error(diff)
	}
	after := want
	after.DeclaredSize, after.Version = some(int64(5)), 2
	if _, err := s.Save(t.Context(), tenant, want, after, entry(tenant, "document.update")); !pg.Violates(err, "document_size") {
		t.Error(err)
	}
}
