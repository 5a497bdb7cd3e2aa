package identity

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// IdentityProvider is the OpenID Connect provider that a tenant's members sign in at.
type IdentityProvider struct { //nolint:revive // an identity provider is what everybody calls it
	TenantID     string
	Issuer       string
	ClientID     string // ours, at the provider
	SecretSealed []byte
	Name         string // as the members know it: "Example Hospital"
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// ProviderDraft is what a tenant's provider is asked to be. Nil members were not given.
type ProviderDraft struct {
	Issuer       *string
	ClientID     *string
	ClientSecret *string
	Name         *string
}

// Faults tells every rule that the draft breaks. Standing is what it replaces, whose secret stays when none is given,
// but only for the same client at the same issuer: nobody else is to be shown it. Plain admits http on the loopback.
func (d ProviderDraft) Faults(standing *IdentityProvider, plain bool) []fault.Field {
	var faults []fault.Field
	for _, m := range []struct {
		name  string
		value *string
	}{{"clientId", d.ClientID}, {"name", d.Name}} {
		if m.value == nil || *m.value == "" {
			faults = append(faults, wrong(m.name, "required", "is required"))
		}
	}
	switch {
	case d.Issuer == nil || *d.Issuer == "":
		faults = append(faults, wrong("issuer", "required", "is required"))
	case !issuer(*d.Issuer, plain):
		faults = append(faults, wrong("issuer", "invalid_uri", "must be an https address without user, query and fragment"))
	}
	if given := d.ClientSecret != nil && *d.ClientSecret != ""; !given && !d.keepsSecret(standing) {
		faults = append(faults, wrong("clientSecret", "required", "is required for a new issuer or client"))
	}
	return faults
}

func (d ProviderDraft) keepsSecret(standing *IdentityProvider) bool {
	return standing != nil && d.Issuer != nil && *d.Issuer == standing.Issuer && d.ClientID != nil && *d.ClientID == standing.ClientID
}

// issuer reports an address that OpenID Connect Discovery 1.0 §3 lets an issuer have.
func issuer(text string, plain bool) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > longestURI || u.Host == "" || u.User != nil || strings.ContainsAny(text, "?#") {
		return false
	}
	return u.Scheme == "https" || (plain && u.Scheme == "http")
}

// Federated reports whether somebody else than us looked at who signed in.
func (s SignIn) Federated() bool { return slices.Contains(s.Methods, ByFederated) }

// Admits reports whether the sign-in may be used for a tenant. A tenant's own provider speaks for its members in that
// tenant and nowhere else: whoever runs the provider could otherwise enter, as any member, every other tenant that the
// member is in. For the same reason a federated sign-in is no proof for changing the account itself: its password,
// factors, address, links and other sign-ins, which all tenants rely on.
func (s SignIn) Admits(tenantID string) bool {
	return !s.Federated() || (s.TenantID != nil && *s.TenantID == tenantID)
}
