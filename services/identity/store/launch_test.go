package store_test

import (
	"encoding/hex"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func application(t *testing.T, tenant *string, name string) identity.Application {
	t.Helper()
	return identity.Application{ID: newID(t), TenantID: tenant, Name: name, LaunchURL: "https://a.example", SecretSealed: []byte{1}, Environment: "demo", CreatedAt: now()}
}

func launched(t *testing.T, tenant, application string, until time.Time) identity.LaunchCode {
	t.Helper()
	return identity.LaunchCode{
		Hash: []byte(newID(t)), TenantID: tenant, UserID: newID(t), ApplicationID: application, Environment: "demo", Scope: []string{"patient:read"},
		CreatedAt: now(), ExpiresAt: until,
	}
}

func TestApplicationsOfATenantAndOfAll(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	one, two := newID(t), newID(t)
	own, others, all := application(t, &one, "b"), application(t, &two, "c"), application(t, nil, "A")
	for _, a := range []identity.Application{own, others, all} {
		_, err := s.CreateApplication(t.Context(), a, idempotency.Key{Tenant: two, Credential: "c", Value: a.Name, Hash: []byte{1}})
		check(t, err)
	}
	if repeat, err := s.CreateApplication(t.Context(), application(t, nil, "A"), idempotency.Key{Tenant: two, Credential: "c", Value: "A", Hash: []byte{1}}); err != nil || repeat == nil || repeat.ResourceID != all.ID {
		t.Errorf("repeat %+v, %v", repeat, err)
	}
	list, err := s.ApplicationsFor(t.Context(), "demo", one)
	if err != nil || len(list) != 2 || list[0].ID != all.ID || list[1].ID != own.ID {
		t.Errorf("for a tenant: %+v, %v", list, err)
	}
	if found, err := s.FindApplication(t.Context(), others.ID); err != nil || found == nil || *found.TenantID != two {
		t.Errorf("found %+v, %v", found, err)
	}
	if done, err := s.DeleteApplication(t.Context(), "production", own.ID, entry(one, "application.delete")); err != nil || done {
		t.Errorf("deleted for another environment: %v, %v", done, err)
	}

	conn := connect(t, database.URL)
	touched := func(setting, value, statement string) (n int64) {
		check(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `SELECT set_config($1, $2, true)`, setting, value); err != nil {
				return err
			}
			tag, err := tx.Exec(t.Context(), statement)
			n = tag.RowsAffected()
			return err
		}))
		return n
	}
	for _, c := range []struct {
		setting, value, statement string
		want                      int64
	}{
		{"app.tenant_id", "", `SELECT 1 FROM external_application`, 0},
		{"app.tenant_id", newID(t), `SELECT 1 FROM external_application`, 1},
		{"app.tenant_id", one, `SELECT 1 FROM external_application`, 2},
		{"app.credential_id", others.ID, `SELECT 1 FROM external_application`, 1},
		{"app.tenant_id", newID(t), `DELETE FROM external_application`, 0}, // what all may launch, nobody of them may delete
		{"app.credential_id", others.ID, `DELETE FROM external_application`, 0},
		{"app.administrator", "off", `DELETE FROM external_application`, 0},
		{"app.administrator", "on", `DELETE FROM external_application`, 3},
	} {
		if got := touched(c.setting, c.value, c.statement); got != c.want {
			t.Errorf("%s = %q: %s: %d rows, want %d", c.setting, c.value, c.statement, got, c.want)
		}
	}
}

