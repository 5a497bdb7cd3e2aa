package federation

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"
)

// What is known of a provider is asked anew after a while, its keys with it, so that a key it withdrew is not trusted
// for longer. A key that is not among those known is asked for at once.
const (
	knownFor  = time.Hour
	mostKnown = 512
)

// Why a provider cannot be used.
var (
	errUnreachable = errors.New("no discovery document could be read")
	errMismatch    = errors.New("the discovery document names another issuer")
	errUnsupported = errors.New("the provider lacks what we need")
)

// algorithms are the signatures of ID tokens that are believed: asymmetric ones alone, whatever a provider offers.
func algorithms() []string {
	return []string{
		oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512,
		oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
	}
}

// known is a provider as its discovery document describes it.
type known struct {
	provider *oidc.Provider
	keys     *oidc.RemoteKeySet
	style    oauth2.AuthStyle
	namesIss bool // RFC 9207: its answers carry iss
	userInfo bool
	until    time.Time
}

// metadata is what of a discovery document go-oidc does not read.
type metadata struct {
	AuthURL     string   `json:"authorization_endpoint"`
	TokenURL    string   `json:"token_endpoint"`
	JWKSURL     string   `json:"jwks_uri"`
	AuthMethods []string `json:"token_endpoint_auth_methods_supported"`
	Responses   []string `json:"response_types_supported"`
	Algorithms  []string `json:"id_token_signing_alg_values_supported"`
	NamesIss    bool     `json:"authorization_response_iss_parameter_supported"`
}

// cache remembers providers. It is safe for concurrent use.
type cache struct {
	client *http.Client
	plain  bool
	now    func() time.Time
	flight singleflight.Group
	mu     sync.Mutex
	list   map[string]*known
}

func newCache(client *http.Client, plain bool, now func() time.Time) *cache {
	return &cache{client: client, plain: plain, now: now, list: map[string]*known{}}
}

// get gives a provider as it was described within the last hour. One asks for all who wait.
func (c *cache) get(ctx context.Context, issuer string) (*known, error) {
	if k := c.fresh(issuer); k != nil {
		return k, nil
	}
	waiting := c.flight.DoChan(issuer, func() (any, error) {
		if k := c.fresh(issuer); k != nil {
			return k, nil // whose asking ended just before this one's began
		}
		return c.discover(context.WithoutCancel(ctx), issuer)
	})
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-waiting:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*known), nil //nolint:forcetypeassert // what discover gives
	}
}

func (c *cache) fresh(issuer string) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.list[issuer]; k != nil && c.now().Before(k.until) {
		return k
	}
	return nil
}

// discover asks a provider how it describes itself now. It fails with the errors above alone: those of go-oidc may
// repeat what the server answered.
func (c *cache) discover(ctx context.Context, issuer string) (*known, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	provider, err := oidc.NewProvider(oidc.ClientContext(ctx, c.client), issuer)
	var mismatch *oidc.IssuerMismatchError
	switch {
	case errors.As(err, &mismatch):
		return nil, errMismatch
	case err != nil:
		return nil, errUnreachable
	}
	var m metadata
	if provider.Claims(&m) != nil || !c.usable(m) {
		return nil, errUnsupported
	}
	k := &known{
		provider: provider, keys: oidc.NewRemoteKeySet(oidc.ClientContext(context.Background(), c.client), m.JWKSURL),
		style: oauth2.AuthStyleInHeader, namesIss: m.NamesIss,
		userInfo: provider.UserInfoEndpoint() != "", until: c.now().Add(knownFor),
	}
	if !offers(m.AuthMethods, "client_secret_basic") {
		k.style = oauth2.AuthStyleInParams
	}
	c.keep(issuer, k)
	return k, nil
}

// usable reports whether a provider has what a sign-in needs. What it does not list has the specification's default.
func (c *cache) usable(m metadata) bool {
	for _, endpoint := range []string{m.AuthURL, m.TokenURL, m.JWKSURL} {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.User != nil || (u.Scheme != "https" && (!c.plain || u.Scheme != "http")) {
			return false
		}
	}
	return (offers(m.AuthMethods, "client_secret_basic") || offers(m.AuthMethods, "client_secret_post")) &&
		offers(m.Responses, "code") &&
		(len(m.Algorithms) == 0 || slices.ContainsFunc(m.Algorithms, func(a string) bool { return slices.Contains(algorithms(), a) }))
}

// offers reports whether a list has a value. A list that is not there has the one that is the default.
func offers(list []string, value string) bool {
	if len(list) == 0 {
		return value == "client_secret_basic" || value == "code"
	}
	return slices.Contains(list, value)
}

// keep remembers a provider, in place of any other one when there are too many.
func (c *cache) keep(issuer string, k *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.list[issuer]; !there && len(c.list) >= mostKnown {
		for other := range c.list {
			delete(c.list, other)
			break
		}
	}
	c.list[issuer] = k
}

// watched tells keys that could not be had from a signature that does not hold.
type watched struct {
	keys *oidc.RemoteKeySet
	away error
}

// VerifySignature is oidc.KeySet's.
func (w *watched) VerifySignature(ctx context.Context, jwt string) ([]byte, error) {
	payload, err := w.keys.VerifySignature(ctx, jwt)
	if err != nil && strings.HasPrefix(err.Error(), "fetching keys") { // go-oidc has no other name for it
		w.away = errors.New("the provider's keys could not be read")
	}
	return payload, err
}
