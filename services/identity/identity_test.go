package identity_test

import (
	"strings"
	"testing"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func TestWhatAClientMayDo(t *testing.T) {
	t.Parallel()
	byRoles := principal.PatientRead | principal.PatientWrite
	for _, c := range []struct {
		name   string
		client identity.Client
		want   principal.Permission
	}{
		{"roles alone", identity.Client{RoleIDs: []string{"r"}}, byRoles},
		{"scope alone", identity.Client{Scope: []string{"match:read", "offline_access"}}, principal.MatchRead},
		{"scope narrows roles", identity.Client{RoleIDs: []string{"r"}, Scope: []string{"patient:read", "match:read"}}, principal.PatientRead},
		{"nothing", identity.Client{}, 0},
	} {
		if got := c.client.Permissions(byRoles); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestLiveKey(t *testing.T) {
	t.Parallel()
	now := time.Now()
	past, future := now.Add(-time.Second), now.Add(time.Second)
	for _, c := range []struct {
		name string
		key  identity.APIKey
		want bool
	}{
		{"for ever", identity.APIKey{Environment: "demo"}, true},
		{"not yet expired", identity.APIKey{Environment: "demo", ExpiresAt: &future}, true},
		{"expired", identity.APIKey{Environment: "demo", ExpiresAt: &past}, false},
		{"expires now", identity.APIKey{Environment: "demo", ExpiresAt: &now}, false},
		{"revoked", identity.APIKey{Environment: "demo", RevokedAt: &past}, false},
		{"of another environment", identity.APIKey{Environment: "production"}, false},
	} {
		if got := c.key.Live("demo", now); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestPrefixNamesTheKeyAndNoMore(t *testing.T) {
	t.Parallel()
	k := identity.APIKey{ID: "01991f5e-6f2b-7c3a-9d41-0c2f6b7a1e55", Environment: "production"}
	if got := k.Prefix(); got != "prs_prod_01991f5e6f2b7c3a9d410c2f6b7a1e55" {
		t.Errorf("prefix %s", got)
	}
}

func TestEmailKeyFoldsCase(t *testing.T) {
	t.Parallel()
	if identity.EmailKey("Ada@Example.org") != strings.ToLower("Ada@Example.org") {
		t.Error("two spellings of one address differ")
	}
}
