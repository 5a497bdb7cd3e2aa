package store_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

func open(t *testing.T) (*store.Store, testkit.Database) {
	t.Helper()
	database := testkit.Postgres(t, store.Migrations())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &store.Store{DB: db, Log: slog.New(slog.DiscardHandler)}, database
}

func newID(t *testing.T) string {
	t.Helper()
	id, err := uuid.NewV7()
	if err != nil {
		t.Fatal(err)
	}
	return id.String()
}

func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func key(t *testing.T, tenant string) identity.APIKey {
	t.Helper()
	return identity.APIKey{
		ID: newID(t), TenantID: tenant, Name: "k", RoleIDs: []string{newID(t)}, Environment: "demo", SecretHash: []byte{1}, SessionSealed: []byte{2}, CreatedAt: now(),
	}
}

func client(t *testing.T, tenant string) identity.Client {
	t.Helper()
	return identity.Client{
		ID: newID(t), TenantID: tenant, Name: "c", RoleIDs: []string{}, Scope: []string{"patient:read"}, GrantTypes: []string{"client_credentials"},
		RedirectURIs: []string{}, AuthMethod: "client_secret_basic", SecretHash: []byte{1}, Environment: "demo", CreatedAt: now(),
	}
}

func token(t *testing.T, c identity.Client, expires time.Time) identity.AccessToken {
	t.Helper()
	hash := sha256.Sum256([]byte(newID(t)))
	return identity.AccessToken{
		Hash: hash[:], ID: newID(t), TenantID: c.TenantID, ClientID: c.ID, Scope: []string{"patient:read"}, Environment: "demo", IssuedAt: now(), ExpiresAt: expires,
	}
}

func entryIn(t *testing.T, tenant string) audit.Entry {
	t.Helper()
	return audit.Of(t.Context(), now(), uuid.NewV7, "test").In(tenant)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	tenant, other := newID(t), newID(t)
	var keys []identity.APIKey
	for range 3 {
		k := key(t, tenant)
		_, err := s.CreateKey(t.Context(), k, idempotency.Key{}, entry(k.TenantID, "token.mint"))
		check(t, err)
		keys = append(keys, k)
	}
	_, err := s.CreateKey(t.Context(), key(t, other), idempotency.Key{}, entry(other, "token.mint"))
	check(t, err)

	found, err := s.FindKey(t.Context(), keys[0].ID)
	if err != nil || found == nil || found.TenantID != tenant || !bytes.Equal(found.SecretHash, []byte{1}) || found.RoleIDs[0] != keys[0].RoleIDs[0] {
		t.Fatalf("found %+v, %v", found, err)
	}
	if none, err := s.FindKey(t.Context(), newID(t)); err != nil || none != nil {
		t.Errorf("found what is not there: %+v, %v", none, err)
	}
	list, total, err := s.ListKeys(t.Context(), tenant, page.Request{Size: 2})
	if err != nil || total != 3 || len(list) != 3 || list[0].ID != keys[0].ID {
		t.Errorf("list of %d of %d, %v", len(list), total, err)
	}
	list, _, err = s.ListKeys(t.Context(), tenant, page.Request{Size: 2, After: keys[1].ID, Page: 1})
	if err != nil || len(list) != 1 || list[0].ID != keys[2].ID {
		t.Errorf("after the second: %+v, %v", list, err)
	}

	used := now()
	check(t, s.TouchKeys(t.Context(), tenant, []string{keys[0].ID}, used))
	check(t, s.TouchKeys(t.Context(), tenant, []string{keys[0].ID}, used.Add(-time.Hour))) // time never goes back
	check(t, s.TouchKeys(t.Context(), other, []string{keys[1].ID}, used))                  // another tenant's key
	if found, err = s.FindKey(t.Context(), keys[0].ID); err != nil || found.LastUsedAt == nil || !found.LastUsedAt.Equal(used) {
		t.Errorf("used %v, %v", found.LastUsedAt, err)
	}
	if found, err = s.FindKey(t.Context(), keys[1].ID); err != nil || found.LastUsedAt != nil {
		t.Errorf("touched by another tenant: %v, %v", found.LastUsedAt, err)
	}

	if done, err := s.RevokeKey(t.Context(), other, keys[0].ID, "aa", now(), entry(other, "key.revoke")); err != nil || done {
		t.Errorf("revoked by another tenant: %v, %v", done, err)
	}
	for _, want := range []bool{true, false} {
		if done, err := s.RevokeKey(t.Context(), tenant, keys[0].ID, "aa", now(), entry(tenant, "key.revoke")); err != nil || done != want {
			t.Errorf("revoked: %v, %v, want %v", done, err, want)
		}
	}
	if _, total, err = s.ListKeys(t.Context(), tenant, page.Request{Size: 2}); err != nil || total != 2 {
		t.Errorf("%d keys after one was revoked, %v", total, err)
	}
}

