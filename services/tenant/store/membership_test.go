package store_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/store"
)

const (
	clinician = "01900000-0000-7000-8000-000000000002"
	another   = "01900000-0000-7000-8000-0000000000b2"
)

func membership(id, user string, roles ...string) tenant.Membership {
	m := tenant.Membership{TenantID: id, UserID: user, CreatedAt: time.Now().UTC().Truncate(time.Millisecond)}
	for _, r := range roles {
		m.Roles = append(m.Roles, tenant.Role{ID: r})
	}
	return m
}

func put(t *testing.T, s *store.Store, id, user string, roles ...string) {
	t.Helper()
	if m, err := s.PutMember(t.Context(), membership(id, user, roles...), entry(id, tenant.MemberChange)); err != nil || m == nil {
		t.Fatalf("put %v: %+v, %v", roles, m, err)
	}
}

// connect opens a connection of a test's own.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// effects are the payloads of what waits to leave the service, in their order.
func effects(t *testing.T, database testkit.Database) []map[string]string {
	t.Helper()
	rows, err := connect(t, database.AdminURL).Query(t.Context(), `SELECT payload FROM outbox WHERE kind = 'session.revoke' ORDER BY id`)
	if err != nil {
		t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[map[string]string])
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestMember(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	if found, m, err := s.ReadMember(t.Context(), one, user); err != nil || found == nil || m != nil {
		t.Fatalf("found %+v, %+v, %v", found, m, err)
	}
	put(t, s, one, another, owner) // so that the other need not stay one
	for _, roles := range [][]string{{owner}, {}, {owner, clinician}} {
		put(t, s, one, user, roles...)
		found, m, err := s.ReadMember(t.Context(), one, user)
		if err != nil || found == nil || found.Name != "Harbour" || m == nil || len(m.Roles) != len(roles) || m.CreatedAt.IsZero() {
			t.Errorf("read %+v, %+v, %v, want %v", found, m, err, roles)
		}
	}
	if m, err := s.PutMember(t.Context(), membership(two, user, owner), entry(two, tenant.MemberChange)); err != nil || m != nil {
		t.Errorf("put into a tenant that is not there: %+v, %v", m, err)
	}
	if removed, err := s.RemoveMember(t.Context(), one, user, entry(one, tenant.MemberRemove)); err != nil || !removed {
		t.Errorf("removed %v, %v", removed, err)
	}
	if removed, err := s.RemoveMember(t.Context(), one, user, entry(one, tenant.MemberRemove)); err != nil || removed {
		t.Errorf("removed again: %v, %v", removed, err)
	}
	if _, m, err := s.ReadMember(t.Context(), one, user); err != nil || m != nil {
		t.Errorf("still a member: %+v, %v", m, err)
	}
	if list := effects(t, database); len(list) < 5 || list[1]["user"] != user || list[4]["user"] != user || list[4]["tenant"] != "" {
		t.Errorf("effects %v", list)
	}
}

func TestTheOwnerIsMadeWithTheTenantAndNotAgain(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	made := tenant.Tenant{ID: one, Name: "Harbour", Plan: "free", Environment: "demo", CreatedAt: time.Now()}
	if _, err := s.Create(t.Context(), made, user, entry(one, tenant.TenantCreate)); err != nil {
		t.Fatal(err)
	}
	if _, m, err := s.ReadMember(t.Context(), one, user); err != nil || m == nil || len(m.Roles) != 1 || m.Roles[0].Name != "Owner" {
		t.Fatalf("owner %+v, %v", m, err)
	}
	put(t, s, one, another, owner)
	if _, err := s.RemoveMember(t.Context(), one, user, entry(one, tenant.MemberRemove)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Create(t.Context(), made, user, entry(one, tenant.TenantCreate)); err != nil { // the effect of a registration, once more
		t.Fatal(err)
	}
	if _, m, err := s.ReadMember(t.Context(), one, user); err != nil || m != nil {
		t.Errorf("who had left is back: %+v, %v", m, err)
	}
}

func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	put(t, s, one, another, clinician) // nobody is an Owner yet: nothing is in the way
	put(t, s, one, user, owner, clinician)
	put(t, s, two, another, owner) // another tenant's Owner is no help
	before := len(effects(t, database))
	if _, err := s.PutMember(t.Context(), membership(one, user, clinician), entry(one, tenant.MemberChange)); !errors.Is(err, tenant.ErrLastOwner) {
		t.Errorf("demoted the last Owner: %v", err)
	}
	if _, err := s.RemoveMember(t.Context(), one, user, entry(one, tenant.MemberRemove)); !errors.Is(err, tenant.ErrLastOwner) {
		t.Errorf("removed the last Owner: %v", err)
	}
	if now := len(effects(t, database)); now != before {
		t.Errorf("what was refused had %d effects", now-before)
	}
	put(t, s, one, user, owner) // stays an Owner
	if removed, err := s.RemoveMember(t.Context(), one, another, entry(one, tenant.MemberRemove)); err != nil || !removed {
		t.Errorf("another member: %v, %v", removed, err)
	}
}

// Of two Owners who demote or remove each other at the same time one succeeds, whichever comes first.
func TestTwoOwnersCannotBothGo(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	create(t, s, one, "Harbour")
	for round := range 20 {
		put(t, s, one, user, owner)
		put(t, s, one, another, owner)
		var errs [2]error
		var both sync.WaitGroup
		both.Go(func() {
			_, errs[0] = s.PutMember(t.Context(), membership(one, user, clinician), entry(one, tenant.MemberChange))
		})
		both.Go(func() {
			if round%2 == 0 {
				_, errs[1] = s.PutMember(t.Context(), membership(one, another, clinician), entry(one, tenant.MemberChange))
			} else {
				_, errs[1] = s.RemoveMember(t.Context(), one, another, entry(one, tenant.MemberRemove))
			}
		})
		both.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || (!errors.Is(errs[0], tenant.ErrLastOwner) && !errors.Is(errs[1], tenant.ErrLastOwner)) {
			t.Fatalf("round %d: %v and %v", round, errs[0], errs[1])
		}
	}
}

func TestMembersArePaged(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	put(t, s, two, user, owner)
	var want []string
	for range 5 {
		id := uuid.Must(uuid.NewV7()).String()
		want = append(want, id)
		put(t, s, one, id, owner)
	}
	for _, c := range []struct {
		part page.Request
		want []string
	}{
		{page.Request{Size: 2}, want[:3]}, // one more than the page tells that it goes on
		{page.Request{Size: 2, Page: 2}, want[4:]},
		{page.Request{Size: 2, Page: 9}, nil},
		{page.Request{Size: 5, After: want[1]}, want[2:]},
	} {
		got, err := s.ListMembers(t.Context(), one, c.part)
		if err != nil || got.Total != 5 || len(got.List) != len(c.want) {
			t.Fatalf("%+v: %+v, %v", c.part, got, err)
		}
		for i, m := range got.List {
			if m.UserID != c.want[i] || m.TenantID != one || len(m.Roles) != 1 || m.Roles[0].Name != "Owner" {
				t.Errorf("%+v: entry %d is %+v", c.part, i, m)
			}
		}
	}
}

func TestPlacesOfAUser(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	put(t, s, one, user, owner)
	put(t, s, two, user, clinician, owner)
	put(t, s, two, another, owner)
	places, err := s.ListPlaces(t.Context(), user, "demo")
	if err != nil || len(places) != 2 || places[0].Tenant.Name != "Harbour" || places[1].Tenant.ID != two || len(places[1].Roles) != 2 {
		t.Errorf("places %+v, %v", places, err)
	}
	if places, err := s.ListPlaces(t.Context(), another, "demo"); err != nil || len(places) != 1 || places[0].Tenant.ID != two {
		t.Errorf("another's places %+v, %v", places, err)
	}
	if places, err := s.ListPlaces(t.Context(), user, "production"); err != nil || len(places) != 0 {
		t.Errorf("places in another environment: %+v, %v", places, err)
	}
}

// As a user one reads one's own memberships and their tenants, whatever the query forgets, and writes nothing.
func TestAUserSeesTheirOwnPlacesAlone(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	put(t, s, one, user, owner)
	put(t, s, one, another, owner)
	put(t, s, two, another, owner)
	conn := connect(t, database.URL)
	as := func(id string, do func(pgx.Tx) error) {
		t.Helper()
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `SELECT set_config('app.user_id', $1, true)`, id); err != nil {
				return err
			}
			return do(tx)
		})
		if err != nil {
			t.Error(err)
		}
	}
	for id, want := range map[string]int{user: 1, another: 2, "": 0, one: 0} {
		for _, table := range []string{"tenant", "membership"} {
			as(id, func(tx pgx.Tx) error {
				var n int
				err := tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table).Scan(&n)
				if n != want {
					t.Errorf("as user %q, %s shows %d rows, want %d", id, table, n, want)
				}
				return err
			})
		}
	}
	for _, statement := range []string{
		`UPDATE tenant SET plan = 'standard'`, `UPDATE membership SET role_ids = '{}'`, `DELETE FROM membership`,
	} {
		as(user, func(tx pgx.Tx) error {
			tag, err := tx.Exec(t.Context(), statement)
			if tag.RowsAffected() != 0 {
				t.Errorf("a user wrote %d rows: %s", tag.RowsAffected(), statement)
			}
			return err
		})
	}
	_, err := conn.Exec(t.Context(), `INSERT INTO membership (tenant_id, user_id, role_ids, created_at) VALUES ($1, $2, '{}', now())`, two, user)
	if err == nil {
		t.Error("a user let themselves in")
	}
}
