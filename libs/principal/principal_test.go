package principal_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func ring(t testing.TB, ids ...string) *principal.Keyring {
	t.Helper()
	var items []string
	for _, id := range ids {
		items = append(items, id+":"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat(id, 32)[:32])))
	}
	r, err := principal.ParseKeyring(strings.Join(items, ","))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var somebody = principal.Principal{
	TenantID: "t", UserID: "u", ClientID: "c", CredentialID: "i", Kind: principal.Session,
	Permissions: principal.PatientRead | principal.ClientManage, Plan: "free", Environment: "demo", AgreementAccepted: true, ExpiresAt: now.Add(time.Hour),
}

func TestAssertionReadsBack(t *testing.T) {
	a := ring(t, "a")
	text := a.Sign(principal.Encode(somebody), "GET", "/v3/patient?page=1", now)
	got, err := a.Verify(text, "GET", "/v3/patient?page=1", now.Add(principal.AssertionLifetime))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(somebody, got); diff != "" {
		t.Error(diff)
	}
}

// A key is changed in three rolls. During each, programs before it and after it speak with one another, and each has to
// take what the other signs: what MESH_KEY's description says must be done, and not less.
func TestKeysRotate(t *testing.T) {
	holds := func(signs, verifies *principal.Keyring) bool {
		_, err := verifies.Verify(signs.Sign(principal.Encode(somebody), "GET", "/", now), "GET", "/", now)
		return err == nil
	}
	rings := [][]string{{"a"}, {"a", "b"}, {"b", "a"}, {"b"}}
	for n := range len(rings) - 1 {
		before, after := ring(t, rings[n]...), ring(t, rings[n+1]...)
		if !holds(before, after) || !holds(after, before) {
			t.Errorf("while %v becomes %v, not all take what all sign", rings[n], rings[n+1])
		}
	}
	for _, short := range [][2]int{{0, 2}, {1, 3}, {0, 3}} { // a roll that is left out
		before, after := ring(t, rings[short[0]]...), ring(t, rings[short[1]]...)
		if holds(before, after) && holds(after, before) {
			t.Errorf("%v may become %v at once: fewer rolls would do", rings[short[0]], rings[short[1]])
		}
	}
}

func TestWhatDoesNotHold(t *testing.T) {
	a := ring(t, "a")
	good := a.Sign(principal.Encode(somebody), "GET", "/x", now)
	more := somebody
	more.Permissions = principal.All
	parts := strings.Split(good, ".")
	widened := strings.Join([]string{parts[0], parts[1], string(principal.Encode(more)), parts[3], parts[4]}, ".")
	later := strings.Join([]string{parts[0], parts[1], parts[2], "zzzzzzzz", parts[4]}, ".")
	for name, try := range map[string]struct {
		text, method, target string
		at                   time.Time
	}{
		"another method":    {good, "DELETE", "/x", now},
		"another target":    {good, "GET", "/y", now},
		"target split else": {good, "GET\n", "x", now},
		"too late":          {good, "GET", "/x", now.Add(principal.AssertionLifetime + time.Millisecond)},
		"widened":           {widened, "GET", "/x", now},
		"prolonged":         {later, "GET", "/x", now},
		"nothing":           {"", "GET", "/x", now},
		"no mac":            {strings.Join(parts[:4], ".") + ".", "GET", "/x", now},
		"another ring":      {ring(t, "b").Sign(principal.Encode(somebody), "GET", "/x", now), "GET", "/x", now},
		"version 2":         {"v2" + good[2:], "GET", "/x", now},
	} {
		if _, err := a.Verify(try.text, try.method, try.target, try.at); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

func TestKeyringRefusesWeakKeys(t *testing.T) {
	for _, text := range []string{"", "a", "a:", "a:c2hvcnQ=", ":" + strings.Repeat("QUFB", 11), "a.b:" + strings.Repeat("QUFB", 11)} {
		if _, err := principal.ParseKeyring(text); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestRequireIsDenyByDefault(t *testing.T) {
	ctx := t.Context()
	if _, err := principal.Require(ctx, principal.PatientRead); !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("nobody: %v", err)
	}
	ctx = principal.With(ctx, somebody)
	if _, err := principal.Require(ctx, principal.PatientRead|principal.PatientWrite); !fault.Is(err, fault.Denied) {
		t.Errorf("half the permissions: %v", err)
	}
	if _, err := principal.Require(ctx, principal.PatientRead); err != nil {
		t.Error(err)
	}
	if _, err := principal.RequireService(ctx); !fault.Is(err, fault.Denied) {
		t.Errorf("a user at an operation of the mesh: %v", err)
	}
}

func TestPermissionNames(t *testing.T) {
	if got := principal.ParsePermissions(principal.All.Names()); got != principal.All {
		t.Errorf("%v", got)
	}
	if _, ok := principal.ParsePermission("patient:everything"); ok {
		t.Error("a name that is none was taken")
	}
}

func BenchmarkSign(b *testing.B) {
	r, p := ring(b, "a"), principal.Encode(somebody)
	b.ReportAllocs()
	for b.Loop() {
		r.Sign(p, "GET", "/v3/patient/524288123", now)
	}
}

func BenchmarkVerify(b *testing.B) {
	r := ring(b, "a")
	text := r.Sign(principal.Encode(somebody), "GET", "/v3/patient/524288123", now)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := r.Verify(text, "GET", "/v3/patient/524288123", now); err != nil {
			b.Fatal(err)
		}
	}
}
