package federation

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

// journey is what a sign-in takes along, sealed.
type journey struct {
	Nonce    string `json:"n"`
	Verifier string `json:"v"`
	Continue string `json:"c"`
}

const journeyPurpose = "federation_state/"

// Begin leads a browser to a tenant's provider, by the address that it gives. Browser is the secret of the cookie that
// the browser has to come back with; continuePath is where the way goes on afterwards.
func (s *Service) Begin(ctx context.Context, tenantID, continuePath, browser string) (string, error) {
	if !local(continuePath) || browser == "" {
		return "", fault.New(fault.Invalid, "invalid_request", "The sign-in cannot be begun like this.")
	}
	p, err := s.Provider(ctx, tenantID)
	if err != nil {
		return "", err
	}
	if p == nil {
		return "", errNone()
	}
	k, err := s.providers.get(ctx, p.Issuer)
	if err != nil {
		return "", away(err)
	}
	j := journey{Verifier: oauth2.GenerateVerifier(), Continue: continuePath}
	if j.Nonce, err = secret.Random(s.Random); err != nil {
		return "", err
	}
	state, err := secret.Random(s.Random)
	if err != nil {
		return "", err
	}
	if err := s.keep(ctx, *p, j, state, browser); err != nil {
		return "", err
	}
	client := s.oauth(*p, k, "")
	return client.AuthCodeURL(state, oidc.Nonce(j.Nonce), oauth2.S256ChallengeOption(j.Verifier)), nil
}

func (s *Service) keep(ctx context.Context, p identity.IdentityProvider, j journey, state, browser string) error {
	raw, err := json.Marshal(j)
	if err != nil {
		return err
	}
	sealed, err := s.Sealer.Seal(raw, journeyPurpose+p.TenantID)
	if err != nil {
		return err
	}
	return s.Store.KeepState(ctx, State{
		Hash: hash(state), TenantID: p.TenantID, Issuer: p.Issuer, BrowserHash: hash(browser), Sealed: sealed,
		ExpiresAt: s.now().Add(stateLife),
	})
}

// oauth is us, as the provider's client.
func (s *Service) oauth(p identity.IdentityProvider, k *known, clientSecret string) oauth2.Config {
	endpoint := k.provider.Endpoint()
	endpoint.AuthStyle = k.style
	return oauth2.Config{
		ClientID: p.ClientID, ClientSecret: clientSecret, Endpoint: endpoint, RedirectURL: s.Callback(p.TenantID),
		Scopes: []string{oidc.ScopeOpenID, oidc.ScopeEmail, oidc.ScopeProfile},
	}
}

// away is the fault of a provider that does not answer as one.
func away(cause error) error {
	if errors.Is(cause, context.Canceled) {
		return cause
	}
	return fault.Away(cause, "Your organization's sign-in service does not answer just now. Try again in a moment.")
}
