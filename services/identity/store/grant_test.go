package store_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

func fresh(t *testing.T, life time.Duration) identity.NewToken {
	t.Helper()
	hash := sha256.Sum256([]byte(newID(t)))
	return identity.NewToken{Hash: hash[:], ID: newID(t), ExpiresAt: now().Add(life)}
}

// begin keeps a family with its tokens, a code, a consent and a pushed request of a user.
func begin(t *testing.T, s *store.Store, user string) (identity.TokenFamily, identity.NewToken, identity.NewToken, identity.IssuedCode) {
	t.Helper()
	f := identity.TokenFamily{
		ID: newID(t), UserID: user, ClientID: "prs-public", TenantID: newID(t), Scope: []string{"patient:read"}, Environment: "demo",
		Agent: "a", CreatedAt: now(), UsedAt: now(),
	}
	access, refresh := fresh(t, time.Minute), fresh(t, time.Hour)
	check(t, s.StartFamily(t.Context(), f, access, refresh, entryIn(t, f.TenantID)))
	hash := fresh(t, 0).Hash
	code := identity.IssuedCode{
		Hash: hash, FamilyID: newID(t), ClientID: f.ClientID, Challenge: "c", UserID: user, TenantID: f.TenantID, Scope: f.Scope,
		Environment: "demo", CreatedAt: now(), ExpiresAt: now().Add(time.Minute),
	}
	done, err := s.KeepCode(t.Context(), code, nil)
	if err != nil || !done {
		t.Fatalf("code kept: %v, %v", done, err)
	}
	check(t, s.Consent(t.Context(), user, "prs-public", []string{"patient:read"}, now(), audit.Entry{}))
	check(t, s.Push(t.Context(), identity.PushedRequest{Hash: fresh(t, 0).Hash, ClientID: "prs-public", ExpiresAt: now().Add(time.Minute)}, now()))
	return f, access, refresh, code
}

// The queries of this test forget the user on purpose: row-level security has to hold without them.
func TestGrantsOfAnotherUserAreInvisible(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	one, two := newID(t), newID(t)
	_, access, refresh, code := begin(t, s, one)
	begin(t, s, two)
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
	for _, table := range []string{"token_family", "refresh_token", "authorization_code", "access_token", "consent"} {
		for user, want := range map[string]int{one: 1, two: 1, newID(t): 0, "": 0} {
			if got := count(table, "app.user_id", user); got != want {
				t.Errorf("as user %q, %s shows %d rows, want %d", user, table, got, want)
			}
		}
	}
	for table, hash := range map[string][]byte{"refresh_token": refresh.Hash, "authorization_code": code.Hash, "access_token": access.Hash} {
		if got := count(table, "app.session", hex.EncodeToString(hash)); got != 1 {
			t.Errorf("a credential sees %d rows of %s, want its own", got, table)
		}
	}
	if got := count("pushed_request", "app.user_id", one); got != 0 {
		t.Errorf("%d pushed requests are seen without being presented", got)
	}
	// A row that is presented can be read and not written.
	check(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), `SELECT set_config('app.session', $1, true)`, hex.EncodeToString(refresh.Hash)); err != nil {
			return err
		}
		tag, err := tx.Exec(t.Context(), `UPDATE refresh_token SET spent_at = NULL`)
		if tag.RowsAffected() != 0 {
			t.Error("a refresh token was written without its user")
		}
		return err
	}))
}

func TestAnEndedFamilyCannotBeRotated(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	user := newID(t)
	f, _, refresh, code := begin(t, s, user)
	turn := identity.Rotation{Hash: refresh.Hash, Family: f, Scope: f.Scope, Access: fresh(t, time.Minute), Refresh: fresh(t, time.Hour), Now: now()}
	if done, err := s.EndFamily(t.Context(), newID(t), f.ID, true, now(), entryIn(t, f.TenantID)); err != nil || done {
		t.Errorf("ended by somebody else: %v, %v", done, err)
	}
	check(t, s.EndEverything(t.Context(), user, now(), audit.Entry{}))
	if _, done, err := s.Rotate(t.Context(), turn); err != nil || done {
		t.Errorf("rotated after its end: %v, %v", done, err)
	}
	if token, _, err := s.FindToken(t.Context(), turn.Access.Hash); err != nil || token != nil {
		t.Errorf("a token without a family: %+v, %v", token, err)
	}
	if done, err := s.RedeemCode(t.Context(), identity.Redemption{Code: code, Access: fresh(t, time.Minute), Refresh: fresh(t, time.Hour), Entry: entryIn(t, code.TenantID), Now: now()}); err != nil || done {
		t.Errorf("a code of before was redeemed: %v, %v", done, err)
	}
}

