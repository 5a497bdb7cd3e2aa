package e2e

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// secrets are what the tests typed, were shown or were mailed, and what must therefore stand in nothing that is emitted.
var secrets = &register{by: map[uint64][]string{}}

// register finds many texts in a long one in a single pass.
type register struct {
	mu    sync.RWMutex
	by    map[uint64][]string // by their first eight bytes
	begun [1 << marked]bool   // where a text may begin: the map is asked only there
}

// marked is how many bits of a hash tell whether a text may begin: enough that some thousand texts leave most of them false.
const marked = 18

// mark is Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, section 6.4).
func mark(head uint64) uint64 { return head * 0x9e3779b97f4a7c15 >> (64 - marked) }

// secretly notes a secret and gives it back. What is shorter than eight bytes could stand somewhere by chance.
func secretly(text string) string {
	if len(text) < 8 {
		return text
	}
	secrets.mu.Lock()
	defer secrets.mu.Unlock()
	head := binary.LittleEndian.Uint64([]byte(text))
	if !slices.Contains(secrets.by[head], text) {
		secrets.by[head] = append(secrets.by[head], text)
	}
	secrets.begun[mark(head)] = true
	return text
}

// in gives the first secret that stands in a text; "" when there is none.
func (r *register) in(text []byte) string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for i := r.next(text, 0); i >= 0; i = r.next(text, i+1) {
		for _, one := range r.by[binary.LittleEndian.Uint64(text[i:])] {
			if bytes.HasPrefix(text[i:], []byte(one)) {
				return one
			}
		}
	}
	return ""
}

// next is where, from a place on, a secret may begin; -1 when there is none any more. It goes over all that the mesh ever
// said, a byte at a time, which takes the race detector most of a minute to watch: the lock is held, and nobody else looks.
//
//go:norace
func (r *register) next(text []byte, from int) int {
	for i := from; i+8 <= len(text); i++ {
		if r.begun[mark(binary.LittleEndian.Uint64(text[i:]))] {
			return i
		}
	}
	return -1
}

