package main

import (
	"context"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/api"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
	"github.com/patient-mesh/patient-mesh/services/identity/page"
	"github.com/patient-mesh/patient-mesh/services/identity/rest"
)

// public reports the paths whose handlers authenticate their callers themselves, or need not.
func public(path string) bool {
	if path == "/auth/oauth2/token" || page.Serves(path) {
		return true
	}
	for _, prefix := range [...]string{"/oauth2/", "/.well-known/", "/v2/public/", "/v2/mfa/", "/user/public/"} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// routes adds the generated operations, and the OAuth endpoints, which take forms.
func routes(app *web.App, server *rest.Server, o *oauth.Server) {
	app.Use(arriving)
	app.Post("/oauth2/token", form(o.Token))
	app.Post("/auth/oauth2/token", form(o.Token))
	app.Post("/oauth2/par", form(o.Push))
	app.Post("/oauth2/revoke", form(o.Revoke))
	app.Post("/oauth2/introspect", form(o.Introspect))
	app.Get("/oauth2/jwks", func(c *fiber.Ctx) error { return write(c, o.KeySet(c.UserContext())) })
	app.Get("/.well-known/oauth-authorization-server", func(c *fiber.Ctx) error { return write(c, o.Metadata()) })
	api.RegisterHandlersWithOptions(app, api.NewStrictHandler(server, nil),
		api.FiberServerOptions{HandlerMiddlewares: []api.HandlerMiddlewareFunc{web.JSONOnly}})
}

// form hands a request to an OAuth endpoint, with every Authorization header that it came with.
func form(endpoint func(context.Context, oauth.Request) oauth.Response) fiber.Handler {
	return func(c *fiber.Ctx) error {
		in := oauth.Request{ContentType: string(c.Request().Header.ContentType()), Accept: c.Get(fiber.HeaderAccept), Body: c.Body()}
		for _, value := range c.Request().Header.PeekAll(fiber.HeaderAuthorization) {
			in.Authorization = append(in.Authorization, string(value))
		}
		return write(c, endpoint(c.UserContext(), in))
	}
}

func write(c *fiber.Ctx, r oauth.Response) error {
	for name, value := range r.Header {
		c.Set(name, value)
	}
	c.Status(r.Status)
	c.Response().SetBody(r.Body)
	return nil
}

// arriving notes where a request came from, as the gateway says, which lets no caller say it.
func arriving(c *fiber.Ctx) error {
	c.SetUserContext(identity.Arriving(c.UserContext(), c.Get(fiber.HeaderXForwardedFor)))
	return c.Next()
}
