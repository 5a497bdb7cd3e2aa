package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/audit"
)

const trail = "/v3/audit"

// recordsAt follows a list of records to its end.
func recordsAt(c *client, path string) []audit.Record {
	c.t.Helper()
	var all []audit.Record
	for path != "" {
		var page struct {
			Content       []audit.Record
			TotalElements int
		}
		a := c.get(path).is(ok)
		a.into(&page)
		all = append(all, page.Content...)
		if path = ""; a.header.Get("Link") != "" {
			path = nextOf(c.t, a)
		} else if len(all) != page.TotalElements {
			c.t.Errorf("%d records of %d", len(all), page.TotalElements)
		}
	}
	return all
}

// told is "action outcome" of records.
func told(records []audit.Record) []string {
	list := []string{}
	for _, r := range records {
		list = append(list, r.Action+" "+r.Outcome)
	}
	return list
}

type verification struct {
	Records, Total   int
	Intact, Complete bool
	FirstBrokenID    string
}

func verify(c *client) (v verification) {
	c.t.Helper()
	c.get(trail + "/verification").is(ok).into(&v)
	return v
}

func TestEveryAccessToAPatientLeavesOneRecord(t *testing.T) {
	c := newTenant(t)
	var p shown
	once := c.with("Idempotency-Key", key(t))
	created := once.post(patients, ana()).is(ok)
	created.into(&p)
	if again := once.post(patients, ana()).is(ok); again.header.Get("Idempotent-Replayed") == "" {
		t.Fatal("no repeat")
	}
	at, nobody := path(p.ID), fmt.Sprint(p.ID+1)
	before := time.Now()
	shownAt := c.get(at).is(ok).header.Get("Trace-Id")
	c.get(patients).is(ok)
	c.patch(at, map[string]any{"middleName": "M"}).is(ok)
	c.patch(at, map[string]any{"middleName": "M"}).is(ok) // changes nothing, and shows the patient
	c.with("If-Match", `"1"`).patch(at, map[string]any{"middleName": "N"}).is(http.StatusPreconditionFailed)
	c.get(at + "/history").is(ok)
	c.get(at + "/deceased").is(ok)
	c.put(at+"/deceased", nil).is(ok)
	c.delete(at + "/deceased").is(ok)
	c.delete(at).is(ok)
	c.get(at).is(missing)
	c.patch(at, map[string]any{}).is(missing)
	c.post(at+"/restore", nil).is(ok)
	c.get(patients + "/" + nobody).is(missing)
	c.get(patients + "/nobody").is(missing)

	of := trail + "?patientId=" + fmt.Sprint(p.ID)
	want := []string{
		"patient.create success", "patient.read success", "patient.update success", "patient.update success", "patient.update failure",
		"history.read success", "deceased.read success", "deceased.mark success", "deceased.unmark success", "patient.delete success",
		"patient.read failure", "patient.update failure", "patient.restore success",
	}
	eventually(t, 10*time.Second, func() bool { return len(recordsAt(c, of)) >= len(want) })
	mine := recordsAt(c, of+"&size=3")
	if diff := cmp.Diff(want, told(mine)); diff != "" {
		t.Fatal(diff)
	}
	for i, r := range mine {
		if r.Actor.Type != "api_key" || r.Actor.ID == "" || r.CredentialID != r.Actor.ID || *r.PatientID != p.ID || time.Since(r.At) > time.Minute ||
			r.TraceID == "" || i > 0 && r.ID <= mine[i-1].ID {
			t.Errorf("record %d: %+v", i, r)
		}
	}
	if mine[0].TraceID != created.header.Get("Trace-Id") || mine[1].TraceID != shownAt {
		t.Error("the records do not lead to the requests")
	}
	// The last two are of nobody: the first names the number that was asked for.
	eventually(t, 10*time.Second, func() bool { return len(recordsAt(c, trail+"?action=patient.read")) == 4 })
	reads := recordsAt(c, trail+"?action=patient.read")
	if *reads[2].PatientID != p.ID+1 || reads[3].PatientID != nil || reads[3].Outcome != audit.Failure {
		t.Errorf("%+v", reads[2:])
	}
	if lists := recordsAt(c, trail+"?action=patient.list&actor="+mine[0].Actor.ID); len(lists) != 1 || lists[0].PatientID != nil {
		t.Errorf("lists %+v", lists)
	}
	later := recordsAt(c, of+"&from="+before.UTC().Format("2006-01-02T15:04:05.000Z"))
	earlier := recordsAt(c, of+"&to="+before.UTC().Format("2006-01-02T15:04:05.000Z"))
	if len(earlier) != 1 || len(later) != len(mine)-1 {
		t.Errorf("%d before, %d after", len(earlier), len(later))
	}

	eventually(t, 10*time.Second, func() bool { // of other services too, which have relays of their own
		list := told(recordsAt(c, trail))
		return slices.Contains(list, "tenant.create success") && slices.Contains(list, "member.change success") && slices.Contains(list, "token.mint success")
	})
	all := recordsAt(c, trail+"?size=7")
	if last, err := audit.Verify(audit.Genesis, all); err != nil || last != all[len(all)-1].Hash {
		t.Errorf("the chain as it is shown: %v", err)
	}
	if len(all) != len(mine)+6 { // those three, a list, and two reads of nobody
		t.Errorf("%v", told(all))
	}
	if v := verify(c); !v.Intact || !v.Complete || v.Total != len(all) || v.Records != len(all) {
		t.Errorf("%+v of %d", v, len(all))
	}
	if theirs := recordsAt(other(t), of); len(theirs) != 0 {
		t.Errorf("another tenant sees %v", told(theirs))
	}
}

