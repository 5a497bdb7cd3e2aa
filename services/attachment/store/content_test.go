package store_test

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit/carried"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/store"
)

// shelf is a store with one document, and a look past it.
type shelf struct {
	*store.Store
	tenant   string
	document attachment.Document
	admin    *pgx.Conn
	t        *testing.T
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	database, distribute := carried.Postgres(t, store.Migrations(), store.Distribution())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 12, Distribute: distribute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	admin, err := pgx.Connect(t.Context(), database.AdminURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = admin.Close(context.Background()) })
	s := shelf{Store: store.New(db, slog.New(slog.DiscardHandler)), tenant: uuid.NewString(), admin: admin, t: t}
	s.document = s.create(nil)
	return s
}

func (s shelf) create(declared *int64) attachment.Document {
	s.t.Helper()
	at := time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC)
	d := attachment.Document{
		ID: uuid.Must(uuid.NewV7()).String(), PatientID: 1024, Type: "document", ContentType: "application/pdf", Filename: "a.pdf",
		DeclaredSize: declared, Version: 1, CreatedAt: at, UpdatedAt: at,
	}
	if _, err := s.Create(s.t.Context(), s.tenant, d, idempotency.Key{}, 200, nil, s.entry("document.create")); err != nil {
		s.t.Fatal(err)
	}
	return d
}

func (s shelf) entry(action string) audit.Entry {
	by := principal.Principal{TenantID: s.tenant, Kind: principal.APIKey, CredentialID: "key"}
	return audit.Of(principal.With(context.Background(), by), time.Now(), uuid.NewV7, action).About(1024)
}

// intended gives content whose blob may be written.
func (s shelf) intended(text string) attachment.Content {
	s.t.Helper()
	c := contentOf(text)
	if err := s.Intend(s.t.Context(), *c.BlobKey); err != nil {
		s.t.Fatal(err)
	}
	return c
}

func contentOf(text string) attachment.Content {
	name, size, sum := "blob/"+uuid.NewString(), int64(len(text)), sha256.Sum256([]byte(text))
	at := time.Date(2026, 3, 15, 9, 26, 53, 589e6, time.UTC)
	return attachment.Content{BlobKey: &name, Size: &size, SHA256: sum[:], EncryptionKeyID: "k1", UploadedAt: &at}
}

func (s shelf) complete(d attachment.Document, c attachment.Content) *attachment.Document {
	s.t.Helper()
	got, err := s.Complete(s.t.Context(), s.tenant, d.PatientID, d.ID, c, s.entry("document.upload"))
	if err != nil {
		s.t.Error(err)
	}
	return got
}

