package seed

import (
	"context"
	"fmt"
	"net/http"
)

// Seeder does the steps that a Progress still lacks.
type Seeder struct {
	Identity Caller
	Tenant   Caller
	Save     func(*Progress) error // called after each step
}

// Run brings the progress to its end. After an error it can be run again with the progress last saved.
func (s Seeder) Run(ctx context.Context, p *Progress) error {
	if p.Done {
		return nil
	}
	steps := []func(context.Context, *Progress) error{s.users, s.tenants, s.application}
	for _, step := range steps {
		if err := step(ctx, p); err != nil {
			return fmt.Errorf("seed: %w", err)
		}
	}
	p.Done = true
	return s.Save(p)
}

func (s Seeder) users(ctx context.Context, p *Progress) error {
	for i := range p.Users {
		u := &p.Users[i]
		if u.Made {
			continue
		}
		body := map[string]any{
			"id": u.ID, "email": u.Email, "password": u.Password,
			"firstName": u.FirstName, "lastName": u.LastName, "emailVerified": true,
		}
		if err := s.Identity.call(ctx, http.MethodPost, "/internal/user", body, nil); err != nil {
			return err
		}
		u.Made = true
		if err := s.Save(p); err != nil {
			return err
		}
	}
	return nil
}

func (s Seeder) tenants(ctx context.Context, p *Progress) error {
	for i := range p.Tenants {
		t := &p.Tenants[i]
		if err := s.tenant(ctx, p, t, owner); err != nil {
			return err
		}
		if err := s.key(ctx, p, t); err != nil {
			return err
		}
	}
	return s.tenant(ctx, p, &p.Operator, administrator)
}

// tenant makes a tenant, its members and a client with the role.
func (s Seeder) tenant(ctx context.Context, p *Progress, t *Tenant, role string) error {
	if !t.Made {
		body := map[string]any{"id": t.ID, "name": t.Name, "plan": t.Plan}
		if err := s.Tenant.call(ctx, http.MethodPost, "/internal/tenant", body, nil); err != nil {
			return err
		}
		t.Made = true
		if err := s.Save(p); err != nil {
			return err
		}
	}
	for len(t.Members) > 0 {
		target := "/internal/tenant/" + t.ID + "/member/" + p.Users[t.Members[0]].ID
		if err := s.Tenant.call(ctx, http.MethodPut, target, map[string]any{"roles": []string{owner}}, nil); err != nil {
			return err
		}
		t.Members = t.Members[1:]
		if err := s.Save(p); err != nil {
			return err
		}
	}
	if t.Client.ClientID != "" {
		return nil
	}
	body := map[string]any{
		"tenantId": t.ID, "name": t.Name + " demo client", "roles": []string{role}, "grantTypes": []string{"client_credentials"},
	}
	if err := s.Identity.call(ctx, http.MethodPost, "/internal/client", body, &t.Client); err != nil {
		return err
	}
	return s.Save(p)
}

func (s Seeder) key(ctx context.Context, p *Progress, t *Tenant) error {
	if t.APIKey != "" {
		return nil
	}
	var made struct {
		Token string `json:"token"`
	}
	body := map[string]any{"tenantId": t.ID, "userId": p.Users[t.First].ID, "name": "Demo key", "roles": []string{owner}}
	if err := s.Identity.call(ctx, http.MethodPost, "/internal/key", body, &made); err != nil {
		return err
	}
	t.APIKey = made.Token
	return s.Save(p)
}

func (s Seeder) application(ctx context.Context, p *Progress) error {
	if p.Application.ID != "" {
		return nil
	}
	body := map[string]any{"name": p.Application.Name, "launchUrl": p.Application.LaunchURL}
	if err := s.Identity.call(ctx, http.MethodPost, "/internal/external-application", body, &p.Application); err != nil {
		return err
	}
	return s.Save(p)
}