// TestNothingEmittedHoldsAPersonsSecrets uses every secret that a person has the good way and the bad ones, and searches
// all that the mesh wrote or sent for these and for those of all tests that ran before: passwords, addresses, tokens,
// codes, links, cookies, shared secrets. What it answers is searched in every test.
func TestNothingEmittedHoldsAPersonsSecrets(t *testing.T) {
	inside(t)
	demo := world.Demo()
	for _, d := range demo.Tenants {
		secretly(d.APIKey[len(d.APIKey)-40:])
		secretly(d.ClientSecret)
		secretly(d.User.Email)
		secretly(d.User.Password)
	}
	secretly(demo.Admin.ClientSecret)
	secretly(demo.ExternalApplication.SharedSecret)

	who := newAccount(t)
	s := signIn(t, who).refresh()
	secretly(s.by.cookie("sign-in"))
	secretly(s.by.cookie("device"))
	key := s.client().mint("Clinician").header.Get("Authorization")
	secretly(key[len(key)-40:])
	if _, err := launcher().Exchange(t.Context(), opened(t, s)); err != nil {
		t.Fatal(err)
	}
	s.client().patch("/v2/tenant", map[string]any{"mfaRequired": true}).is(ok)
	p, at, challenge := knock(t, who, s.config)
	before := letters(t, world, who.email)
	anyone(t).get("/v2/mfa/send-code?challenge=" + challenge).is(ok)
	mailed := codeTo(t, world, who.email, before)
	p.submit(at, map[string]string{"code": "000 " + mailed})
	p.through(p.submit(at, map[string]string{"code": mailed}), who, nil)
	s = p.session(s.config, who) // the organization takes what a password alone began no more
	app, recovery := s.enrol()
	p, at, _ = knock(t, who, s.config)
	p.submit(at, map[string]string{"code": recovery[0]})
	p.submit(at, map[string]string{"code": app.code(1)})
	before = letters(t, world, who.email)
	anyone(t).post("/user/public/reset-password", map[string]any{"email": who.email}).is(ok)
	link := linkTo(t, world, who.email, resetLink, before)

	// In the wrong places, at the wrong doors, and with what breaks.
	c := anyone(t)
	for _, one := range []string{s.AccessToken, s.RefreshToken, who.password, who.email, strings.TrimPrefix(key, "Bearer "), recovery[1], app.secret} {
		escaped := url.QueryEscape(one)
		c.get(patients + "?access_token=" + escaped)
		c.get("/nowhere/" + escaped + "?token=" + escaped)
		c.get("/v2/mfa/config?challenge=" + escaped)
		c.post("/user/public/verify-email/"+who.id+"/"+escaped, nil)
		c.post("/user/public/verify-password-update/"+escaped+"/"+escaped, map[string]any{"newPassword": one + "\u0000"})
		c.post("/user/public/register-user", map[string]any{"email": one, "password": one, "firstName": 1, one: one})
		c.post(exchange, map[string]any{"securityCode": one, "signature": one})
		c.with("Authorization", "Bearer "+one+"x").get(patients)
		c.with("Authorization", "Basic "+one).get(patients)
		c.form("/oauth2/token", url.Values{"grant_type": {one}, "code": {one}, "client_id": {one}, "client_secret": {one}, "scope": {one}})
		c.form("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {demo.PublicClientID}, "refresh_token": {one}, "scope": {one}})
		c.form("/oauth2/par", url.Values{"client_id": {one}, "client_secret": {one}, "redirect_uri": {one}, "state": {one}})
		s.client().get("/v2/user/switch-tenant/" + escaped)
		s.client().post(exchangeTenant, map[string]any{"tenantId": one, "userId": one, "refreshToken": one})
		s.client().post("/mfa/code", map[string]any{"code": one})
		s.client().post(invitations, map[string]any{"email": one, "roles": []string{one}})
		newPerson(t, world).visit("/sign-in?continue=" + escaped + "&email=" + escaped)
		newPerson(t, world).visit("/invitation/" + escaped + "/" + escaped)
		newPerson(t, world).visit(authorizing("login_hint", one, "state", one, "scope", one))
		newPerson(t, world).visit(authorizing("redirect_uri", "https://evil.example/"+one))
	}
	newPerson(t, world).visit(link)
	c.post(link, map[string]any{"newPassword": secretly("Next-" + state())}).is(ok)
	s.ended()

	last, err := hex.DecodeString(owner(t).get(patients + "?size=1").is(ok).header.Get("Trace-Id"))
	if err != nil || len(last) != 16 {
		t.Fatal("no Trace-Id", err)
	}
	eventually(t, 20*time.Second, func() bool { return emitted.contains("/v1/traces", last) })
	digits := regexp.MustCompile(`(?:[=/"' \x06]|code\W{0,4})` + mailed + `(?:[^0-9.]|$)`)
	look := func(where string, text []byte) {
		if found := secrets.in(text); found != "" {
			t.Errorf("%s holds %.60q", where, found)
		}
		if near(text, mailed, digits) {
			t.Errorf("%s holds a mailed code", where)
		}
	}
	emitted.each(look)
	for name, text := range logs(t) {
		look(name, text)
	}
	for _, service := range []string{"identity", "tenant", "patient"} {
		look("the metrics of "+service, []byte(scrape(t, service)))
	}
}

// Whether a search that finds nothing could find something.
func TestTheSearchForSecretsFinds(t *testing.T) {
	one := secretly("a-secret-of-the-search")
	if secrets.in([]byte("before "+one+" after")) != one || secrets.in([]byte(one)) != one || secrets.in([]byte("a-secret-of-the-other")) != "" || secrets.in(nil) != "" {
		t.Error("the search is blind")
	}
}
