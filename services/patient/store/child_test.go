package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
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
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

func some[T any](v T) *T { return &v }

// ward is one tenant's patient and all verbs on them, over a real store.
type ward struct {
	by          principal.Principal
	ctx         context.Context //nolint:containedctx // who asks, for a test
	patient     int64
	store       *store.Store
	database    testkit.Database
	service     *patient.Service
	addresses   *patient.Addresses
	contacts    *patient.Contacts
	aliases     *patient.Aliases
	identifiers *patient.Identifiers
}

// enter opens a ward in a database of the test's own.
func enter(t *testing.T) ward {
	t.Helper()
	s, database := open(t)
	w := ward{store: s, database: database, service: &patient.Service{Store: s, Now: func() time.Time { return now }, NewID: uuid.NewV7}}
	w.addresses = &patient.Addresses{Service: w.service, Store: s.Addresses(), Name: "address"}
	w.contacts = &patient.Contacts{Service: w.service, Store: s.Contacts(), Name: "contact"}
	w.aliases = &patient.Aliases{Service: w.service, Store: s.Aliases(), Name: "alias"}
	w.identifiers = &patient.Identifiers{Service: w.service, Store: s.Identifiers(), Name: "identifier"}
	return w.as(t, somebody())
}

// as is the ward of somebody who has a patient of their own.
func (w ward) as(t *testing.T, by principal.Principal) ward {
	t.Helper()
	ctx, cancel := context.WithTimeout(principal.With(t.Context(), by), time.Minute) // what is never saved is tried until then
	t.Cleanup(cancel)
	w.by, w.ctx = by, ctx
	w.patient = create(t, w.store, by).ID
	return w
}

// key is an idempotency key of a request.
func (w ward) key(header, request string) idempotency.Key {
	key, _ := idempotency.Parse(w.by, &header, []byte(request))
	return key
}

func answer[N any](child N) ([]byte, error) { return json.Marshal(child) }

var (
	anAddress    = patient.AddressInput{Line1: some("1 Main St"), Line2: some("Apt 2"), City: some("Springfield"), State: some("IL"), PostalCode: some("62701"), Use: some("home")}
	aContact     = patient.ContactInput{Value: some("650-253-0000"), Use: some("mobile")}
	anAlias      = patient.AliasInput{Alias: some("Annie"), FirstName: some("Ana"), LastName: some("Lima"), FullName: some("Ana Lima"), EffectiveFrom: some("2020-01-01")}
	anIdentifier = patient.IdentifierInput{
		Type: some("MRN"), Value: some("42"), SourceName: some("intake"), AuthorityOrganizationID: some("o"), AuthorityOrganizationName: some("O"),
		AuthorityExternalSystemID: some("s"), AuthorityExternalSystemName: some("S"), ActiveFrom: some("2020-01-01"), ActiveUntil: some("2030-01-01T00:00:00Z"),
	}
)

// Each kind goes through what all have in common.
func TestEachKindOfChild(t *testing.T) {
	w := enter(t)
	t.Run("address", func(t *testing.T) {
		conforms(t, w.as(t, somebody()), w.addresses, anAddress, patient.AddressInput{Use: some("work")}, patient.AddressInput{Line1: some("")})
	})
	t.Run("contact", func(t *testing.T) {
		conforms(t, w.as(t, somebody()), w.contacts, aContact, patient.ContactInput{Value: some("212-555-0100")}, patient.ContactInput{Value: some("")})
	})
	t.Run("alias", func(t *testing.T) {
		conforms(t, w.as(t, somebody()), w.aliases, anAlias, patient.AliasInput{EffectiveTo: some("2031-02-03T04:05:06.789+01:00")}, patient.AliasInput{Type: some("x")})
	})
	t.Run("identifier", func(t *testing.T) {
		conforms(t, w.as(t, somebody()), w.identifiers, anIdentifier, patient.IdentifierInput{Value: some("43")}, patient.IdentifierInput{Value: some("")})
	})
}

