package rest

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
)

func applicationDraft(o *body.Object) identity.ApplicationDraft {
	return identity.ApplicationDraft{
		TenantID:  o.Text("tenantId", body.TextLength).Pointer(),
		Name:      o.Text("name", body.NameLength).Value,
		LaunchURL: o.Text("launchUrl", longestURI).Value,
	}
}

// CreateApplication registers an external application.
func (s *Server) CreateApplication(ctx context.Context, r api.CreateApplicationRequestObject) (api.CreateApplicationResponseObject, error) {
	by, _ := principal.From(ctx) // the verb refuses a request without one
	key, keyFaults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("createApplication"), r.Body.Raw())
	a, err := s.Launcher.Register(ctx, applicationDraft(r.Body), key, func(rules ...fault.Field) error {
		return r.Body.Err(append(rules, keyFaults...)...)
	})
	if err != nil {
		return nil, err
	}
	location, store := "/v2/external-application/"+a.ID, noStore
	return api.CreateApplication201JSONResponse{
		Body: api.RegisteredApplication{
			Id: a.ID, Name: a.Name, LaunchUrl: a.LaunchURL, SharedSecret: a.Secret, TenantId: a.TenantID, CreatedAt: instant(a.CreatedAt),
		},
		Headers: api.CreateApplication201ResponseHeaders{Location: &location, CacheControl: &store},
	}, nil
}

// ListApplications answers a page of the applications of all tenants.
func (s *Server) ListApplications(ctx context.Context, r api.ListApplicationsRequestObject) (api.ListApplicationsResponseObject, error) {
	if _, err := principal.Require(ctx, principal.ClientManage); err != nil {
		return nil, err // before the parameters' faults
	}
	part, err := parsePage(r.Params.Page, r.Params.Size, r.Params.After)
	if err != nil {
		return nil, err
	}
	list, total, err := s.Launcher.List(ctx, part)
	if err != nil {
		return nil, err
	}
	list, next := page.Cut(list, part, "/v2/external-application?", func(a identity.Application) string { return a.ID })
	content := make([]api.ExternalApplication, len(list))
	for i, a := range list {
		content[i] = api.ExternalApplication{
			Id: a.ID, Name: a.Name, LaunchUrl: a.LaunchURL, TenantId: a.TenantID, CreatedAt: instant(a.CreatedAt),
		}
	}
	return api.ListApplications200JSONResponse{
		Body:    api.ExternalApplicationPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: total},
		Headers: api.ListApplications200ResponseHeaders{Link: next},
	}, nil
}

// DeleteApplication removes an external application.
func (s *Server) DeleteApplication(ctx context.Context, r api.DeleteApplicationRequestObject) (api.DeleteApplicationResponseObject, error) {
	if err := s.Launcher.Delete(ctx, r.Id); err != nil {
		return nil, err
	}
	return api.DeleteApplication200JSONResponse{Message: "The application is deleted."}, nil
}

// InternalCreateApplication registers an external application for a program of the mesh.
func (s *Server) InternalCreateApplication(ctx context.Context, r api.InternalCreateApplicationRequestObject) (api.InternalCreateApplicationResponseObject, error) {
	a, err := s.Launcher.Provide(ctx, applicationDraft(r.Body), r.Body.Err)
	if err != nil {
		return nil, err
	}
	return api.InternalCreateApplication201JSONResponse{Id: a.ID, Name: a.Name, LaunchUrl: a.LaunchURL, SharedSecret: a.Secret}, nil
}
