package page_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestLaunch(t *testing.T) {
	t.Parallel()
	w := newWorld()
	b := open(t, w).signIn().get("/account").want(http.StatusOK, "Ward Dashboard", "dashboard.example", "working at Northside Clinic")
	b.submit("/account/launch").want(http.StatusOK, `content="0; url=https://dashboard.example/auth?lpl=AbC-_123"`, `href="https://dashboard.example/auth?lpl=AbC-_123"`)
	if !slices.Contains(w.did, "launch a1") || w.acted.UserID != userID || w.acted.TenantID != north {
		t.Errorf("%v %+v", w.did, w.acted)
	}
	if policy := b.head.Get("Content-Security-Policy"); strings.Contains(policy, "dashboard") {
		t.Error(policy)
	}
	b.get("/account").post("/account/launch", nil).want(http.StatusForbidden, "This form has expired")

	w.memberships[0].MFARequired = true
	values := b.get("/account").want(http.StatusOK).form("/account/profile") // for its token
	if strings.Contains(b.body, "/account/launch") {
		t.Error("applications are offered before the second factor")
	}
	values.Set("id", "a1")
	before := len(w.did)
	if b.post("/account/launch", values).want(http.StatusForbidden); len(w.did) != before {
		t.Error("launched before the second factor")
	}
}

// A mesh on one's own machine is visited by its name too, for passkeys, and by no other.
func TestLoopbackHasAName(t *testing.T) {
	t.Parallel()
	b := open(t, newWorld())
	b.server = newServer(t, newWorld(), "http://127.0.0.1:8080")
	for origin, want := range map[string]int{
		"http://127.0.0.1:8080": http.StatusOK, "http://localhost:8080": http.StatusOK, "http://localhost:8081": http.StatusForbidden,
		"https://localhost:8080": http.StatusForbidden, "http://localhost": http.StatusForbidden,
	} {
		values := b.get("/sign-in").form("/sign-in")
		b.header.Set("Origin", origin)
		b.header.Set("X-CSRF-Token", values.Get("csrf"))
		b.do(http.MethodPost, "/sign-in/passkey/begin", "application/json", "{}").want(want)
		b.header.Del("Origin")
	}
	far := open(t, newWorld())
	values := far.get("/sign-in").form("/sign-in")
	far.header.Set("Origin", "http://localhost")
	far.header.Set("X-CSRF-Token", values.Get("csrf"))
	far.do(http.MethodPost, "/sign-in/passkey/begin", "application/json", "{}").want(http.StatusForbidden)
}
