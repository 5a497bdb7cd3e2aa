package e2e

import (
	"context"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// together runs f so many times at once.
func together[T any](times int, f func() T) []T {
	results := make([]T, times)
	var all sync.WaitGroup
	for i := range results {
		all.Go(func() { results[i] = f() })
	}
	all.Wait()
	return results
}

// pass lets the time within which a refresh may be repeated go by: for one user's tokens and codes, in the database.
func pass(t *testing.T, m *mesh.Mesh, user string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, m.Database("identity").MigrateURL)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `SELECT set_config('app.user_id', $1, false)`, user); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"refresh_token", "authorization_code"} {
		if _, err := conn.Exec(ctx, `UPDATE `+table+` SET spent_at = spent_at - interval '11 seconds' WHERE spent_at IS NOT NULL`); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefreshReuseInSequenceEndsTheFamily(t *testing.T) {
	spent := signIn(t, newAccount(t))
	fresh := spent.refresh()
	pass(t, world, spent.who.id)
	fresh.client().get(patients).is(ok)
	anyone(t).form("/auth/oauth2/token", spent.refreshing()).fails("invalid_grant")
	fresh.ended()
	spent.ended()
}

// A client whose answer was lost asks again and gets the same pair; nobody is signed out.
func TestRefreshAfterALostAnswer(t *testing.T) {
	lost := signIn(t, newAccount(t))
	answered, again := lost.refresh(), lost.refresh()
	if again.AccessToken != answered.AccessToken || again.RefreshToken != answered.RefreshToken {
		t.Error("another pair")
	}
	again.refresh().client().get(patients).is(ok)
}

func TestRefreshInParallelRotatesOnce(t *testing.T) {
	s := signIn(t, newAccount(t))
	pairs := map[string]bool{}
	var last map[string]any
	for _, a := range together(16, func() answer { return anyone(t).form("/auth/oauth2/token", s.refreshing()) }) {
		last = a.is(ok).object()
		pairs[last["access_token"].(string)+last["refresh_token"].(string)] = true
	}
	if len(pairs) != 1 {
		t.Errorf("%d pairs", len(pairs))
	}
	s.Token = &oauth2.Token{AccessToken: secretly(last["access_token"].(string)), RefreshToken: secretly(last["refresh_token"].(string))}
	s.client().get(patients).is(ok)
	s.refresh()
}

func TestRefreshByAnotherClientOrForMore(t *testing.T) {
	config := publicClient(world, "patient:read", "offline_access")
	s := signInAt(t, world, newAccount(t), config)
	other, _ := webClient(t, nil)
	stolen := s.refreshing()
	stolen.Set("client_id", other.ClientID)
	stolen.Set("client_secret", other.ClientSecret)
	anyone(t).form("/auth/oauth2/token", stolen).fails("invalid_grant")
	more := s.refreshing()
	more.Set("scope", "patient:read patient:write")
	anyone(t).form("/auth/oauth2/token", more).fails("invalid_scope")
	s.refresh().client().get(patients).is(ok) // neither has cost anything
}

// Sixteen parallel redemptions of one code: one wins, and whoever comes late ends what it got.
func TestParallelRedemption(t *testing.T) {
	who, config := newAccount(t), publicClient(world)
	p := newPerson(t, world)
	code, verifier := p.codeFor(config, who)
	form := url.Values{
		"grant_type": {"authorization_code"}, "client_id": {config.ClientID}, "code": {code}, "redirect_uri": {callback}, "code_verifier": {verifier},
	}
	var won []answer
	for _, a := range together(16, func() answer { return anyone(t).form("/oauth2/token", form) }) {
		if a.status == ok {
			won = append(won, a)
		} else {
			a.fails("invalid_grant")
		}
	}
	if len(won) != 1 {
		t.Fatalf("%d of 16 redeemed one code", len(won))
	}
	var got oauth2.Token
	won[0].into(&got)
	secretly(got.AccessToken)
	secretly(got.RefreshToken)
	s := session{Token: &got, by: p, who: who, config: config, mesh: world}
	s.client().get(patients).is(ok)
	pass(t, world, who.id)
	anyone(t).form("/oauth2/token", form).fails("invalid_grant")
	s.ended()
}