func TestALaunchIsSeenByWhoPresentsIt(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	a := application(t, nil, "a")
	_, err := s.CreateApplication(t.Context(), a, idempotency.Key{})
	check(t, err)
	c, other := launched(t, newID(t), a.ID, now().Add(time.Minute)), launched(t, newID(t), a.ID, now().Add(time.Minute))
	check(t, s.KeepLaunch(t.Context(), c, "", entry(c.TenantID, "launch.create")))
	check(t, s.KeepLaunch(t.Context(), other, "", entry(other.TenantID, "launch.create")))
	code, found, err := s.FindLaunch(t.Context(), c.Hash)
	if err != nil || code == nil || found == nil || code.UserID != c.UserID || code.TenantID != c.TenantID || found.ID != a.ID {
		t.Errorf("%+v, %+v, %v", code, found, err)
	}
	if code, found, err := s.FindLaunch(t.Context(), []byte("unknown")); err != nil || code != nil || found != nil {
		t.Errorf("%+v, %+v, %v", code, found, err)
	}
	conn := connect(t, database.URL)
	for setting, value := range map[string]string{"app.session": hex.EncodeToString(c.Hash), "app.tenant_id": c.TenantID} {
		var n int
		check(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `SELECT set_config($1, $2, true)`, setting, value); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), `SELECT count(*) FROM launch_code`).Scan(&n)
		}))
		if n != 1 {
			t.Errorf("%s shows %d codes", setting, n)
		}
	}
}

func TestALaunchIsWonOnce(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	spend := func(c identity.LaunchCode, right bool, at time.Time) bool {
		won, err := s.SpendLaunch(t.Context(), c.Hash, right, at, nil)
		check(t, err)
		return won
	}
	fresh := func() identity.LaunchCode {
		c := launched(t, newID(t), newID(t), now().Add(time.Minute))
		check(t, s.KeepLaunch(t.Context(), c, "", entry(c.TenantID, "launch.create")))
		return c
	}
	c := fresh()
	var wins atomic.Int32
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			if won, err := s.SpendLaunch(t.Context(), c.Hash, true, now(), nil); err == nil && won {
				wins.Add(1)
			}
		})
	}
	all.Wait()
	if wins.Load() != 1 {
		t.Errorf("%d won", wins.Load())
	}
	c = fresh()
	for range identity.MostLaunchFailures {
		if spend(c, false, now()) {
			t.Error("a wrong signature won")
		}
	}
	if spend(c, true, now()) {
		t.Error("a code was won after as many wrong signatures as spend it")
	}
	c = fresh()
	if spend(c, true, c.ExpiresAt) {
		t.Error("an expired code was won")
	}
	if !spend(c, true, c.ExpiresAt.Add(-time.Millisecond)) {
		t.Error("a code was not won in its time")
	}
}

func TestExpiredLaunchesAreSwept(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	old, live := launched(t, newID(t), newID(t), now().Add(-time.Second)), launched(t, newID(t), newID(t), now().Add(time.Minute))
	check(t, s.KeepLaunch(t.Context(), old, "", entry(old.TenantID, "launch.create")))
	check(t, s.KeepLaunch(t.Context(), live, "", entry(live.TenantID, "launch.create")))
	if gone, err := s.SweepOnce(t.Context()); err != nil || gone != 1 {
		t.Errorf("swept %d, %v", gone, err)
	}
	if code, _, err := s.FindLaunch(t.Context(), live.Hash); err != nil || code == nil {
		t.Errorf("a live code was swept: %v", err)
	}
}

// The trail of a launch: made, tried with a wrong signature, exchanged, and tried again.
func TestWhatIsDoneWithALaunchIsKeptInTheQueue(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	c := launched(t, newID(t), newID(t), now().Add(time.Minute))
	check(t, s.KeepLaunch(t.Context(), c, "", entry(c.TenantID, "launch.create")))
	for _, right := range []bool{false, true, true} {
		e := entry(c.TenantID, "launch.exchange")
		_, err := s.SpendLaunch(t.Context(), c.Hash, right, now(), &e)
		check(t, err)
	}
	rows, err := connect(t, database.AdminURL).Query(t.Context(), `
		SELECT (e->>'action') || ' ' || (e->>'outcome') FROM audit_entry, json_array_elements(entries) AS e
		WHERE e->>'tenantId' = $1 ORDER BY seq`, c.TenantID)
	check(t, err)
	got, err := pgx.CollectRows(rows, pgx.RowTo[string])
	check(t, err)
	if diff := cmp.Diff([]string{"launch.create success", "launch.exchange failure", "launch.exchange success", "launch.exchange failure"}, got); diff != "" {
		t.Error(diff)
	}
}
