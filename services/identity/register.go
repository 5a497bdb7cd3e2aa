package identity

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/secret"
)

// Registered is a new client with the secret, which is shown once; "" for a client without one.
type Registered struct {
	Client

	Secret string
}

// RegisterClient makes a client for a tenant. Further are faults of the request that were found before.
func (s *Service) RegisterClient(ctx context.Context, d ClientDraft, key idempotency.Key, further func(...fault.Field) error) (Registered, error) {
	by, err := principal.Require(ctx, principal.ClientManage)
	if err != nil {
		return Registered{}, err
	}
	if d.TenantID == "" {
		d.TenantID = by.TenantID
	}
	c, faults := d.client()
	if ValidID(c.TenantID) {
		if _, err := s.Tenants.Standing(ctx, c.TenantID, nil); fault.Is(err, fault.NotFound) {
			faults = append(faults, wrong("tenantId", "unknown_tenant", "is no tenant"))
		} else if err != nil {
			return Registered{}, err
		}
	}
	if err := further(faults...); err != nil {
		return Registered{}, err
	}
	return s.register(ctx, c, key)
}

// register gives the client its id and secret and stores it.
func (s *Service) register(ctx context.Context, c Client, key idempotency.Key) (Registered, error) {
	id, err := s.NewID()
	if err != nil {
		return Registered{}, err
	}
	r := Registered{Client: c}
	r.ID, r.Environment, r.CreatedAt = id.String(), s.Environment, s.now().Truncate(time.Second)
	if r.AuthMethod != NoSecret && r.AuthMethod != PrivateKey {
		if r.Secret, err = secret.Random(s.Random); err != nil {
			return Registered{}, err
		}
		r.SecretHash = s.Hasher.Hash(clientSecretLabel(r.ID, r.Secret))
	}
	repeat, err := s.Clients.CreateClient(ctx, r.Client, key, s.entry(ctx, r.TenantID, auditClientCreate))
	if err != nil {
		return Registered{}, err
	}
	return r, created(repeat)
}

// clientSecretLabel binds a secret's hash to its client, so that hashes cannot change places.
func clientSecretLabel(id, text string) string { return "client\x00" + id + "\x00" + text }

// ListClients gives a page of the clients of all tenants, with the scope that each has now.
func (s *Service) ListClients(ctx context.Context, part page.Request) ([]Client, int64, error) {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return nil, 0, err
	}
	list, total, err := s.Clients.ListClients(ctx, s.Environment, part)
	for i := range list {
		if len(list[i].RoleIDs) == 0 || err != nil {
			continue
		}
		var allowed principal.Permission
		if allowed, err = s.Allowed(ctx, list[i]); err == nil {
			list[i].Scope = allowed.Names()
		}
	}
	return list, total, err
}

// DeleteClient removes a client of any tenant, and with it the worth of its tokens.
func (s *Service) DeleteClient(ctx context.Context, id string) error {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return err
	}
	none := fault.New(fault.NotFound, "client_not_found", "There is no such client.")
	if !ValidID(id) {
		return none
	}
	c, err := s.Clients.FindClient(ctx, id)
	if err != nil {
		return err
	}
	if c == nil || c.Environment != s.Environment {
		return none
	}
	done, err := s.Clients.DeleteClient(ctx, c.TenantID, id, s.entry(ctx, c.TenantID, auditClientDelete))
	if err != nil {
		return err
	}
	s.recent.forget(id)
	if !done {
		return none
	}
	s.Nudge()
	return nil
}

// Authenticate gives the client that knows the secret, or nil. Whether the client is not there or the secret is
// another cannot be told from the answer.
func (s *Service) Authenticate(ctx context.Context, id, text string) (*Client, error) {
	if !ValidID(id) || text == "" {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	now := s.Now()
	c := s.recent.find(id, now)
	fresh := c == nil
	if fresh {
		var err error
		if c, err = s.FindClient(ctx, id); err != nil || c == nil {
			return nil, err
		}
	}
	if c.SecretHash == nil || c.Environment != s.Environment || !s.Hasher.Matches(c.SecretHash, clientSecretLabel(id, text)) {
		return nil, nil //nolint:nilnil // nobody is an answer
	}
	if fresh {
		s.recent.keep(*c, now)
	}
	return c, nil
}
