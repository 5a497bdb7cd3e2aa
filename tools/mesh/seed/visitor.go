package seed

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
)

// Visitor is somebody to look at a mesh as: a user and an organization that are the same at every visit.
type Visitor struct {
	UserID   string
	TenantID string
	Email    string
	Name     string // of the organization
}

// Visit makes the visitor where it is not there yet, with a password that nobody learns, and gives a new key of its
// organization. Who is done revokes the key.
func (s Seeder) Visit(ctx context.Context, v Visitor) (id, key string, err error) {
	made := struct {
		ID    string `json:"id"`
		Token string `json:"token"`
	}{}
	roles := map[string]any{"roles": []string{owner}}
	for _, step := range []struct {
		who    Caller
		method string
		target string
		body   map[string]any
		answer any
	}{
		{s.Identity, http.MethodPost, "/internal/user", map[string]any{
			"id": v.UserID, "email": v.Email, "password": rand.Text(), "firstName": "Mesh", "lastName": "Visitor", "emailVerified": true,
		}, nil},
		{s.Tenant, http.MethodPost, "/internal/tenant", map[string]any{"id": v.TenantID, "name": v.Name, "plan": "free"}, nil},
		{s.Tenant, http.MethodPut, "/internal/tenant/" + v.TenantID + "/member/" + v.UserID, roles, nil},
		{s.Identity, http.MethodPost, "/internal/key", map[string]any{
			"tenantId": v.TenantID, "userId": v.UserID, "name": "visit", "roles": []string{owner},
		}, &made},
	} {
		if err := step.who.call(ctx, step.method, step.target, step.body, step.answer); err != nil {
			return "", "", fmt.Errorf("visit: %w", err)
		}
	}
	return made.ID, made.Token, nil
}
