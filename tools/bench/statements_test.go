package bench

import (
	"slices"
	"strings"
	"testing"
)

const log = `2031-01-01 00:00:00.000 UTC [7] LOG:  execute <unnamed>: SELECT 1
2031-01-01 00:00:00.001 UTC [9] LOG:  execute stmtcache_1: SELECT set_config('app.tenant_id', $1, true)
2031-01-01 00:00:00.001 UTC [9] DETAIL:  parameters: $1 = 'another'
2031-01-01 00:00:00.002 UTC [7] LOG:  execute stmtcache_1: SELECT set_config('app.tenant_id', $1, true)
2031-01-01 00:00:00.002 UTC [7] DETAIL:  parameters: $1 = 'mine'
2031-01-01 00:00:00.003 UTC [9] LOG:  execute stmtcache_9: DELETE FROM x
2031-01-01 00:00:00.003 UTC [7] LOG:  execute stmtcache_2:` + " \n\t\tINSERT INTO t (a, b)\n\t\tSELECT $1, $2::date, $1, $3" + `
2031-01-01 00:00:00.003 UTC [7] DETAIL:  parameters: $1 = 'o''neil, $2 = ''x''', $2 = '1990-01-01', $3 = NULL
`

func TestABatchIsReadFromTheLog(t *testing.T) {
	got := batchIn(log, "mine")
	if len(got) != 2 || !strings.HasPrefix(got[0].sql, "SELECT set_config") || !strings.Contains(got[1].sql, "INSERT INTO t") {
		t.Fatalf("got %+v", got)
	}
	p := got[1].params
	if len(p) != 3 || *p[0] != "o'neil, $2 = 'x'" || *p[1] != "1990-01-01" || p[2] != nil {
		t.Errorf("got %d parameters: %v", len(p), p)
	}
	if len(batchIn(log, "nobody")) != 0 {
		t.Error("a batch of nobody is found")
	}
}

func TestTheScriptBindsWhatTheServiceBinds(t *testing.T) {
	text, variables := script(batchIn(log, "mine"))
	want := "\\startpipeline\nSELECT set_config('app.tenant_id', :s0p1, true);\nINSERT INTO t (a, b) SELECT :s1p1, :s1p2::date, :s1p1, NULL;\n\\endpipeline\n"
	if text != want {
		t.Errorf("got:\n%s", text)
	}
	if !slices.Equal(variables, []string{"s0p1=mine", "s1p1=o'neil, $2 = 'x'", "s1p2=1990-01-01"}) {
		t.Errorf("got %q", variables)
	}
}

func TestPgbenchIsRead(t *testing.T) {
	got, err := pgbenchSays("number of failed transactions: 2 (0.01%)\nlatency average = 0.500 ms\ntps = 1234.5 (without initial connection time)\n")
	if err != nil || got.Rate != 1234.5 || got.Failed != 2 || got.P50 != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := pgbenchSays("pgbench: error"); err == nil {
		t.Error("a run without a rate is accepted")
	}
}

func TestABatchEndsWhereTheTrailBegins(t *testing.T) {
	name, read, write := statement{sql: "SELECT set_config($1)"}, statement{sql: "\n\tSELECT id FROM patient"}, statement{sql: "INSERT INTO patient"}
	entry, relay := statement{sql: "INSERT INTO audit_entry (entries) VALUES ($1)"}, statement{sql: "UPDATE audit_lease SET owner = $1"}
	for want, batch := range map[int][]statement{2: {name, read, entry, relay}, 3: {name, write, entry, relay}, 0: nil} {
		if got := own(batch); len(got) != want {
			t.Errorf("%d statements of %v, want %d", len(got), batch, want)
		}
	}
}
