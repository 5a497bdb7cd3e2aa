package federation_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	clientID     = "patient-mesh"
	clientSecret = "a secret/with+signs:%"
	password     = "correct"
)

// directory is the people whom a provider knows, by name.
type directory map[string]*storage.User

func (d directory) GetUserByID(id string) *storage.User         { return d[id] }
func (d directory) GetUserByUsername(name string) *storage.User { return d[name] }
func (d directory) ExampleClientID() string                     { return "service" }

func (d directory) add(name, email string, verified bool) {
	d[name] = &storage.User{ID: name, Username: name, Password: password, Email: email, EmailVerified: verified}
}

// provider is a real OpenID Connect provider on a port of its own, which can be made to misbehave.
type provider struct {
	issuer string
	people directory

	*storage.Storage
	mu    sync.Mutex
	id    string
	key   *rsa.PrivateKey
	asked map[string]int // by path

	namesIss bool                               // RFC 9207
	iss      string                             // said in place of the issuer
	bend     func(claims map[string]any)        // changes an ID token before it is signed
	forge    func(claims map[string]any) string // makes one whole
	describe func(document map[string]any)      // changes the discovery document
	gone     string                             // the path that answers 503; "*": all
}

type key struct{ p *provider }

func (k key) ID() string                                  { return k.p.id }
func (k key) Algorithm() jose.SignatureAlgorithm          { return jose.RS256 }
func (k key) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k key) Use() string                                 { return "sig" }

type private struct{ key }

func (k private) Key() any { return k.p.key }

type public struct{ key }

func (k public) Key() any { return &k.p.key.PublicKey }

func (p *provider) SigningKey(context.Context) (op.SigningKey, error) { return private{key{p}}, nil }

func (p *provider) KeySet(context.Context) ([]op.Key, error) { return []op.Key{public{key{p}}}, nil }

func (p *provider) rotate(t *testing.T) {
	t.Helper()
	fresh, err := rsa.GenerateKey(rand.Reader, 2048)
	check(t, err)
	p.id, p.key = uuid.NewString(), fresh
}

// making guards what the example's providers share: each one that is made writes the endpoints that all of them read.
var making sync.RWMutex

func newProvider(t *testing.T, redirects ...string) *provider {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil)
	p := &provider{issuer: "http://" + srv.Listener.Addr().String(), people: directory{}, asked: map[string]int{}}
	p.rotate(t)
	p.Storage = storage.NewStorageWithClients(p.people, map[string]*storage.Client{
		clientID: storage.WebClient(clientID, clientSecret, redirects...),
	})
	making.Lock()
	inner := exampleop.SetupServer(p.issuer, p, slog.New(slog.DiscardHandler), false)
	making.Unlock()
	srv.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, inner) })
	srv.Start()
	t.Cleanup(srv.Close)
	return p
}

// calls tells how often a path was asked for.
func (p *provider) calls(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

// serve answers as the provider does, and changes what a test wants changed.
func (p *provider) serve(w http.ResponseWriter, r *http.Request, inner http.Handler) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked[r.URL.Path]++
	if p.gone == "*" || p.gone == r.URL.Path {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	rec := httptest.NewRecorder()
	making.RLock()
	inner.ServeHTTP(rec, r)
	making.RUnlock()
	body := rec.Body.Bytes()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		body = p.described(body)
	case "/oauth/token":
		body = p.bent(body)
	case "/auth/callback":
		if to, err := url.Parse(rec.Header().Get("Location")); err == nil && p.namesIss {
			q := to.Query()
			q.Set("iss", p.said())
			to.RawQuery = q.Encode()
			rec.Header().Set("Location", to.String())
		}
	}
	for name, values := range rec.Header() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body)
}

func (p *provider) said() string {
	if p.iss != "" {
		return p.iss
	}
	return p.issuer
}

func (p *provider) described(body []byte) []byte {
	document := map[string]any{}
	_ = json.Unmarshal(body, &document)
	if p.namesIss {
		document["authorization_response_iss_parameter_supported"] = true
	}
	if p.describe != nil {
		p.describe(document)
	}
	out, _ := json.Marshal(document)
	return out
}

func (p *provider) bent(body []byte) []byte {
	answer := map[string]any{}
	if json.Unmarshal(body, &answer) != nil || answer["id_token"] == nil || (p.bend == nil && p.forge == nil) {
		return body
	}
	raw, _ := base64.RawURLEncoding.DecodeString(strings.Split(answer["id_token"].(string), ".")[1])
	claims := map[string]any{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	_ = decoder.Decode(&claims)
	if p.bend != nil {
		p.bend(claims)
		answer["id_token"] = sign(jose.RS256, p.key, p.id, claims)
	}
	if p.forge != nil {
		answer["id_token"] = p.forge(claims)
	}
	out, _ := json.Marshal(answer)
	return out
}

func sign(alg jose.SignatureAlgorithm, with any, id string, claims map[string]any) string {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: with, KeyID: id}}, nil)
	if err != nil {
		panic(err)
	}
	raw, _ := json.Marshal(claims)
	signed, err := signer.Sign(raw)
	if err != nil {
		panic(err)
	}
	text, _ := signed.CompactSerialize()
	return text
}

// visit goes through the provider's pages in a browser, as somebody, and stops where it is sent back to us.
func visit(t *testing.T, address, name string) *url.URL {
	t.Helper()
	jar, err := cookiejar.New(nil)
	check(t, err)
	browser := &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if strings.HasPrefix(r.URL.String(), publicURL) {
			return http.ErrUseLastResponse
		}
		return nil
	}}
	do := func(method, address string, form url.Values) (*http.Response, string) {
		request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
		check(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		response, err := browser.Do(request)
		check(t, err)
		defer func() { _ = response.Body.Close() }()
		page, err := io.ReadAll(response.Body)
		check(t, err)
		return response, string(page)
	}
	shown, page := do(http.MethodGet, address, nil)
	if shown.StatusCode != http.StatusOK {
		t.Fatalf("the provider's page: %d %s", shown.StatusCode, page)
	}
	form := url.Values{"username": {name}, "password": {password}, "id": {shown.Request.URL.Query().Get("authRequestID")}}
	back, page := do(http.MethodPost, shown.Request.URL.Scheme+"://"+shown.Request.URL.Host+"/login/username", form)
	to, err := back.Location()
	if err != nil || !strings.HasPrefix(to.String(), publicURL) {
		t.Fatalf("not sent back: %d %s", back.StatusCode, page)
	}
	return to
}
