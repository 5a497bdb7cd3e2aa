package browser

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/oauth2"
)

const goodPassword = "violet kettle underneath saturn"

var (
	verifyLink = regexp.MustCompile(`http://\S+/user/public/verify-email/\S+`)
	resetLink  = regexp.MustCompile(`http://\S+/user/public/verify-password-update/\S+`)
	sixDigits  = regexp.MustCompile(`(?m)^\s*(\d{6})\s*$`)
)

func newTick() *time.Ticker { return time.NewTicker(20 * time.Millisecond) }

// account is somebody who can sign in.
type account struct{ email, password string }

// newEmail is an address that nobody has.
func newEmail() string { return strings.ToLower("a"+rand.Text()[:12]) + "@clinic.example" }

// newAccount registers somebody with an organization of their own, without a browser.
func newAccount(t *testing.T, first, last, organization string) account {
	t.Helper()
	a := account{newEmail(), goodPassword}
	call(t, http.MethodPost, "/user/public/register-user", "", map[string]string{
		"email": a.email, "password": a.password, "firstName": first, "lastName": last, "organizationName": organization,
	}, http.StatusCreated)
	link, err := url.Parse(a.mailed(t, 0, verifyLink)[0])
	if err != nil {
		t.Fatal(err)
	}
	call(t, http.MethodPost, link.Path, "", nil, http.StatusOK)
	return a
}

// mailed waits for a letter, after so many.
func (a account) mailed(t *testing.T, after int, pattern *regexp.Regexp) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found, err := mail.Await(ctx, a.email, after, pattern)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// letters counts what the account was mailed.
func (a account) letters(t *testing.T) int {
	t.Helper()
	all, err := mail.To(a.email)
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// signIn signs in by password, from the sign-in page that the person may be at already.
func (p *person) signIn(a account) {
	p.t.Helper()
	if p.at().Path != "/sign-in" {
		p.visit("/sign-in")
	}
	p.fill("email", a.email)
	p.fill("password", a.password)
	p.press("Sign in")
}

// inside signs in and waits until there is an organization to work in.
func (p *person) inside(a account) {
	p.t.Helper()
	p.signIn(a)
	p.settled()
}

// settled waits until the account is an organization's, which is founded beside registration.
func (p *person) settled() {
	p.t.Helper()
	eventually(p.t, "an organization", func() bool {
		if strings.Contains(p.text(), "Working at") {
			return true
		}
		p.visit("/account")
		return false
	})
}

func (p *person) signOut() {
	p.t.Helper()
	p.visit("/sign-out")
	p.press("Sign out")
	p.sees("You are signed out.")
}

// open unfolds something on the page.
func (p *person) open(summary string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.Search(`//main//summary[normalize-space()="`+summary+`"]`), chromedp.NodeVisible))
}

// tick ticks the box, or picks the choice, with a label.
func (p *person) tick(label string) {
	p.t.Helper()
	p.do(chromedp.Click(chromedp.Search(`//main//label[contains(normalize-space(), "`+label+`")]`), chromedp.NodeVisible))
}

// call sends a request of a program and gives the answer's body.
func call(t *testing.T, method, path, token string, body any, want int) []byte {
	t.Helper()
	status, raw := try(t, method, path, token, body)
	if status != want {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, status, want, raw)
	}
	return raw
}

func try(t *testing.T, method, path, token string, body any) (int, []byte) {
	t.Helper()
	var content io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience) // called when the test is over, too
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, world.URL()+path, content)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, raw
}

// client is a native application on the person's device: the public client, with a callback on loopback (RFC 8252 §7.3).
type client struct {
	t        *testing.T
	oauth    oauth2.Config
	came     chan url.Values
	state    string
	verifier string
}

func newClient(t *testing.T) *client {
	t.Helper()
	c := &client{t: t, came: make(chan url.Values, 1)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, `<!doctype html><html lang="en"><title>Back · Application</title><main><h1>You can close this window</h1></main></html>`)
		if r.URL.Path == "/callback" {
			c.came <- r.URL.Query()
		}
	}))
	t.Cleanup(server.Close)
	c.oauth = oauth2.Config{
		ClientID: world.Demo().PublicClientID, RedirectURL: server.URL + "/callback",
		Scopes: []string{"patient:read", "patient:write", "tenant:read", "offline_access"},
		Endpoint: oauth2.Endpoint{
			AuthURL: world.URL() + "/oauth2/authorize", TokenURL: world.URL() + "/auth/oauth2/token", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	return c
}

// address is where the client sends its user, with a state and a verifier of its own each time.
func (c *client) address(more ...oauth2.AuthCodeOption) string {
	c.state, c.verifier = rand.Text(), oauth2.GenerateVerifier()
	return c.oauth.AuthCodeURL(c.state, append(more, oauth2.S256ChallengeOption(c.verifier))...)
}

// back is what the user comes back with.
func (c *client) back() url.Values {
	c.t.Helper()
	select {
	case values := <-c.came:
		if values.Get("state") != c.state || values.Get("iss") != world.URL() {
			c.t.Errorf("came back with %v, want the state %s and the issuer %s", values, c.state, world.URL())
		}
		return values
	case <-time.After(patience):
		c.t.Fatal("nobody came back to the client")
		return nil
	}
}

// token redeems the code that the user came back with.
func (c *client) token() *oauth2.Token {
	c.t.Helper()
	code := c.back().Get("code")
	if code == "" {
		c.t.Fatal("the user came back without a code")
	}
	token, err := c.oauth.Exchange(c.t.Context(), code, oauth2.VerifierOption(c.verifier))
	if err != nil {
		c.t.Fatal(err)
	}
	return token
}