// Whoever owns the database can do anything to it; it shows.
func TestATamperedTrailShows(t *testing.T) {
	inside(t)
	for name, c := range map[string]struct{ sql, back string }{
		"altered": {
			`UPDATE audit_record SET action = 'patient.list' WHERE tenant_id = $1 AND action = 'patient.read'`,
			`UPDATE audit_record SET action = 'patient.read' WHERE tenant_id = $1 AND action = 'patient.list'`,
		},
		"removed":            {`DELETE FROM audit_record WHERE tenant_id = $1 AND action = 'patient.read'`, ""},
		"removed at the end": {`DELETE FROM audit_record r WHERE tenant_id = $1 AND seq = (SELECT max(seq) FROM audit_record WHERE tenant_id = r.tenant_id)`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			who := newTenant(t)
			at, _ := stored(who, ana())
			who.get(at).is(ok)
			who.delete(at).is(ok)
			eventually(t, 10*time.Second, func() bool { return len(recordsAt(who, trail)) == 6 }) // with those of the tenant itself, its member and its key
			if v := verify(who); !v.Intact {
				t.Fatalf("%+v", v)
			}
			tenant := fmt.Sprint(who.get("/v2/tenant").is(ok).object()["id"])
			tamper := func(sql string) {
				t.Helper()
				config, err := pgx.ParseConfig(world.AdminURL())
				if err != nil {
					t.Fatal(err)
				}
				config.Database = databaseOf(t, "tenant")
				conn, err := pgx.ConnectConfig(t.Context(), config)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close(context.Background())
				if tag, err := conn.Exec(t.Context(), sql, tenant); err != nil || tag.RowsAffected() != 1 {
					t.Fatal(tag, err)
				}
			}
			tamper(c.sql)
			v := verify(who)
			if v.Intact || (v.FirstBrokenID == "") != (name == "removed at the end") {
				t.Errorf("%+v", v)
			}
			if c.back == "" {
				return
			}
			if tamper(c.back); !verify(who).Intact {
				t.Error("not whole again")
			}
		})
	}
}

func databaseOf(t *testing.T, service string) string {
	t.Helper()
	inside(t)
	config, err := pgx.ParseConfig(world.Database(service).URL)
	if err != nil {
		t.Fatal(err)
	}
	return config.Database
}

func TestWhatTheTrailIsAskedWrongly(t *testing.T) {
	c := newTenant(t)
	got := c.get(trail + "?patientId=x&from=yesterday&to=2026-02-30&actor=&action=%00&size=0").faults()
	want := []string{
		"size out_of_range", "patientId invalid_id", "actor required", "action control_character", "from invalid_instant", "to invalid_instant",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := c.get(trail + "?from=2026-03-02&to=2026-03-01").faults(); !slices.Equal(got, []string{"to before_from"}) {
		t.Error(got)
	}
	if got := c.get(trail + "/verification?after=x").faults(); !slices.Equal(got, []string{"after invalid_cursor"}) {
		t.Error(got)
	}
	clerk := as(t, clerkKey(t, c))
	clerk.get(trail).refused(http.StatusForbidden, "permission_denied")
	clerk.get(trail+"/verification").refused(http.StatusForbidden, "permission_denied")
	anyone(t).get(trail).is(http.StatusUnauthorized)
}

// clerkKey is a key that may read patients and no more.
func clerkKey(t *testing.T, c *client) string {
	t.Helper()
	var roles struct{ Content []struct{ ID, Name string } }
	c.get("/v2/access-control/role/all").is(ok).into(&roles)
	for _, r := range roles.Content {
		if r.Name == "Records Reader" {
			var made struct{ Token string }
			c.post("/v2/token", map[string]any{"acRoleIds": []string{r.ID}}).is(http.StatusCreated).into(&made)
			return made.Token
		}
	}
	t.Fatal("no such role")
	return ""
}

// TestTheTrailTellsOfSignIns has a person sign in by the pages, first with a wrong password.
func TestTheTrailTellsOfSignIns(t *testing.T) {
	c := newTenant(t)
	tenant := fmt.Sprint(c.get("/v2/tenant").is(ok).object()["id"])
	const password = "a heron over slow water"
	var user struct{ ID, Email string }
	inner(t, "identity", http.MethodPost, "/internal/user", map[string]any{
		"email": fmt.Sprintf("ines.%d@example.org", time.Now().UnixNano()), "password": password, "firstName": "Ines", "lastName": "Vidal", "emailVerified": true,
	}, &user)
	inner(t, "tenant", http.MethodPut, "/internal/tenant/"+tenant+"/member/"+user.ID, map[string]any{"roles": []string{"Owner"}}, nil)

	p := newPerson(t, world)
	refused := p.submit(p.visit("/sign-in").is(ok), map[string]string{"email": user.Email, "password": "not it at all"})
	if refused.status == ok {
		t.Fatalf("signed in with a wrong password: %s", refused.shown())
	}
	p.submit(refused, map[string]string{"email": user.Email, "password": password}).is(ok)

	var found []audit.Record
	eventually(t, 10*time.Second, func() bool {
		found = recordsAt(c, trail+"?actor="+user.ID)
		return len(found) >= 2
	})
	list := told(found)
	slices.Sort(list)
	if diff := cmp.Diff([]string{"sign_in.failure failure", "sign_in.success success"}, list); diff != "" {
		t.Error(diff)
	}
	for _, r := range found {
		if r.Actor.Type != "user" || r.Actor.ID != user.ID || r.TenantID != tenant {
			t.Errorf("%+v", r)
		}
	}
	if v := verify(c); !v.Intact || !v.Complete {
		t.Errorf("%+v", v)
	}
}