func TestSweepOfGrants(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	user := newID(t)
	f, _, refresh, _ := begin(t, s, user)
	turn := identity.Rotation{
		Hash: refresh.Hash, Family: f, Scope: f.Scope, Access: fresh(t, time.Minute), Refresh: fresh(t, time.Hour), SuccessorSealed: []byte{1}, Now: now(),
	}
	if _, done, err := s.Rotate(t.Context(), turn); err != nil || !done {
		t.Fatalf("rotated: %v, %v", done, err)
	}
	begin(t, s, newID(t)) // what is new stays
	_, err := s.SweepOnce(t.Context())
	check(t, err)
	admin := connect(t, database.AdminURL)
	count := func(what string) (n int) {
		check(t, admin.QueryRow(t.Context(), `SELECT count(*) FROM `+what).Scan(&n))
		return n
	}
	if count("token_family") != 2 || count("refresh_token") != 3 || count("authorization_code") != 2 || count("pushed_request") != 2 ||
		count("refresh_token WHERE successor_sealed IS NOT NULL") != 1 {
		t.Error("the sweep took what is alive")
	}
	for _, age := range []string{
		`UPDATE refresh_token SET spent_at = spent_at - interval '2 minutes'`,
		`UPDATE authorization_code SET expires_at = now() - interval '25 hours' WHERE user_id = '` + user + `'`,
		`UPDATE pushed_request SET expires_at = now() - interval '1 second'`,
	} {
		_, err := admin.Exec(t.Context(), age)
		check(t, err)
	}
	_, err = s.SweepOnce(t.Context())
	check(t, err)
	if count("refresh_token WHERE successor_sealed IS NOT NULL") != 0 || count("refresh_token") != 3 || count("authorization_code") != 1 || count("pushed_request") != 0 {
		t.Error("the sweep left a sealed pair, a code or a pushed request, or took a spent token")
	}
	_, err = admin.Exec(t.Context(), `UPDATE refresh_token SET expires_at = now() - interval '1 second' WHERE user_id = '`+user+`'`)
	check(t, err)
	_, err = admin.Exec(t.Context(), `UPDATE token_family SET used_at = now() - interval '32 days' WHERE user_id = '`+user+`'`)
	check(t, err)
	_, err = s.SweepOnce(t.Context())
	check(t, err)
	if count("token_family") != 1 || count("refresh_token") != 1 {
		t.Error("the sweep left a family that is over")
	}
}

func TestSigningKeysOfAGenerationAreOne(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for i, id := range []string{"a", "b", "c"} {
		generation := int32(1)
		if i == 2 {
			generation = 2
		}
		check(t, s.KeepSigningKey(t.Context(), oauth.SigningKey{
			ID: id, Generation: generation, PublicJWK: []byte(`{}`), PrivateSealed: []byte{1}, CreatedAt: now(), SignsFrom: now(),
		}))
	}
	keys, err := s.SigningKeys(t.Context())
	if err != nil || len(keys) != 2 || keys[0].ID != "c" || keys[1].ID != "a" {
		t.Errorf("%+v, %v", keys, err)
	}
}

func TestANewPasswordEndsFamiliesAndCodes(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	u := identity.User{ID: newID(t), Environment: "demo", Email: "ada@example.org", PasswordHash: "x", FirstName: "Ada", LastName: "M", CreatedAt: now()}
	_, err := s.CreateUser(t.Context(), u)
	check(t, err)
	_, access, refresh, code := begin(t, s, u.ID)
	_, other, _, _ := begin(t, s, newID(t))
	done, err := s.ChangePassword(t.Context(), identity.PasswordChange{UserID: u.ID, Hash: "y", Now: now()})
	if err != nil || !done {
		t.Fatalf("%v, %v", done, err)
	}
	if found, _, err := s.FindToken(t.Context(), access.Hash); err != nil || found != nil {
		t.Errorf("an access token is left: %+v, %v", found, err)
	}
	if found, err := s.FindRefresh(t.Context(), refresh.Hash); err != nil || found == nil || found.Family.EndedAt == nil {
		t.Errorf("a family goes on: %+v, %v", found, err)
	}
	if found, err := s.FindCode(t.Context(), code.Hash); err != nil || found != nil {
		t.Errorf("a code is left: %+v, %v", found, err)
	}
	if found, _, err := s.FindToken(t.Context(), other.Hash); err != nil || found == nil {
		t.Errorf("somebody else's token ended: %v", err)
	}
}

const anyHash = "$argon2id$any"

// somebody stores a user.
func somebody(t *testing.T, s *store.Store, id string) {
	t.Helper()
	_, err := s.CreateUser(t.Context(), identity.User{
		ID: id, Environment: "demo", Email: id + "@example.org", PasswordHash: anyHash, FirstName: "a", LastName: "b", CreatedAt: now(),
	})
	check(t, err)
}

// kept is the error of what was to be kept and was not.
func kept(done bool, err error) error {
	if err == nil && !done {
		err = errors.New("not kept")
	}
	return err
}

func TestAFamilyCanTakeItsBrowserSessionAlong(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	for _, along := range []bool{true, false} {
		user, in := newID(t), newID(t)
		somebody(t, s, user)
		check(t, kept(s.KeepSignIn(t.Context(), identity.SignIn{
			ID: in, UserID: user, Methods: []string{identity.ByPassword}, CreatedAt: now(), SeenAt: now(), ExpiresAt: now().Add(time.Hour),
		}, fresh(t, 0).Hash, anyHash, audit.Entry{})))
		check(t, kept(s.KeepSignIn(t.Context(), identity.SignIn{
			ID: newID(t), UserID: user, Methods: []string{identity.ByPassword}, CreatedAt: now(), SeenAt: now(), ExpiresAt: now().Add(time.Hour),
		}, fresh(t, 0).Hash, anyHash, audit.Entry{})))
		f := identity.TokenFamily{
			ID: newID(t), UserID: user, ClientID: "prs-public", TenantID: newID(t), Scope: []string{}, Environment: "demo", SignInID: &in,
			CreatedAt: now(), UsedAt: now(),
		}
		check(t, s.StartFamily(t.Context(), f, fresh(t, time.Minute), fresh(t, time.Hour), entryIn(t, f.TenantID)))
		if done, err := s.EndFamily(t.Context(), user, f.ID, along, now(), entryIn(t, f.TenantID)); err != nil || !done {
			t.Errorf("%v, %v", done, err)
		}
		want := 2
		if along {
			want = 1
		}
		if left, err := s.SignInsOf(t.Context(), user, time.Hour, now()); err != nil || len(left) != want {
			t.Errorf("along %v: %d browser sessions are left, %v", along, len(left), err)
		}
	}
}
