package rest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// river tells of two people, whatever it is asked, and remembers what that was.
type river struct {
	tenant string
	since  string
	after  int64
	limit  int
}

func (r *river) People(_ context.Context, tenant string, since *patient.Position, after int64, limit int) (feed.Page, patient.Position, error) {
	*r = river{tenant: tenant, after: after, limit: limit}
	if since != nil {
		r.since = since.String()
	}
	return feed.Page{People: people(), More: true}, patient.Position{Epoch: "e", Snapshot: "5:7:5", Next: 7}, nil
}

func people() []linkage.Demographics {
	return []linkage.Demographics{
		{
			ID: 1, FirstName: "Ana", DOB: "1980-02-29", Addresses: []linkage.Address{{City: "Springfield"}}, Contacts: []linkage.Contact{{E164: "+1"}},
			Aliases: []linkage.Alias{{FullName: "A", From: -1}}, Identifiers: []linkage.Identifier{{Value: "42", Until: 1 << 50}},
		},
		{ID: 1<<53 - 1, Deleted: true},
	}
}

func TestProgramsReadTheFeed(t *testing.T) {
	s := serve(t)
	s.who = principal.Principal{Kind: principal.Service, ClientID: "matching"}
	const tenant = "01997e2c-8d1f-7c3a-9b60-4f1d2a7c5e11"
	read := func(query string) answer {
		return s.do("GET", "/internal/tenant/"+tenant+"/demographics"+query, "", nil)
	}

	got := read("")
	var page feed.Page
	rest, err := page.UnmarshalMsg([]byte(got.body))
	if got.status != 200 || got.header.Get("Content-Type") != feed.MediaType || err != nil || len(rest) != 0 {
		t.Fatalf("%d %s, %v, %d bytes left", got.status, got.header.Get("Content-Type"), err, len(rest))
	}
	if diff := cmp.Diff(feed.Page{Position: "e/5:7:5", More: true, People: people()}, page); diff != "" {
		t.Error(diff)
	}
	if want := (river{tenant: tenant, limit: feed.MostPeople}); *s.river != want {
		t.Errorf("asked %+v", *s.river)
	}
	read("?since=e/5:6:&after=77&limit=1")
	if want := (river{tenant: tenant, since: "e/5:6:", after: 77, limit: 1}); *s.river != want {
		t.Errorf("asked %+v", *s.river)
	}
	if got := read("?since=e/5:8:"); got.status != 409 || !strings.Contains(got.body, feed.CodeLost) {
		t.Errorf("a position from ahead: %d %s", got.status, got.body)
	}
	for _, query := range []string{"?after=-1", "?after=x", "?after=9007199254740992", "?limit=0", "?limit=5001", "?limit=1.5", "?since=x"} {
		if got := read(query); got.status != 400 {
			t.Errorf("%s: %d", query, got.status)
		}
	}
	for name, who := range map[string]principal.Principal{
		"a caller":                 {Kind: principal.APIKey, TenantID: tenant, Permissions: principal.All},
		"a caller called so":       {Kind: principal.Client, TenantID: tenant, ClientID: "matching", Permissions: principal.All},
		"another program":          {Kind: principal.Service, ClientID: "attachment"},
		"a program without a name": {Kind: principal.Service},
	} {
		*s.river = river{}
		s.who = who
		if got := read(""); got.status != 403 || *s.river != (river{}) {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}
