package identity

import (
	"context"
	"errors"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// NewPublicClient is the client that everybody shares: applications on people's own devices, which can keep no secret
// (RFC 8252 §8.5). Nobody vouches for which one it is, so its name says no more than that.
func NewPublicClient(id, environment string, redirects []string) (Client, error) {
	if id == "" || ValidID(id) {
		return Client{}, errors.New("the public client's id must be a text that is no UUID")
	}
	if len(redirects) == 0 || slices.ContainsFunc(redirects, func(u string) bool { return !redirectable(u) }) {
		return Client{}, errors.New("the public client's redirect URIs must be https addresses, or http on a loopback address")
	}
	return Client{
		ID: id, Name: "Local application", RoleIDs: []string{}, Scope: append(principal.All.Names(), OfflineAccess),
		GrantTypes: []string{AuthorizationCode, RefreshToken}, RedirectURIs: redirects, AuthMethod: NoSecret, Environment: environment,
	}, nil
}

// FindClient gives a client of this environment, the configured one or a registered one; nil when there is none.
func (s *Service) FindClient(ctx context.Context, id string) (*Client, error) {
	if c := s.Configured(id); c != nil {
		return c, nil
	}
	if !ValidID(id) {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	c, err := s.Clients.FindClient(ctx, id)
	if err != nil || c == nil || c.Environment != s.Environment {
		return nil, err
	}
	return c, nil
}

// Configured gives the client that is configured under the id; nil for others.
func (s *Service) Configured(id string) *Client {
	if id == "" || id != s.Public.ID {
		return nil
	}
	c := s.Public
	return &c
}

// Allowed is what a client may do now, perhaps by roles as they were a minute ago.
func (s *Service) Allowed(ctx context.Context, c Client) (principal.Permission, error) {
	if len(c.RoleIDs) == 0 {
		return c.Permissions(0), nil
	}
	all, err := s.Tenants.Roles(ctx)
	if err != nil {
		return 0, err
	}
	var held []Role
	for _, r := range all {
		for _, id := range c.RoleIDs {
			if r.ID == id {
				held = append(held, r)
			}
		}
	}
	return c.Permissions(permitted(held)), nil
}

// Offline reports whether the client may ask for offline_access.
func (c Client) Offline() bool {
	return c.May(RefreshToken) && (len(c.Scope) == 0 || slices.Contains(c.Scope, OfflineAccess))
}
