package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

// follower keeps a copy of a tenant's people as matching does.
type follower struct {
	feed     *patient.Feed
	tenant   string
	limit    int
	position string
	people   map[int64]linkage.Demographics
}

func follow(s *store.Store, tenant string, limit int) *follower {
	return &follower{feed: &patient.Feed{Store: s}, tenant: tenant, limit: limit, people: map[int64]linkage.Demographics{}}
}

// program is a program of the mesh.
func program(ctx context.Context) context.Context {
	return principal.With(ctx, principal.Principal{Kind: principal.Service, ClientID: "matching"})
}

// pull brings the copy up to date and gives the ids of who was told of, in the order of telling.
func (f *follower) pull(ctx context.Context) ([]int64, error) {
	var told []int64
	var position string
	for after, more := int64(0), true; more; {
		page, err := f.feed.Page(program(ctx), f.tenant, &f.position, after, f.limit)
		if err != nil {
			return told, err
		}
		if position == "" {
			position = page.Position
		}
		for _, p := range page.People {
			if p.ID <= after {
				return told, fmt.Errorf("%d is told after %d", p.ID, after)
			}
			after = p.ID
			told = append(told, p.ID)
			if p.Deleted {
				delete(f.people, p.ID)
			} else {
				f.people[p.ID] = p
			}
		}
		if more = page.More; more && len(page.People) == 0 {
			return told, fmt.Errorf("an empty page after %d says that there is more", after)
		}
	}
	f.position = position
	return told, nil
}

// tells checks who is told of.
func (f *follower) tells(t *testing.T, want ...int64) {
	t.Helper()
	got, err := f.pull(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("told of %d, want %d", got, want)
	}
}

func TestTheFeedTellsAllOfAPerson(t *testing.T) {
	w := enter(t)
	f := follow(w.store, w.by.TenantID, 10)
	f.tells(t, w.patient)

	in := patient.Input{
		MiddleName: some("M"), Prefix: some("Dr"), Suffix: some("Jr"), SexAtBirth: some("female"), Gender: some("Female"), Race: some("Asian"),
		Ethnicity: some("Declined"), GenderIdentity: some("g"), PreferredLanguage: some("pt"), Last4SSN: some("6789"),
	}
	anyone := func(int64) error { return nil }
	if _, err := w.service.Update(w.ctx, w.patient, in, anyone); err != nil {
		t.Fatal(err)
	}
	if _, err := w.service.MarkDeceased(w.ctx, w.patient, patient.DeathNotice{}, anyone); err != nil {
		t.Fatal(err)
	}
	add(t, w, w.addresses, anAddress)
	add(t, w, w.contacts, aContact)
	add(t, w, w.aliases, anAlias)
	add(t, w, w.aliases, patient.AliasInput{Alias: some("epoch"), EffectiveFrom: some("1970-01-01"), EffectiveTo: some("1970-01-01T00:00:00.250Z")})
	add(t, w, w.aliases, patient.AliasInput{Alias: some("ended"), EffectiveTo: some("1970-01-01")})
	add(t, w, w.aliases, patient.AliasInput{Alias: some("never"), EffectiveFrom: some("2020-01-01"), EffectiveTo: some("2020-01-01")})
	add(t, w, w.identifiers, anIdentifier)
	gone := add(t, w, w.addresses, anAddress)
	if err := w.addresses.Deactivate(w.ctx, w.patient, gone.ID, anyone); err != nil {
		t.Fatal(err)
	}
	want := linkage.Demographics{
		ID: w.patient, FirstName: "Ana", MiddleName: "M", LastName: "Ana", Prefix: "Dr", Suffix: "Jr", DOB: "1980-02-29", SexAtBirth: "female",
		Gender: "Female", Race: "Asian", Ethnicity: "Declined", GenderIdentity: "g", PreferredLanguage: "pt", SSNLast4: "6789", Deceased: true,
		Addresses: []linkage.Address{{Line1: "1 Main St", Line2: "Apt 2", City: "Springfield", State: "IL", PostalCode: "62701", Country: "US"}},
		Contacts:  []linkage.Contact{{System: "phone", Value: "650-253-0000", E164: "+16502530000"}},
		Aliases: []linkage.Alias{
			{Alias: "Annie", FirstName: "Ana", LastName: "Lima", FullName: "Ana Lima", From: 1577836800000},
			{Alias: "epoch", From: -1, Until: 250},
			{Alias: "ended", Until: -1},
		},
		Identifiers: []linkage.Identifier{{Type: "MRN", Authority: "o\x1fO\x1fs\x1fS", Value: "42", From: 1577836800000, Until: 1893456000000}},
	}
	check := func() {
		t.Helper()
		f.tells(t, w.patient)
		if diff := cmp.Diff(want, f.people[w.patient]); diff != "" {
			t.Error(diff)
		}
		fresh := follow(w.store, w.by.TenantID, 10)
		fresh.tells(t, w.patient)
		if diff := cmp.Diff(f.people, fresh.people); diff != "" {
			t.Errorf("who begins anew is told otherwise: %s", diff)
		}
		f.tells(t)
	}
	check()

	if err := w.service.Delete(w.ctx, w.patient, anyone); err != nil {
		t.Fatal(err)
	}
	page, err := f.feed.Page(program(t.Context()), f.tenant, &f.position, 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]linkage.Demographics{{ID: w.patient, Deleted: true}}, page.People); diff != "" {
		t.Error(diff)
	}
	f.tells(t, w.patient)
	follow(w.store, w.by.TenantID, 10).tells(t)
	if _, err := w.service.Restore(w.ctx, w.patient, anyone); err != nil {
		t.Fatal(err)
	}
	check()
}