func conforms[N any, P patient.Noun[N], I patient.ChildInput[N]](t *testing.T, w ward, c *patient.Children[N, P, I], in, change, bad I) {
	t.Helper()
	none := func(int64) error { return nil }
	before := len(kept(t, w.database))
	what := strconv.FormatInt(w.patient, 10)
	// trail checks the entries since the last look.
	trail := func(want ...string) {
		t.Helper()
		list := kept(t, w.database)[before:]
		for i := range want {
			want[i] = c.Name + "." + want[i]
		}
		if !slices.Equal(want, list) {
			t.Errorf("the trail has %q, want %q", list, want)
		}
		before += len(list)
	}

	made, repeat, err := c.Create(w.ctx, w.patient, in, idempotency.Key{}, 200, nil)
	if err != nil || repeat != nil {
		t.Fatal(repeat, err)
	}
	base := P(&made).Base()
	if id, err := uuid.Parse(base.ID); err != nil || id.Version() != 7 || base.PatientID != w.patient || base.Version != 1 {
		t.Errorf("made %+v", base)
	}
	trail("create " + what + " success")

	read, err := c.Read(w.ctx, w.patient, base.ID)
	if diff := cmp.Diff(made, read); err != nil || diff != "" {
		t.Error(err, diff)
	}
	trail("read " + what + " success")
	list, total, err := c.List(w.ctx, w.patient, patient.ActiveOnly, page.Request{Size: 50})
	if diff := cmp.Diff([]N{made}, list); err != nil || total != 1 || diff != "" {
		t.Error(total, err, diff)
	}
	trail("list " + what + " success")

	// A change that changes nothing leaves the version, one that does leaves the rest.
	same, err := c.Update(w.ctx, w.patient, base.ID, in, none)
	if diff := cmp.Diff(made, same); err != nil || diff != "" {
		t.Error(err, diff)
	}
	trail("update " + what + " success")
	later := now.Add(time.Hour)
	c.Service = &patient.Service{Store: w.store, Now: func() time.Time { return later }, NewID: uuid.NewV7}
	want, _ := change.Apply(made, later)
	P(&want).Base().Version, P(&want).Base().UpdatedAt = 2, later
	changed, err := c.Update(w.ctx, w.patient, base.ID, change, none)
	if diff := cmp.Diff(want, changed); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if read, err = c.Read(w.ctx, w.patient, base.ID); err != nil || cmp.Diff(want, read) != "" {
		t.Error(err, cmp.Diff(want, read))
	}
	trail("update "+what+" success", "read "+what+" success")

	// Refusals: a rule before what is not there, what is not there before the version.
	stale := errors.New("another version")
	never := func(version int64) error {
		if version != 2 {
			t.Errorf("asked about version %d", version)
		}
		return stale
	}
	if _, err := c.Update(w.ctx, w.patient, uuid.NewString(), bad, never); !fault.Is(err, fault.Invalid) {
		t.Errorf("bad: %v", err)
	}
	trail()
	for _, id := range []string{uuid.NewString(), "1", "", base.ID[:35], "{" + base.ID + "}"} {
		_, readErr := c.Read(w.ctx, w.patient, id)
		_, updateErr := c.Update(w.ctx, w.patient, id, change, never)
		for _, err := range []error{readErr, updateErr, c.Deactivate(w.ctx, w.patient, id, never)} {
			if !fault.Is(err, fault.NotFound) || fault.Of(err).Code != c.Name+"_not_found" {
				t.Errorf("%q: %v", id, err)
			}
		}
		trail("read "+what+" failure", "update "+what+" failure", "delete "+what+" failure")
	}
	if _, err := c.Update(w.ctx, w.patient, base.ID, in, never); !errors.Is(err, stale) {
		t.Errorf("another version: %v", err)
	}
	if err := c.Deactivate(w.ctx, w.patient, base.ID, never); !errors.Is(err, stale) {
		t.Errorf("another version: %v", err)
	}
	trail("update "+what+" failure", "delete "+what+" failure")
	reader, nobody := w.by, context.Background()
	reader.Permissions = principal.PatientRead
	writer := w.by
	writer.Permissions = principal.PatientWrite
	reading, writing := principal.With(t.Context(), reader), principal.With(t.Context(), writer)
	for name, refusals := range map[string][]error{
		"a reader": {second(c.Create(reading, w.patient, in, idempotency.Key{}, 200, nil)), last(c.Update(reading, w.patient, base.ID, in, none)), c.Deactivate(reading, w.patient, base.ID, none)},
		"a writer": {last(c.Read(writing, w.patient, base.ID)), second(c.List(writing, w.patient, patient.All, page.Request{Size: 1}))},
		"nobody":   {last(c.Read(nobody, w.patient, base.ID)), c.Deactivate(nobody, w.patient, base.ID, none)},
	} {
		for _, err := range refusals {
			if !fault.Is(err, fault.Denied) && !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	trail()

	isolated(t, w, c, base.ID, in, change)
	before = len(kept(t, w.database))

	if err := c.Deactivate(w.ctx, w.patient, base.ID, none); err != nil {
		t.Fatal(err)
	}
	trail("delete " + what + " success")
	if err := c.Deactivate(w.ctx, w.patient, base.ID, none); !fault.Is(err, fault.NotFound) {
		t.Errorf("twice: %v", err)
	}
	trail("delete " + what + " failure")
	if _, err := c.Read(w.ctx, w.patient, base.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("read what was deactivated: %v", err)
	}
	for which, want := range map[patient.Which]int64{patient.ActiveOnly: 0, patient.InactiveOnly: 1, patient.All: 1} {
		list, total, err := c.List(w.ctx, w.patient, which, page.Request{Size: 50})
		if err != nil || total != want || int64(len(list)) != want {
			t.Errorf("list %d: %v of %d, %v", which, list, total, err)
		}
		for _, child := range list {
			if P(&child).Active(later) || P(&child).Base().Version != 3 {
				t.Errorf("deactivated: %+v", P(&child).Base())
			}
		}
	}

	pages(t, w, c, in)
	keys(t, w, c, in)
}

// last and second are the errors of two and three results.
func last[A any](_ A, err error) error           { return err }
func second[A, B any](_ A, _ B, err error) error { return err }

// isolated checks that neither another tenant nor who asks for another patient reaches a child, and that a deleted
// patient hides it until it is restored.
func isolated[N any, P patient.Noun[N], I patient.ChildInput[N]](t *testing.T, w ward, c *patient.Children[N, P, I], id string, in, change I) {
	t.Helper()
	may := func(int64) error { return nil }
	hidden := func(name string, ctx context.Context, patientID int64) {
		t.Helper()
		before := len(kept(t, w.database))
		_, _, createErr := c.Create(ctx, patientID, in, idempotency.Key{}, 200, nil)
		_, _, listErr := c.List(ctx, patientID, patient.All, page.Request{Size: 50})
		_, readErr := c.Read(ctx, patientID, id)
		_, updateErr := c.Update(ctx, patientID, id, change, may)
		for _, err := range []error{createErr, listErr, readErr, updateErr, c.Deactivate(ctx, patientID, id, may)} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, err := range []error{createErr, listErr} {
			if fault.Of(err).Code != "patient_not_found" {
				t.Errorf("%s: %v", name, err)
			}
		}
		want := []string{}
		for _, verb := range []string{"create", "list", "read", "update", "delete"} {
			about := strconv.FormatInt(patientID, 10)
			if patientID == 0 {
				about = "none"
			}
			want = append(want, c.Name+"."+verb+" "+about+" failure")
		}
		if diff := cmp.Diff(want, kept(t, w.database)[before:]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	stranger := w.as(t, somebody())
	hidden("another tenant", stranger.ctx, w.patient)
	hidden("no patient", w.ctx, 0)
	hidden("nobody's id", w.ctx, w.patient+1)
	neighbour := create(t, w.store, w.by).ID
	if _, err := c.Read(w.ctx, neighbour, id); !fault.Is(err, fault.NotFound) {
		t.Errorf("on another patient: %v", err)
	}
	if _, err := c.Update(w.ctx, neighbour, id, change, may); !fault.Is(err, fault.NotFound) {
		t.Errorf("on another patient: %v", err)
	}

	all, _, err := c.List(w.ctx, w.patient, patient.All, page.Request{Size: 50})
	if err != nil {
		t.Fatal(err)
	}
	child, err := c.Read(w.ctx, w.patient, id)
	if err != nil {
		t.Fatal(err)
	}
	was, err := w.service.Read(w.ctx, w.patient)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.service.Delete(w.ctx, w.patient, nil); err != nil {
		t.Fatal(err)
	}
	hidden("a deleted patient", w.ctx, w.patient)
	P(&child).Base().Version++
	if saved, err := c.Store.Save(w.ctx, w.by.TenantID, child, entry(w.by, c.Name+".update")); err != nil || saved {
		t.Errorf("saved a child of a deleted patient: %v, %v", saved, err)
	}
	p, err := w.service.Restore(w.ctx, w.patient, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p.Version != was.Version+2 {
		t.Errorf("children moved the patient from version %d to %d", was.Version, p.Version)
	}
	restored, _, err := c.List(w.ctx, w.patient, patient.All, page.Request{Size: 50})
	if diff := cmp.Diff(all, restored); err != nil || diff != "" {
		t.Errorf("restored: %v, %s", err, diff)
	}
}

// pages checks that pages by number and by cursor agree and end where the list does.
func pages[N any, P patient.Noun[N], I patient.ChildInput[N]](t *testing.T, w ward, c *patient.Children[N, P, I], in I) {
	t.Helper()
	w = w.as(t, w.by)
	var ids []string
	for i := range 7 {
		made, _, err := c.Create(w.ctx, w.patient, numbered(in, i), idempotency.Key{}, 200, nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, P(&made).Base().ID)
	}
	if !slices.IsSorted(ids) {
		t.Errorf("ids do not grow: %v", ids)
	}
	if err := c.Deactivate(w.ctx, w.patient, ids[3], nil); err != nil {
		t.Fatal(err)
	}
	for which, want := range map[patient.Which][]string{
		patient.ActiveOnly: slices.Concat(ids[:3], ids[4:]), patient.InactiveOnly: ids[3:4], patient.All: ids,
	} {
		var byNumber, byCursor []string
		for number, after := 0, ""; number < 5; number++ {
			list, total, err := c.List(w.ctx, w.patient, which, page.Request{Page: number, Size: 2})
			if err != nil || total != int64(len(want)) {
				t.Fatalf("page %d: %d in all, %v", number, total, err)
			}
			for _, child := range list[:min(2, len(list))] {
				byNumber = append(byNumber, P(&child).Base().ID)
			}
			list, total, err = c.List(w.ctx, w.patient, which, page.Request{Size: 2, After: after})
			if err != nil || total != int64(len(want)) {
				t.Fatalf("after %q: %d in all, %v", after, total, err)
			}
			for _, child := range list[:min(2, len(list))] {
				after = P(&child).Base().ID
				byCursor = append(byCursor, after)
			}
		}
		if diff := cmp.Diff(want, byNumber); diff != "" {
			t.Errorf("list %d by number: %s", which, diff)
		}
		if diff := cmp.Diff(want, byCursor); diff != "" {
			t.Errorf("list %d by cursor: %s", which, diff)
		}
	}
	if _, _, err := c.List(w.ctx, w.patient, patient.All, page.Request{Size: 2, After: "7"}); !fault.Is(err, fault.Invalid) {
		t.Errorf("a cursor of another list: %v", err)
	}
	empty := w.as(t, w.by)
	if list, total, err := c.List(empty.ctx, empty.patient, patient.All, page.Request{Size: 2}); err != nil || total != 0 || len(list) != 0 {
		t.Errorf("of none: %v of %d, %v", list, total, err)
	}
}

// numbered is an input that goes together with those of other numbers.
func numbered[I any](in I, number int) I {
	if i, ok := any(in).(patient.IdentifierInput); ok {
		i.Value = some(strconv.Itoa(number))
		in, _ = any(i).(I)
	}
	return in
}

// keys checks that a creation is repeated under its key, and another under the same key is refused.
func keys[N any, P patient.Noun[N], I patient.ChildInput[N]](t *testing.T, w ward, c *patient.Children[N, P, I], in I) {
	t.Helper()
	w = w.as(t, w.by)
	before := len(kept(t, w.database))
	first, repeat, err := c.Create(w.ctx, w.patient, in, w.key(c.Name, "one"), 201, answer[N])
	if err != nil || repeat != nil {
		t.Fatal(repeat, err)
	}
	body, _ := answer(first)
	again, repeat, err := c.Create(w.ctx, w.patient, in, w.key(c.Name, "one"), 201, answer[N])
	if err != nil || repeat == nil || P(&again).Base().ID != P(&first).Base().ID || repeat.Status != 201 || string(repeat.Body) != string(body) {
		t.Errorf("repeat %+v of %+v, %v", repeat, again, err)
	}
	if _, _, err := c.Create(w.ctx, w.patient, in, w.key(c.Name, "two"), 201, answer[N]); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another request: %v", err)
	}
	if list := kept(t, w.database)[before:]; len(list) != 1 {
		t.Errorf("one creation left %v", list)
	}

	// A request that is still running holds its key.
	conn := admin(t, w.database)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	busy := w.key("busy "+c.Name, "one")
	name := "idempotency\x1f" + busy.Tenant + "\x1f" + busy.Credential + "\x1f" + busy.Value
	if _, err := tx.Exec(t.Context(), `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, name); err != nil {
		t.Fatal(err)
	}
	_, _, err = c.Create(w.ctx, w.patient, in, busy, 201, answer[N])
	if !fault.Is(err, fault.Conflict) || fault.Of(err).Code != "idempotency_key_in_use" {
		t.Errorf("a key in use: %v", err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}

	// Nobody repeats what a deleted patient hides.
	if err := w.service.Delete(w.ctx, w.patient, nil); err != nil {
		t.Fatal(err)
	}
	for _, request := range []string{"one", "two"} {
		if _, _, err := c.Create(w.ctx, w.patient, in, w.key(c.Name, request), 201, answer[N]); !fault.Is(err, fault.NotFound) {
			t.Errorf("of a deleted patient: %v", err)
		}
	}
	if _, _, err := c.Create(w.ctx, w.patient, in, w.key("lost "+c.Name, "one"), 201, answer[N]); !fault.Is(err, fault.NotFound) {
		t.Errorf("of a deleted patient: %v", err)
	}
	if _, err := w.service.Restore(w.ctx, w.patient, nil); err != nil {
		t.Fatal(err)
	}
	// What was refused left no record: the key is free.
	if _, repeat, err := c.Create(w.ctx, w.patient, numbered(in, 99), w.key("lost "+c.Name, "three"), 201, answer[N]); err != nil || repeat != nil {
		t.Errorf("under the key of a refusal: %+v, %v", repeat, err)
	}
}

// admin is a connection that no policy binds.
func admin(t *testing.T, database testkit.Database) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// The second wall: the service's role, with statements that forget the tenant.
func TestRowLevelSecurityHidesChildren(t *testing.T) {
	w := enter(t)
	stranger := w.as(t, somebody())
	for _, err := range []error{
		second(w.addresses.Create(w.ctx, w.patient, anAddress, idempotency.Key{}, 200, nil)),
		second(w.contacts.Create(w.ctx, w.patient, aContact, idempotency.Key{}, 200, nil)),
		second(w.aliases.Create(w.ctx, w.patient, anAlias, idempotency.Key{}, 200, nil)),
		second(w.identifiers.Create(w.ctx, w.patient, anIdentifier, idempotency.Key{}, 200, nil)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	conn, err := pgx.Connect(t.Context(), w.database.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	be := func(tenant string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, false)`, tenant); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"patient_address", "patient_contact", "patient_alias", "patient_identifier"} {
		for tenant, want := range map[string]int64{"": 0, stranger.by.TenantID: 0, w.by.TenantID: 1} {
			be(tenant)
			var sees int64
			if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM `+table+` WHERE id IS NOT NULL OR true`).Scan(&sees); err != nil || sees != want {
				t.Errorf("as %q: sees %d rows of %s, %v", tenant, sees, table, err)
			}
			if tag, err := conn.Exec(t.Context(), `UPDATE `+table+` SET version = version`); err != nil || tag.RowsAffected() != want {
				t.Errorf("as %q: writes %d rows of %s, %v", tenant, tag.RowsAffected(), table, err)
			}
		}
		be(stranger.by.TenantID)
		if _, err := conn.Exec(t.Context(), `INSERT INTO `+table+` (tenant_id, patient_id, id) VALUES ($1, 1, gen_random_uuid())`, w.by.TenantID); err == nil {
			t.Errorf("wrote into another tenant's %s", table)
		}
		be(w.by.TenantID)
		if _, err := conn.Exec(t.Context(), `UPDATE `+table+` SET tenant_id = $1`, stranger.by.TenantID); err == nil {
			t.Errorf("gave away a row of %s", table)
		}
		for _, forbidden := range []string{`DELETE FROM ` + table, `TRUNCATE ` + table, `ALTER TABLE ` + table + ` NO FORCE ROW LEVEL SECURITY`} {
			if _, err := conn.Exec(t.Context(), forbidden); err == nil {
				t.Errorf("the service's role may %s", forbidden)
			}
		}
	}
}

// A change's entry stands or falls with the change.
func TestTheEntryIsInTheChangesTransaction(t *testing.T) {
	w := enter(t)
	before := len(kept(t, w.database))
	child, _ := anAddress.New(now)
	child.ID, child.PatientID = uuid.NewString(), w.patient
	e := entry(w.by, "address.create")
	e.TenantID = "" // an entry of no tenant makes the statement fail that keeps it
	if _, _, err := w.store.Addresses().Create(w.ctx, child, w.by, idempotency.Key{}, 200, nil, e); err == nil {
		t.Error("stored without an entry")
	}
	made, _, err := w.addresses.Create(w.ctx, w.patient, anAddress, idempotency.Key{}, 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	made.Version = 2
	if _, err := w.store.Addresses().Save(w.ctx, w.by.TenantID, made, e); err == nil {
		t.Error("saved without an entry")
	}
	list, total, err := w.addresses.List(w.ctx, w.patient, patient.All, page.Request{Size: 50})
	if err != nil || total != 1 || list[0].Version != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if list := kept(t, w.database)[before:]; len(list) != 2 {
		t.Error(list)
	}
}

// Many change one child at once: each change is made once, none is lost.
func TestChangesOfOneChildAreAllMade(t *testing.T) {
	w := enter(t)
	made, _, err := w.aliases.Create(w.ctx, w.patient, anAlias, idempotency.Key{}, 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	const writers, each = 6, 4
	for i := range writers {
		wait.Go(func() {
			for j := range each {
				in := patient.AliasInput{Alias: some(strconv.Itoa(i*each + j))}
				if _, err := w.aliases.Update(w.ctx, w.patient, made.ID, in, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	read, err := w.aliases.Read(w.ctx, w.patient, made.ID)
	if err != nil || read.Version != 1+writers*each {
		t.Errorf("version %d, %v", read.Version, err)
	}
	updates := 0
	for _, e := range kept(t, w.database) {
		if e == "alias.update "+strconv.FormatInt(w.patient, 10)+" success" {
			updates++
		}
	}
	if updates != writers*each {
		t.Errorf("%d entries of %d changes", updates, writers*each)
	}
}
