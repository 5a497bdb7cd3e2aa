package store_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// whoever the service's role acts for sees its own rows, and nobody sees all.
func TestSecondFactorsAreHeldToTheirUser(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u, other := v.user(t), v.user(t)
	for _, somebody := range []string{u.ID, other.ID} {
		person := u
		person.ID = somebody
		v.enrol(t, person)
		check(t, v.register(t, person, newDevice(t, person), "key"))
		c := v.challenge(t, person)
		v.answer(t, c.ID, "000000")
		_, _, err := v.BeginPasskey(t.Context(), somebody)
		check(t, err)
	}
	conn, err := pgx.Connect(t.Context(), v.database.URL)
	check(t, err)
	defer conn.Close(t.Context())
	count := func(table string) (n int) {
		t.Helper()
		check(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		return n
	}
	tables := []string{"totp", "recovery_code", "passkey", "passkey_ceremony", "challenge", "factor_limit"}
	for _, table := range tables {
		if n := count(table); n != 0 {
			t.Errorf("nobody sees %d rows of %s", n, table)
		}
	}
	_, err = conn.Exec(t.Context(), `SELECT set_config('app.user_id', $1, false)`, u.ID)
	check(t, err)
	for _, table := range tables {
		n, all := count(table), v.count(t, `SELECT count(*) FROM `+table)
		if n == 0 || 2*n != all {
			t.Errorf("a user sees %d of %d rows of %s", n, all, table)
		}
	}
	if _, err := conn.Exec(t.Context(), `INSERT INTO totp (user_id, secret_sealed, created_at) VALUES ($1, '', now()) ON CONFLICT DO NOTHING`, newID(t)); err == nil {
		t.Error("a user writes another's row")
	}
}

func TestSweepTakesWhatIsOver(t *testing.T) {
	t.Parallel()
	v := verifier(t)
	u := v.user(t)
	v.challenge(t, u)
	v.pass(-time.Hour)
	v.challenge(t, u)
	_, _, err := v.BeginPasskeySignIn(t.Context())
	check(t, err)
	if gone, err := v.store.SweepOnce(t.Context()); err != nil || gone != 2 {
		t.Errorf("swept %d, %v", gone, err)
	}
	if n := v.count(t, `SELECT count(*) FROM challenge`); n != 1 {
		t.Errorf("%d challenges are left", n)
	}
}