// add gives the ward's patient a child.
func add[N any, P patient.Noun[N], I patient.ChildInput[N]](t *testing.T, w ward, c *patient.Children[N, P, I], in I) patient.Child {
	t.Helper()
	made, _, err := c.Create(w.ctx, w.patient, in, idempotency.Key{}, 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	return *P(&made).Base()
}

// transaction is one of the service's role that goes on until it is ended.
type transaction struct {
	t  *testing.T
	tx pgx.Tx
}

func (w ward) begin(t *testing.T) transaction {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.database.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x := transaction{t, tx}
	x.do(`SELECT set_config('app.tenant_id', $1, true)`, w.by.TenantID)
	return x
}

func (x transaction) do(sql string, args ...any) {
	x.t.Helper()
	if _, err := x.tx.Exec(x.t.Context(), sql, args...); err != nil {
		x.t.Fatal(err)
	}
}

func (x transaction) commit() {
	x.t.Helper()
	if err := x.tx.Commit(x.t.Context()); err != nil {
		x.t.Fatal(err)
	}
}

// Whatever order transactions begin, write and commit in, each is told of once, by the first pull after its commit.
func TestTheFeedTellsWhatBecameVisible(t *testing.T) {
	const (
		rename  = `UPDATE patient SET first_name = 'Renamed' WHERE id = $1`
		address = `INSERT INTO patient_address (tenant_id, patient_id, id, version, created_at, updated_at, line1, line2, city, state, postal_code, country, use)
			SELECT tenant_id, id, gen_random_uuid(), 1, now(), now(), '', '', '', '', '', '', '' FROM patient WHERE id = $1`
	)
	w := enter(t)
	var ids []int64
	for range 5 {
		ids = append(ids, create(t, w.store, w.by).ID)
	}
	f := follow(w.store, w.by.TenantID, 100)
	f.tells(t, append([]int64{w.patient}, ids...)...)

	// Of another tenant, and in no hurry: it holds back what the server thinks of as long past.
	slow := w.as(t, somebody()).begin(t)
	slow.do(`SELECT pg_current_xact_id()`)

	older, younger := w.begin(t), w.begin(t)
	older.do(rename, ids[0])
	younger.do(rename, ids[1])
	f.tells(t)
	younger.commit()
	f.tells(t, ids[1])
	f.tells(t)
	older.do(address, ids[2])
	f.tells(t)
	older.commit()
	f.tells(t, ids[0], ids[2])
	f.tells(t)

	// What a transaction does in a part of its own counts as its own.
	whole := w.begin(t)
	whole.do(`SAVEPOINT part`)
	whole.do(address, ids[3])
	whole.do(`RELEASE part`)
	later := w.begin(t)
	later.do(address, ids[4])
	later.commit()
	f.tells(t, ids[4])
	whole.do(`SAVEPOINT undone`)
	whole.do(address, ids[0])
	whole.do(`ROLLBACK TO undone`)
	whole.commit()
	f.tells(t, ids[3])

	// What is undone is told of to nobody.
	undone := w.begin(t)
	undone.do(rename, ids[0])
	f.tells(t)
	if err := undone.tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.tells(t)

	// A row that is written by the older of two transactions after the younger.
	older, younger = w.begin(t), w.begin(t)
	older.do(`SELECT pg_current_xact_id()`)
	younger.do(rename, ids[0])
	younger.commit()
	f.tells(t, ids[0])
	older.do(rename, ids[0])
	f.tells(t)
	older.commit()
	f.tells(t, ids[0])
	slow.commit()
	f.tells(t)
}

func TestTheFeedComesInPages(t *testing.T) {
	w := enter(t)
	want := []int64{w.patient}
	for range 6 {
		want = append(want, create(t, w.store, w.by).ID)
	}
	for _, limit := range []int{1, 2, 3, 7, 100} {
		f := follow(w.store, w.by.TenantID, limit)
		f.tells(t, want...)
		f.tells(t)
		for _, id := range want {
			w.patient = id
			add(t, w, w.addresses, anAddress)
			add(t, w, w.aliases, anAlias)
		}
		f.tells(t, want...)
		f.tells(t)
	}
	if page, err := (&patient.Feed{Store: w.store}).Page(program(t.Context()), w.by.TenantID, nil, 0, 7); err != nil || page.More || len(page.People) != 7 {
		t.Errorf("a page that is full and the last: %v, %v", page.More, err)
	}
}

// However much hangs on them, a page holds what one answer can carry.
func TestAPageOfTheFeedIsBounded(t *testing.T) {
	w := enter(t)
	ids := []int64{w.patient}
	for range 9 {
		ids = append(ids, create(t, w.store, w.by).ID)
	}
	x := w.begin(t)
	x.do(`INSERT INTO patient_address (tenant_id, patient_id, id, version, created_at, updated_at, line1, line2, city, state, postal_code, country, use)
		SELECT tenant_id, id, gen_random_uuid(), 1, now(), now(), repeat('x', 500000), '', '', '', '', '', '' FROM patient, generate_series(1, 3)`)
	x.do(`INSERT INTO patient_alias (tenant_id, patient_id, id, version, created_at, updated_at, type, alias, first_name, last_name, full_name, holds_from, holds_until, holds)
		SELECT tenant_id, id, gen_random_uuid(), 1, now(), now(), 'alias', repeat('x', 500000), '', '', '', '', '', '(,)' FROM patient, generate_series(1, CASE WHEN id = $1 THEN 40 ELSE 1 END)`, ids[5])
	x.commit()
	for name, begin := range map[string]string{"from the beginning": "", "since": first(t, w)} {
		f := follow(w.store, w.by.TenantID, 100)
		f.position = begin
		page, err := f.feed.Page(program(t.Context()), f.tenant, &begin, 0, 100)
		if err != nil || !page.More || page.Msgsize() > 10<<20 || len(page.People) == 0 {
			t.Errorf("%s: %d people in %d bytes, more %v, %v", name, len(page.People), page.Msgsize(), page.More, err)
		}
		f.tells(t, ids...)
		for _, id := range ids {
			if p := f.people[id]; len(p.Addresses) != 3 || len(p.Aliases) < 1 || id == ids[5] && len(p.Aliases) < 10 {
				t.Errorf("%s: %d has %d addresses and %d aliases", name, id, len(p.Addresses), len(p.Aliases))
			}
		}
	}
}

// first is a position from before anything changed.
func first(t *testing.T, w ward) string {
	t.Helper()
	page, err := (&patient.Feed{Store: w.store}).Page(program(t.Context()), w.by.TenantID, nil, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	epoch, _, _ := strings.Cut(page.Position, "/")
	return epoch + "/3:3:"
}

// A position is refused wherever transactions may not be numbered on from it.
func TestPositionsThatAreLost(t *testing.T) {
	w := enter(t)
	f := follow(w.store, w.by.TenantID, 100)
	f.tells(t, w.patient)
	admin, err := pgx.Connect(t.Context(), w.database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	lost := func(what string) {
		t.Helper()
		if _, err := f.pull(t.Context()); code(err) != feed.CodeLost {
			t.Errorf("%s: %v", what, err)
		}
		f.position = ""
		f.tells(t, w.patient)
		f.tells(t)
	}
	if _, err := admin.Exec(t.Context(), `TRUNCATE feed_epoch`); err != nil { // as PostgreSQL does after a crash
		t.Fatal(err)
	}
	lost("after a crash")
	if _, err := admin.Exec(t.Context(), `WITH gone AS (DELETE FROM feed_epoch RETURNING id) SELECT id INTO TEMP dump FROM gone`); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), `INSERT INTO feed_epoch (id) SELECT id FROM dump`); err != nil {
		t.Fatal(err)
	}
	lost("in a restored dump")
	epoch, _, _ := strings.Cut(f.position, "/")
	f.position = epoch + "/900000000000:900000000000:"
	lost("from ahead")
}

func TestTheFeedIsForPrograms(t *testing.T) {
	w := enter(t)
	f := &patient.Feed{Store: w.store}
	if _, err := f.Page(w.ctx, w.by.TenantID, nil, 0, 10); code(err) != "permission_denied" {
		t.Errorf("a caller's credential: %v", err)
	}
	for _, tenant := range []string{"", "x", "1", uuid.NewString() + "'"} {
		if _, err := f.Page(program(t.Context()), tenant, nil, 0, 10); code(err) != "tenant_not_found" {
			t.Errorf("tenant %q: %v", tenant, err)
		}
	}
	stranger := w.as(t, somebody())
	if page, err := f.Page(program(t.Context()), uuid.NewString(), nil, 0, 10); err != nil || len(page.People) != 0 || page.More || page.Position == "" {
		t.Errorf("a tenant without patients: %v, %v", page, err)
	}
	own := follow(w.store, w.by.TenantID, 10)
	own.tells(t, w.patient)
	add(t, stranger, w.addresses, anAddress)
	own.tells(t)
	for _, position := range []string{
		"x", "/", "e/", "e/1", "e/1:", "e/1:2", "e/:2:", "e/1::", "e/2:1:", "e/0:1:", "e/1:2:x", "e/1:2:2", "e/1:3:2,1", "e/1:3:2,2", "e/1:3:2,", "e/-1:3:",
		"e/1:99999999999999999999:", "/1:2:", "e/01:2:", "e/1:2:1:",
	} {
		if _, err := f.Page(program(t.Context()), w.by.TenantID, &position, 0, 10); code(err) != "invalid_request" {
			t.Errorf("position %q: %v", position, err)
		}
	}
}

// Little changed among many people: it costs a few pages of indexes, also by a plan that was made before they came.
func TestWhatChangedIsFoundByIndex(t *testing.T) {
	w := enter(t)
	y := w.begin(t)
	y.do(store.PlanOnceSQL())
	y.do(`PREPARE changed (uuid, bigint, bigint, pg_snapshot) AS ` + store.ChangedSQL())
	y.do(fmt.Sprintf(`EXECUTE changed ('%s', 0, 5001, '3:3:')`, w.by.TenantID))
	x := w.begin(t)
	x.do(`INSERT INTO patient (tenant_id, first_name, middle_name, last_name, prefix, suffix, dob, sex_at_birth, gender, race, ethnicity, gender_identity,
			preferred_language, ssn_last4, version, created_at, updated_at)
		SELECT current_setting('app.tenant_id')::uuid, 'A', '', 'B', '', '', '2000-01-01', 'female', '', '', '', '', '', '', 1, now(), now() FROM generate_series(1, 20000)`)
	x.do(`INSERT INTO patient_address (tenant_id, patient_id, id, version, created_at, updated_at, line1, line2, city, state, postal_code, country, use)
		SELECT tenant_id, id, gen_random_uuid(), 1, now(), now(), '', '', '', '', '', '', '' FROM patient`)
	x.commit()
	var now string
	if err := y.tx.QueryRow(t.Context(), `SELECT pg_current_snapshot()::text`).Scan(&now); err != nil {
		t.Fatal(err)
	}
	add(t, w, w.addresses, anAddress)
	find := func(when string) {
		t.Helper()
		var plan []byte
		query := fmt.Sprintf(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE changed ('%s', 0, 5001, '%s')`, w.by.TenantID, now)
		if err := y.tx.QueryRow(t.Context(), query).Scan(&plan); err != nil {
			t.Fatal(err)
		}
		var out []struct {
			Plan struct {
				Rows int `json:"Actual Rows"`
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal(plan, &out); err != nil {
			t.Fatal(err)
		}
		if p := out[0].Plan; p.Rows != 1 || p.Hit+p.Read > 60 {
			t.Errorf("%s: %d rows by %d blocks:\n%s", when, p.Rows, p.Hit+p.Read, plan)
		}
	}
	find("planned before they came")
	admin, err := pgx.Connect(t.Context(), w.database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	if _, err := admin.Exec(t.Context(), `ANALYZE`); err != nil {
		t.Fatal(err)
	}
	find("planned anew")
}