func TestIdempotencyKeyOfAClientForAnotherTenant(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	k := idempotency.Key{Tenant: newID(t), Credential: "c", Value: "v", Hash: []byte{1}}
	first := client(t, newID(t))
	if repeat, err := s.CreateClient(t.Context(), first, k, entry(first.TenantID, "client.create")); err != nil || repeat != nil {
		t.Fatalf("first: %+v, %v", repeat, err)
	}
	again := client(t, first.TenantID)
	if repeat, err := s.CreateClient(t.Context(), again, k, entry(again.TenantID, "client.create")); err != nil || repeat == nil || repeat.ResourceID != first.ID {
		t.Errorf("again: %+v, %v", repeat, err)
	}
	if stored, err := s.FindClient(t.Context(), again.ID); err != nil || stored != nil {
		t.Errorf("a repeat stored %+v, %v", stored, err)
	}
	k.Hash = []byte{2}
	if _, err := s.CreateClient(t.Context(), client(t, first.TenantID), k, entry(first.TenantID, "client.create")); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another request: %v", err)
	}
}

func TestTokenIsWorthNothingWithoutItsClient(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := client(t, newID(t))
	_, err := s.CreateClient(t.Context(), c, idempotency.Key{}, entry(c.TenantID, "client.create"))
	check(t, err)
	issued := token(t, c, now().Add(time.Minute))
	check(t, s.KeepToken(t.Context(), issued))
	found, owner, err := s.FindToken(t.Context(), issued.Hash)
	if err != nil || found == nil || owner == nil || found.ID != issued.ID || owner.ID != c.ID {
		t.Fatalf("found %+v of %+v, %v", found, owner, err)
	}
	if done, err := s.DeleteClient(t.Context(), newID(t), c.ID, entry(c.TenantID, "client.delete")); err != nil || done {
		t.Errorf("deleted in another tenant: %v, %v", done, err)
	}
	if done, err := s.DeleteClient(t.Context(), c.TenantID, c.ID, entry(c.TenantID, "client.delete")); err != nil || !done {
		t.Errorf("deleted: %v, %v", done, err)
	}
	if _, owner, err = s.FindToken(t.Context(), issued.Hash); err != nil || owner != nil {
		t.Errorf("found %+v, %v", owner, err)
	}
}

func TestTokensOfManyTenantsAreKeptAtOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	var all sync.WaitGroup
	for n := range 32 {
		issued := token(t, client(t, newID(t)), now().Add(time.Minute))
		if n == 0 {
			issued.Scope = []string{}
		}
		all.Go(func() {
			if err := s.KeepToken(t.Context(), issued); err != nil {
				t.Error(err)
				return
			}
			found, _, err := s.FindToken(t.Context(), issued.Hash)
			if err != nil || found == nil {
				t.Errorf("found %+v, %v", found, err)
				return
			}
			if diff := cmp.Diff(issued, *found, cmp.Transformer("UTC", time.Time.UTC)); diff != "" {
				t.Error(diff)
			}
			if err := s.KeepToken(t.Context(), issued); err == nil {
				t.Error("the same token is kept twice")
			}
		})
	}
	all.Wait()
}

