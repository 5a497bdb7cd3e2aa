package main

import (
	"crypto/rand"
	"log/slog"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/page"
)

// formLabel is the label under which the key of the pages' forms is derived from CREDENTIAL_KEY.
const formLabel = "page-form"

// authorizer is the authorization server, as the pages need it.
type authorizer interface {
	page.OAuth
	page.Consents
}

// newPages makes the sign-in pages.
func newPages(c settings, log *slog.Logger, service *identity.Service, people page.People, server authorizer, agreements page.Agreements, federated page.Federation, applications page.Launcher) (*page.Server, error) {
	issuer, err := c.issuer()
	if err != nil {
		return nil, err
	}
	return page.New(page.Options{
		PublicURL: issuer, Environment: c.Environment, FormKey: service.Hasher.Key(formLabel), People: people, OAuth: server, Consents: server,
		Keys: service, Roles: service.Tenants, Agreements: agreements, Federation: federated, Launcher: applications, Logger: log, Now: time.Now, Random: rand.Reader,
	})
}

// pages adds the sign-in pages to the app.
func pages(app *web.App, server *page.Server) {
	handler, colons := web.Handler(server), strings.NewReplacer("{", ":", "}", "")
	for _, r := range server.Routes() {
		at := colons.Replace(r.Pattern)
		app.Add(r.Method, at, handler)
		if r.Method == fiber.MethodGet {
			app.Add(fiber.MethodHead, at, handler)
		}
	}
}
