package federation

import (
	"context"
	"errors"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/identity"
)

func errNone() error {
	return fault.New(fault.NotFound, "identity_provider_not_found", "The organization has no identity provider.")
}

// purpose binds a sealed secret to the one server that may be shown it.
func purpose(p identity.IdentityProvider) string {
	return "identity_provider/" + p.TenantID + "/" + p.Issuer + "/" + p.ClientID
}

// Provider gives a tenant's provider; nil when it has none. A text that is no id has none.
func (s *Service) Provider(ctx context.Context, tenantID string) (*identity.IdentityProvider, error) {
	if !identity.ValidID(tenantID) {
		return nil, nil //nolint:nilnil // none
	}
	return s.Store.FindProvider(ctx, tenantID)
}

// Own gives the provider of the caller's tenant.
func (s *Service) Own(ctx context.Context) (identity.IdentityProvider, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return identity.IdentityProvider{}, err
	}
	p, err := s.Store.FindProvider(ctx, by.TenantID)
	if err != nil {
		return identity.IdentityProvider{}, err
	}
	if p == nil {
		return identity.IdentityProvider{}, errNone()
	}
	return *p, nil
}

// Put names the provider of the caller's tenant, once it has shown by discovery that it is one. Further adds the faults
// that only the body's reader sees.
func (s *Service) Put(ctx context.Context, d identity.ProviderDraft, further func(...fault.Field) error) (identity.IdentityProvider, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return identity.IdentityProvider{}, err
	}
	standing, err := s.Store.FindProvider(ctx, by.TenantID)
	if err != nil {
		return identity.IdentityProvider{}, err
	}
	if err := further(d.Faults(standing, s.plain)...); err != nil {
		return identity.IdentityProvider{}, err
	}
	if _, err := s.providers.discover(ctx, *d.Issuer); err != nil {
		return identity.IdentityProvider{}, unusable(ctx, err)
	}
	p := identity.IdentityProvider{TenantID: by.TenantID, Issuer: *d.Issuer, ClientID: *d.ClientID, Name: *d.Name, UpdatedAt: s.now()}
	if d.ClientSecret == nil || *d.ClientSecret == "" {
		p.SecretSealed = standing.SecretSealed
	} else if p.SecretSealed, err = s.Sealer.Seal([]byte(*d.ClientSecret), purpose(p)); err != nil {
		return identity.IdentityProvider{}, err
	}
	return s.Store.PutProvider(ctx, p, audit.Of(ctx, s.Now(), s.NewID, identity.AuditProviderChange))
}

// unusable says why a provider is refused, and of what was not reached nothing more: whoever asks must not learn what
// answers in which way inside our network.
func unusable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	code, message := "unreachable", "answers no OpenID Connect discovery document at a public https address"
	switch {
	case errors.Is(err, errMismatch):
		code, message = "issuer_mismatch", "is not what its discovery document calls itself"
	case errors.Is(err, errUnsupported):
		code, message = "unsupported_provider", "must offer https endpoints, the authorization code, a client secret and signed ID tokens"
	}
	return fault.InvalidFields([]fault.Field{{Field: "issuer", Code: code, Message: message}})
}

// Remove takes away the provider of the caller's tenant: its members sign in with us again.
func (s *Service) Remove(ctx context.Context) error {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return err
	}
	done, err := s.Store.DeleteProvider(ctx, by.TenantID, audit.Of(ctx, s.Now(), s.NewID, identity.AuditProviderRemove))
	if err == nil && !done {
		return errNone()
	}
	return err
}