func TestRevokedTokenIsGone(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	c := client(t, newID(t))
	_, err := s.CreateClient(t.Context(), c, idempotency.Key{}, entry(c.TenantID, "client.create"))
	check(t, err)
	issued := token(t, c, now().Add(time.Minute))
	check(t, s.KeepToken(t.Context(), issued))
	check(t, s.RevokeToken(t.Context(), newID(t), issued.Hash))
	if found, _, err := s.FindToken(t.Context(), issued.Hash); err != nil || found == nil {
		t.Errorf("revoked by another tenant: %v", err)
	}
	check(t, s.RevokeToken(t.Context(), c.TenantID, issued.Hash))
	if found, _, err := s.FindToken(t.Context(), issued.Hash); err != nil || found != nil {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestSweepTakesWhatHasExpired(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	c := client(t, newID(t))
	_, err := s.CreateClient(t.Context(), c, idempotency.Key{}, entry(c.TenantID, "client.create"))
	check(t, err)
	alive := token(t, c, now().Add(time.Minute))
	check(t, s.KeepToken(t.Context(), alive))
	for range 3 {
		check(t, s.KeepToken(t.Context(), token(t, c, now().Add(-time.Second))))
	}
	_, err = s.CreateKey(t.Context(), key(t, c.TenantID), idempotency.Key{Tenant: c.TenantID, Credential: "c", Value: "old", Hash: []byte{1}}, entry(c.TenantID, "token.mint"))
	check(t, err)
	admin := connect(t, database.AdminURL)
	_, err = admin.Exec(t.Context(), `UPDATE idempotency_key SET created_at = now() - interval '25 hours'`)
	check(t, err)
	if gone, err := s.SweepOnce(t.Context()); err != nil || gone != 4 {
		t.Errorf("%d rows gone, %v", gone, err)
	}
	if found, _, err := s.FindToken(t.Context(), alive.Hash); err != nil || found == nil {
		t.Errorf("a token that lives is gone, %v", err)
	}
}

func TestUsers(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	u := identity.User{ID: newID(t), Environment: "demo", Email: "Ada@example.org", PasswordHash: "x", FirstName: "Ada", LastName: "M", CreatedAt: now()}
	first, err := s.CreateUser(t.Context(), u)
	check(t, err)
	u.FirstName = "Another"
	if again, err := s.CreateUser(t.Context(), u); err != nil || again.FirstName != first.FirstName {
		t.Errorf("again %+v, %v", again, err)
	}
	u.ID, u.Email = newID(t), "ADA@example.org"
	if _, err := s.CreateUser(t.Context(), u); !fault.Is(err, fault.Conflict) {
		t.Errorf("the same address: %v", err)
	}
	u.Environment = "production"
	if _, err := s.CreateUser(t.Context(), u); err != nil {
		t.Errorf("the same address in another environment: %v", err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	check(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// The queries of this test forget the tenant on purpose: row-level security has to hold without them.
func TestRowsOfAnotherTenantAreInvisible(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	one, two := newID(t), newID(t)
	var firstKey, firstClient string
	var firstToken []byte
	for i, tenant := range []string{one, two} {
		k, c := key(t, tenant), client(t, tenant)
		_, err := s.CreateKey(t.Context(), k, idempotency.Key{Tenant: tenant, Credential: "c", Value: "v", Hash: []byte{1}}, entry(tenant, "token.mint"))
		check(t, err)
		_, err = s.CreateClient(t.Context(), c, idempotency.Key{}, entry(c.TenantID, "client.create"))
		check(t, err)
		issued := token(t, c, now().Add(time.Minute))
		check(t, s.KeepToken(t.Context(), issued))
		_, err = s.CreateApplication(t.Context(), identity.Application{ID: newID(t), TenantID: &tenant, SecretSealed: []byte{1}, CreatedAt: now()}, idempotency.Key{})
		check(t, err)
		if i == 0 {
			firstKey, firstClient, firstToken = k.ID, c.ID, issued.Hash
		}
	}
	conn := connect(t, database.URL)
	count := func(table, setting, value string) (n int) {
		check(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `SELECT set_config($1, $2, true)`, setting, value); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n)
		}))
		return n
	}
	for _, table := range []string{"api_key", "oauth_client", "access_token", "external_application", "idempotency_key"} {
		for setting, want := range map[string]int{one: 1, two: 1, newID(t): 0, "": 0} {
			if got := count(table, "app.tenant_id", setting); got != want {
				t.Errorf("as tenant %q, %s shows %d rows, want %d", setting, table, got, want)
			}
		}
	}
	for _, c := range []struct{ table, setting, value string }{
		{"api_key", "app.credential_id", firstKey},
		{"oauth_client", "app.credential_id", firstClient},
		{"access_token", "app.session", hex.EncodeToString(firstToken)},
	} {
		if got := count(c.table, c.setting, c.value); got != 1 {
			t.Errorf("a credential sees %d rows of %s, want its own", got, c.table)
		}
	}
	// The admitted row can be read and not written.
	err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT set_config('app.credential_id', $1, true)`, firstKey); err != nil {
			return err
		}
		tag, err := tx.Exec(t.Context(), `UPDATE api_key SET name = 'mine'`)
		if tag.RowsAffected() != 0 {
			t.Error("a credential's row was written without its tenant")
		}
		return err
	})
	check(t, err)
	// A row cannot be put into another tenant.
	err = pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT set_config('app.tenant_id', $1, true)`, one); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `
			INSERT INTO external_application (tenant_id, id, name, launch_url, secret_sealed, environment, created_at)
			VALUES ($1, $2, '', '', '', 'demo', now())`, two, newID(t))
		return err
	})
	if err == nil || errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("a row was put into another tenant: %v", err)
	}
}
