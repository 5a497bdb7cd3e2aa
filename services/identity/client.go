package identity

import (
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Grant types and authentication methods, as RFC 7591 names them.
const (
	ClientCredentials = "client_credentials"
	AuthorizationCode = "authorization_code"
	RefreshToken      = "refresh_token"

	SecretBasic = "client_secret_basic"
	SecretPost  = "client_secret_post"
	NoSecret    = "none"
	PrivateKey  = "private_key_jwt"

	OfflineAccess = "offline_access" // the scope that asks for a refresh token
)

// The bounds of a client's lists.
const (
	MostRedirects    = 20
	longestURI       = 2000
	DefaultReadScope = "patient:read document:read match:read tenant:read"
)

// Client is an OAuth client: a program that acts in one tenant, or for users in theirs. The public client, which is
// configured, has no tenant, and an id that is no UUID.
type Client struct {
	ID           string
	TenantID     string
	Name         string
	RoleIDs      []string
	Scope        []string
	GrantTypes   []string
	RedirectURIs []string
	AuthMethod   string
	SecretHash   []byte // nil for a client without a secret
	JWKS         string // the public keys of private_key_jwt, or
	JWKSURI      string // where to fetch them
	Environment  string
	CreatedAt    time.Time
}

// Permissions is what the client may do, given what its roles permit now.
func (c Client) Permissions(byRoles principal.Permission) principal.Permission {
	scope := principal.ParsePermissions(c.Scope)
	switch {
	case len(c.RoleIDs) == 0:
		return scope
	case len(c.Scope) == 0:
		return byRoles
	}
	return scope & byRoles
}

// ClientDraft is what a new client is asked to be. Nil and empty members were not given.
type ClientDraft struct {
	TenantID     string
	Name         string
	Scope        *string
	GrantTypes   []string
	RedirectURIs []string
	AuthMethod   string
	JWKS         string
	JWKSURI      string
}

// client makes a client of the draft, without id and secret, or tells every rule that the draft breaks.
func (d ClientDraft) client() (Client, []fault.Field) {
	c := Client{
		TenantID: d.TenantID, Name: d.Name, RoleIDs: []string{}, GrantTypes: d.GrantTypes,
		RedirectURIs: append([]string{}, d.RedirectURIs...), AuthMethod: d.AuthMethod,
		JWKS: d.JWKS, JWKSURI: d.JWKSURI,
	}
	if len(c.GrantTypes) == 0 {
		c.GrantTypes = []string{ClientCredentials}
	}
	if c.AuthMethod == "" {
		c.AuthMethod = SecretBasic
	}
	scope := DefaultReadScope
	if d.Scope != nil {
		scope = *d.Scope
	}
	c.Scope = strings.Fields(scope)
	return c, c.faults()
}

func (c Client) faults() []fault.Field {
	var faults []fault.Field
	if !ValidID(c.TenantID) {
		faults = append(faults, wrong("tenantId", "unknown_tenant", "is no tenant"))
	}
	for _, s := range c.Scope {
		if _, ok := principal.ParsePermission(s); !ok && (s != OfflineAccess || !c.May(RefreshToken)) {
			faults = append(faults, wrong("scope", "unknown_scope", "names a scope that does not exist or that the grant types have no use for"))
			break
		}
	}
	for _, g := range c.GrantTypes {
		if !slices.Contains([]string{ClientCredentials, AuthorizationCode, RefreshToken}, g) {
			faults = append(faults, wrong("grant_types", "not_supported", "must be client_credentials, authorization_code or refresh_token"))
			break
		}
	}
	switch c.AuthMethod {
	case SecretBasic, SecretPost, PrivateKey:
	case NoSecret:
		if c.May(ClientCredentials) {
			faults = append(faults, wrong("grant_types", "needs_secret", "a client without a secret cannot have client_credentials"))
		}
	default:
		faults = append(faults, wrong("token_endpoint_auth_method", "not_supported", "must be client_secret_basic, client_secret_post, private_key_jwt or none"))
	}
	faults = append(faults, c.keyFaults()...)
	if c.May(AuthorizationCode) && len(c.RedirectURIs) == 0 {
		faults = append(faults, wrong("redirect_uris", "required", "is required with authorization_code"))
	}
	for _, u := range c.RedirectURIs {
		if !redirectable(u) {
			faults = append(faults, wrong("redirect_uris", "invalid_uri", "must be absolute https addresses, or http on a loopback address, without a fragment"))
			break
		}
	}
	return faults
}

// May reports whether the client has a grant type.
func (c Client) May(grant string) bool { return slices.Contains(c.GrantTypes, grant) }

// redirectable reports an address that a browser may be sent back to (RFC 9700 §2.1, RFC 8252 §7.3).
func redirectable(text string) bool {
	u, err := url.Parse(text)
	if err != nil || len(text) > longestURI || u.Host == "" || u.User != nil || u.Fragment != "" || strings.HasSuffix(text, "#") {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Scheme == "https" || (u.Scheme == "http" && ip != nil && ip.IsLoopback())
}