func (s shelf) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := s.admin.Exec(s.t.Context(), sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

func (s shelf) count(sql string, args ...any) (n int) {
	s.t.Helper()
	if err := s.admin.QueryRow(s.t.Context(), `SELECT count(*) FROM `+sql, args...).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// uploads counts the entries that the trail has of uploads.
func (s shelf) uploads() int {
	s.t.Helper()
	return s.count(`audit_entry, json_array_elements(entries) e WHERE e->>'action' = 'document.upload' AND e->>'outcome' = 'success'`)
}

func (s shelf) claim(atMost int) []string {
	s.t.Helper()
	names, err := s.Claim(s.t.Context(), atMost, time.Hour)
	if err != nil {
		s.t.Error(err)
	}
	return names
}

func (s shelf) expire() {
	s.t.Helper()
	s.exec(`UPDATE blob_upload SET expires_at = now()`)
}

func TestCompleteIsTheDocumentTheIntentAndTheEntry(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	c := s.intended("hello")
	if n := s.count(`blob_upload WHERE expires_at - started_at = interval '1 hour' AND claimed_until IS NULL`); n != 1 {
		t.Errorf("%d intents of an hour", n)
	}
	got := s.complete(s.document, c)
	want := s.document
	want.Content, want.Version, want.UpdatedAt = c, 2, *c.UploadedAt
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
	for _, read := range []func(context.Context, string, int64, string, audit.Entry) (*attachment.Document, error){s.Find, s.Open} {
		again, err := read(t.Context(), s.tenant, 1024, s.document.ID, s.entry("document.download"))
		if diff := cmp.Diff(got, again); diff != "" || err != nil {
			t.Error(diff, err)
		}
	}
	if intents, entries := s.count(`blob_upload`), s.uploads(); intents != 0 || entries != 1 {
		t.Errorf("%d intents and %d entries are left", intents, entries)
	}
}

func TestWhatDoesNotBecomeContentChangesNothing(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	six := int64(6)
	taken, declared, gone := s.create(nil), s.create(&six), s.create(nil)
	first := s.intended("first")
	if s.complete(taken, first) == nil {
		t.Fatal("not taken")
	}
	s.exec(`UPDATE document SET deactivated_at = now() WHERE id = $1`, gone.ID)
	claimed := s.intended("hello")
	s.expire()
	if names := s.claim(10); !slices.Equal(names, []string{*claimed.BlobKey}) {
		t.Fatalf("claimed %v", names)
	}
	s.exec(`UPDATE blob_upload SET claimed_until = now() - interval '1 day'`) // a claim that is over is a claim
	other := s.document
	other.PatientID++
	for name, c := range map[string]struct {
		attachment.Document
		attachment.Content
	}{
		"has content": {taken, s.intended("hello")}, "another size": {declared, s.intended("hello")}, "deactivated": {gone, s.intended("hello")},
		"claimed": {s.document, claimed}, "no intent": {s.document, contentOf("hello")}, "another patient's": {other, s.intended("hello")},
		"its own blob again": {taken, first},
	} {
		intents := s.count(`blob_upload`)
		if got := s.complete(c.Document, c.Content); got != nil {
			t.Errorf("%s: completed %v", name, got)
		}
		if after := s.count(`blob_upload`); after != intents {
			t.Errorf("%s: %d intents, then %d", name, intents, after)
		}
	}
	stranger := s
	stranger.tenant = uuid.NewString()
	if got := stranger.complete(s.document, s.intended("hello")); got != nil {
		t.Error("another tenant's document has content")
	}
	if n := s.count(`document WHERE blob_key IS NOT NULL`); n != 1 || s.uploads() != 1 {
		t.Errorf("%d documents have content, after %d uploads", n, s.uploads())
	}
	if got := s.complete(declared, s.intended("sixsix")); got == nil {
		t.Error("the declared size is refused")
	}
}

func TestOfTwoUploadsOneWins(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	const racers = 8
	var race sync.WaitGroup
	won := make(chan string, racers)
	for range racers {
		c := s.intended("hello")
		race.Go(func() {
			if d := s.complete(s.document, c); d != nil {
				won <- *d.BlobKey
			}
		})
	}
	race.Wait()
	close(won)
	if len(won) != 1 || s.uploads() != 1 || s.count(`blob_upload`) != racers-1 {
		t.Fatalf("%d won, %d entries, %d intents", len(won), s.uploads(), s.count(`blob_upload`))
	}
	if n := s.count(`document WHERE blob_key = $1 AND version = 2`, <-won); n != 1 {
		t.Error("the winner's is not the content")
	}
}

// A blob is collected or content, whatever the moment at which both are tried.
func TestWhatIsCollectedIsNoContent(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	outcomes := map[bool]int{}
	for range 60 {
		d, c := s.create(nil), s.intended("hello")
		s.expire()
		var race sync.WaitGroup
		var names []string
		var done *attachment.Document
		race.Go(func() { names = s.claim(10) })
		race.Go(func() { done = s.complete(d, c) })
		race.Wait()
		if collected := slices.Contains(names, *c.BlobKey); collected == (done != nil) {
			t.Fatalf("collected %v and completed %v", collected, done != nil)
		}
		outcomes[done != nil]++
		s.exec(`DELETE FROM blob_upload`)
	}
	t.Logf("completed in time or not: %v", outcomes)
}

func TestClaim(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	for range 5 {
		s.intended("hello")
	}
	if names := s.claim(10); len(names) != 0 {
		t.Errorf("claimed what has not expired: %v", names)
	}
	s.expire()
	var race sync.WaitGroup
	var lock sync.Mutex
	var all []string
	for range 4 {
		race.Go(func() {
			for names := s.claim(2); len(names) > 0; names = s.claim(2) {
				lock.Lock()
				all = append(all, names...)
				lock.Unlock()
				if len(names) > 2 {
					t.Errorf("%d at a time", len(names))
				}
			}
		})
	}
	race.Wait()
	slices.Sort(all)
	if unique := slices.Compact(slices.Clone(all)); len(all) != 5 || len(unique) != 5 {
		t.Errorf("claimed %v", all)
	}
	s.exec(`UPDATE blob_upload SET claimed_until = now()`)
	s.exec(`BEGIN`)
	s.exec(`SELECT FROM blob_upload WHERE blob_key = $1 FOR UPDATE`, all[0])
	if names := s.claim(10); len(names) != 4 {
		t.Errorf("after the claim is over, while one is being completed: %v", names)
	}
	s.exec(`ROLLBACK`)
	if names := s.claim(10); !slices.Equal(names, all[:1]) {
		t.Errorf("the one that was not: %v", names)
	}
	for _, name := range all {
		if err := s.Forget(t.Context(), name); err != nil {
			t.Error(err)
		}
	}
	if n := s.count(`blob_upload`); n != 0 {
		t.Errorf("%d are left", n)
	}
}

func TestOpenKeepsWhetherThereIsContent(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	empty := s.create(nil)
	s.complete(s.document, s.intended("hello"))
	for _, c := range []struct {
		id, outcome string
		found       bool
	}{{s.document.ID, audit.Success, true}, {empty.ID, audit.Failure, true}, {uuid.NewString(), audit.Failure, false}} {
		s.exec(`DELETE FROM audit_entry`)
		d, err := s.Open(t.Context(), s.tenant, 1024, c.id, s.entry("document.download"))
		if err != nil || (d != nil) != c.found {
			t.Errorf("opened %v, %v", d, err)
		}
		if n := s.count(`audit_entry, json_array_elements(entries) e WHERE e->>'action' = 'document.download' AND e->>'outcome' = $1`, c.outcome); n != 1 || s.count(`audit_entry`) != 1 {
			t.Errorf("%d entries of a %s", n, c.outcome)
		}
	}
}
