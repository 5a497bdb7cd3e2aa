package rest

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func sealer(t *testing.T) *principal.Keyring {
	t.Helper()
	keys, err := principal.ParseKeyring("k:" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32)))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestACursorHoldsItsQuestion(t *testing.T) {
	t.Parallel()
	keys := sealer(t)
	c := cursors{keys, "t1"}
	asked := matching.Question{Given: matching.Given{matching.LastName: "Lima", matching.City: `"São" <Paulo> \`}, Limit: of(7.), Exact: of(true)}
	link := c.link("/v3/patient/find", asked, 42)
	rest, ok := strings.CutPrefix(link, "</v3/patient/find?limit=7&after=")
	sealed, closed := strings.CutSuffix(rest, `>; rel="next"`)
	if !ok || !closed || strings.Contains(link, "Lima") {
		t.Fatal(link)
	}
	for name, q := range map[string]matching.Question{"nothing beside it": {}, "the same beside it": {Given: asked.Given, Exact: of(true)}} {
		if !c.open(sealed, &q) || q.Given != asked.Given || q.After != 42 || !*q.Exact || q.Limit != nil {
			t.Errorf("%s: %+v", name, q)
		}
	}
	for name, q := range map[string]matching.Question{
		"another name": {Given: matching.Given{matching.LastName: "Reis"}}, "one name less": {Given: matching.Given{matching.LastName: "Lima"}},
		"another mode": {Exact: of(false)},
	} {
		before := q
		if c.open(sealed, &q) || q != before {
			t.Errorf("%s beside it: %+v", name, q)
		}
	}
	var q matching.Question
	for name, test := range map[string]struct {
		c      cursors
		sealed string
	}{
		"another tenant's": {cursors{keys, "t2"}, sealed}, "cut": {c, sealed[:len(sealed)-1]}, "empty": {c, ""}, "no base64": {c, "é"},
		"of another kind": {c, keys.Seal("1\x1fx", "document search", "t1")}, "of too little": {c, keys.Seal("1\x1fx", "find", "t1")},
		"without an id": {c, keys.Seal(strings.Repeat("\x1f", 14), "find", "t1")}, "nothing": {c, keys.Seal("", "find", "t1")},
	} {
		if test.c.open(test.sealed, &q) || q != (matching.Question{}) {
			t.Errorf("%s: %+v", name, q)
		}
	}
}

func TestACursorFitsIntoAURL(t *testing.T) {
	t.Parallel()
	var q matching.Question
	for d := range matching.Demographics {
		q.Given[d] = strings.Repeat("é", min(d.Limit(), 290))
	}
	if q.Oversized() != nil {
		t.Fatal("the question is too long")
	}
	if link := (cursors{sealer(t), "t"}).link("/v3/patient/find", q, 1<<53-1); len(link) > 12<<10 {
		t.Errorf("%d bytes", len(link))
	}
}
