package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// attempt posts a form or a JSON body, whose failing is no failure of the test.
func attempt(m *mesh.Mesh, path string, body any) (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Second)
	defer cancel()
	kind := "application/json"
	raw, err := json.Marshal(body)
	if err != nil {
		return answer{}, err
	}
	if form, isForm := body.(url.Values); isForm {
		kind, raw = formType, []byte(form.Encode())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL()+path, bytes.NewReader(raw))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Content-Type", kind)
	return (&client{}).send(req)
}

// leasesPass lets the time go by for which what a killed program was bringing on its way belongs to nobody else.
func leasesPass(t *testing.T, m *mesh.Mesh) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), m.Database("identity").MigrateURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `UPDATE outbox SET due_at = now() WHERE due_at > now()`); err != nil {
		t.Fatal(err)
	}
}

// forgetsNobody registers people, redeems codes and refreshes while identity, tenant and PostgreSQL are
// killed without warning. What was answered 2xx stands: the letter arrives, the organization is made once, the newest
// tokens work; and nobody who repeated a request whose answer was lost is signed out.
func forgetsNobody(t *testing.T, m *mesh.Mesh) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	var registered []account
	refreshed := 0
	sessions := make([]session, 2)
	for i := range sessions {
		sessions[i] = signInAt(t, m, first(m), publicClient(m), oauth2.SetAuthURLParam("tenantId", m.Demo().Tenants[0].ID))
	}
	p := newPerson(t, m) // who comes by codes

	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			a := stranger()
			got, err := attempt(m, "/user/public/register-user", a.registration())
			if err != nil || got.status >= http.StatusInternalServerError {
				continue
			}
			var made struct{ UserID, TenantID string }
			if err := json.Unmarshal(got.raw, &made); err != nil || got.status != http.StatusCreated {
				t.Errorf("a registration was answered %d: %s", got.status, got.raw)
				continue
			}
			a.id, a.tenant = made.UserID, made.TenantID
			mu.Lock()
			registered = append(registered, a)
			mu.Unlock()
		}
	})
	for i := range sessions {
		all.Go(func() {
			for ctx.Err() == nil {
				sent := time.Now()
				got, err := attempt(m, "/auth/oauth2/token", sessions[i].refreshing())
				for (err != nil || got.status >= http.StatusInternalServerError) && time.Since(sent) < 60*time.Second {
					got, err = attempt(m, "/auth/oauth2/token", sessions[i].refreshing())
				}
				var next oauth2.Token
				if err != nil || got.status != ok || json.Unmarshal(got.raw, &next) != nil {
					// Only whose answer was lost for longer than the time of grace may be signed out.
					if err == nil && time.Since(sent) < 8*time.Second {
						t.Errorf("a refresh was answered %d %s after %v", got.status, got.raw, time.Since(sent))
					}
					sessions[i].Token = nil
					return
				}
				mu.Lock()
				sessions[i].Token = &next
				refreshed++
				mu.Unlock()
			}
		})
	}
	progress := func() {
		t.Helper()
		mu.Lock()
		people, rotations := len(registered), refreshed
		mu.Unlock()
		eventually(t, time.Minute, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(registered) >= people+3 && (refreshed >= rotations+3 || !slices.ContainsFunc(sessions, func(s session) bool { return s.Token != nil }))
		})
	}
	progress()
	told := map[string][]int{}
	var kept []oauth2.Token
	for _, name := range []string{"identity", "tenant", "postgres"} {
		// Codes are redeemed while the program dies, until an answer says what became of them.
		config := publicClient(m)
		var redemptions sync.WaitGroup
		for range 3 {
			code, verifier := p.codeFor(config, first(m), oauth2.SetAuthURLParam("tenantId", m.Demo().Tenants[0].ID))
			redemptions.Go(func() {
				tick := time.NewTicker(20 * time.Millisecond)
				defer tick.Stop()
				for range 1000 {
					got, err := attempt(m, "/oauth2/token", redeeming(config, code, verifier))
					if err == nil && got.status < http.StatusInternalServerError {
						var tokens oauth2.Token
						mu.Lock()
						told[name] = append(told[name], got.status)
						if got.status == ok && json.Unmarshal(got.raw, &tokens) == nil {
							kept = append(kept, tokens)
						}
						mu.Unlock()
						return
					}
					<-tick.C
				}
			})
		}
		m.Process(name).Kill()
		redemptions.Wait()
		progress()
	}
	stop()
	all.Wait()
	heals(t, at(t, m, m.Demo().Tenants[0].APIKey))

	for name, statuses := range told {
		for _, status := range statuses {
			if status != ok && status != bad { // bad: it was redeemed, and the answer was lost
				t.Errorf("while %s was killed a code was answered %d", name, status)
			}
		}
		if len(statuses) != 3 {
			t.Errorf("while %s was killed %d of 3 codes were answered", name, len(statuses))
		}
	}
	for _, tokens := range kept {
		at(t, m, tokens.AccessToken).get("/v2/tenant").is(ok)
	}
	for _, s := range sessions {
		if s.Token != nil {
			s.refresh().client().get("/v2/tenant").is(ok)
		}
	}
	nobody := &client{t: t, base: m.URL(), header: http.Header{}}
	leasesPass(t, m)
	for _, a := range registered {
		nobody.post(linkTo(t, m, a.email, verifyLink, 0), nil).is(ok)
	}
	last := registered[len(registered)-1]
	for _, a := range []account{registered[0], registered[len(registered)/2], last} {
		eventually(t, 30*time.Second, func() bool {
			p := newPerson(t, m)
			return p.submit(p.visit("/sign-in"), map[string]string{"email": a.email, "password": a.password}).asks("firstName")
		})
		s := signInAt(t, m, a, publicClient(m))
		if s.tenant() != a.tenant {
			t.Error("another organization than was said")
		}
		s.client().post(patients, ana()).is(ok)
	}
	t.Logf("%d people registered, %d refreshes, codes %v", len(registered), refreshed, told)
}
