package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// TestIndexesAreKeptAndMadeAnew has a mesh whose matching may hold little.
func TestIndexesAreKeptAndMadeAnew(t *testing.T) {
	t.Parallel()
	m := private(t, mesh.Options{EnvOf: map[string]map[string]string{"matching": {"INDEX_MEMORY": "512KiB"}}})
	t.Run("after a backup was restored", func(t *testing.T) { findsInABackup(t, m) })
	t.Run("when the process starts again", func(t *testing.T) { findsAfterAStart(t, m) })
	t.Run("while there is room", func(t *testing.T) { findsWhileThereIsRoom(t, m) })
}

// findsInABackup makes the database what it is after a backup was restored: it lacks what came since, and counts its
// transactions anew. Nothing tells matching of it.
func findsInABackup(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	_, old := stored(c, but(map[string]any{"lastName": "Vasconcelos"}))
	_, late := stored(c, but(map[string]any{"lastName": "Vasconcelos"}))
	seeker{c, late.ID}.sees(true, "before", exactly("lastName", "Vasconcelos"))

	u, err := url.Parse(m.AdminURL())
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/prs_patient"
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `DELETE FROM patient WHERE id = $1`, late.ID); err != nil {
		t.Fatal(err)
	}
	seeker{c, late.ID}.sees(true, "what only the database knows", exactly("lastName", "Vasconcelos"))
	if _, err := conn.Exec(t.Context(), `TRUNCATE feed_epoch`); err != nil {
		t.Fatal(err)
	}
	seeker{c, late.ID}.sees(false, "what came after the backup", exactly("lastName", "Vasconcelos"))
	seeker{c, old.ID}.sees(true, "what the backup has", exactly("lastName", "Vasconcelos"))
	_, next := stored(c, but(map[string]any{"lastName": "Vasconcelos"}))
	seeker{c, next.ID}.sees(true, "what comes then", exactly("lastName", "Vasconcelos"))
}

// findsAfterAStart stops matching and starts it again: it is ready once it has loaded who was asked about.
func findsAfterAStart(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	_, p := stored(c, but(map[string]any{"lastName": "Quintanilha"}))
	seeker{c, p.ID}.sees(true, "before", exactly("lastName", "Quintanilha"))
	matching := m.Process("matching")
	matching.Stop(t.Context())
	matching.Start()
	own := func(path string) (status int, body string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+m.Address("matching")+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 0, ""
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(raw)
	}
	eventually(t, time.Minute, func() bool { status, _ := own("/readyz"); return status == ok })
	if _, metrics := own("/metrics"); !regexp.MustCompile(`(?m)^index_tenants(\{.*\})? 1$`).MatchString(metrics) {
		t.Error("who was asked about was not loaded before it was ready")
	}
	eventually(t, time.Minute, func() bool { return c.get(findV3+"?lastName=Quintanilha").status == ok })
	seeker{c, p.ID}.sees(true, "after", exactly("lastName", "Quintanilha"))
}

// findsWhileThereIsRoom asks about a tenant that is too large for matching, and about one that is not.
func findsWhileThereIsRoom(t *testing.T, m *mesh.Mesh) {
	large, small := at(t, m, m.Demo().Tenants[0].APIKey), at(t, m, m.Demo().Tenants[1].APIKey)
	var lines strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&lines, `{"firstName":"First%06d","lastName":"Last%06d","dob":"19%02d-03-%02d"}`+"\n", i, i, i%100, 1+i%28)
	}
	_, _ = large.with("Content-Type", "application/x-ndjson").ask(http.MethodPost, patients+"/import", lines.String())
	refused := func() answer {
		a := large.get(findV3 + "?lastName=Last000001").is(http.StatusServiceUnavailable)
		if a.header.Get("Retry-After") == "" {
			t.Errorf("%s without Retry-After", a.raw)
		}
		return a
	}
	// A slow machine is told first that it loads, or has not caught up.
	eventually(t, time.Minute, func() bool { return refused().object()["code"] == "index_full" })
	if a := refused(); a.object()["code"] != "index_full" {
		t.Errorf("%s", a.raw)
	}
	_, p := stored(small, ana())
	seeker{small, p.ID}.sees(true, "a tenant that there is room for", exactly("lastName", "Lima"))
	if a := large.get(findV3 + "?lastName=Last000001"); a.status != http.StatusServiceUnavailable {
		t.Errorf("answered %d: %s", a.status, a.raw)
	}
}
