package main

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
	"github.com/patient-mesh/patient-mesh/services/matching/rest"
)

// still is what stands round a find and takes no time.
type still struct {
	people *index.Index
	model  *linkage.Model
}

func (s still) Fresh(context.Context, string) (*index.Index, error)    { return s.people, nil }
func (s still) Active(context.Context, string) (*linkage.Model, error) { return s.model, nil }
func (s still) Keep(context.Context, audit.Entry) error                { return nil }

// BenchmarkFind is a find from the parsed request to the written answer, among few people.
func BenchmarkFind(b *testing.B) {
	s := still{index.New(index.Options{}), linkage.Default()}
	s.people.Apply([]linkage.Demographics{{
		ID: 7, FirstName: "Ana", LastName: "Lima", DOB: "1980-02-29", SexAtBirth: "female", Gender: "Female", Race: "Unknown", Ethnicity: "Unknown",
	}})
	meters, err := matching.NewMeters(noop.Meter{})
	if err != nil {
		b.Fatal(err)
	}
	finds := &matching.Service{Indexes: s, Models: s, Ledger: s, Meters: meters, Now: time.Now, NewID: uuid.NewV7}
	app := fiber.New(fiber.Config{JSONEncoder: json.Marshal, Immutable: true})
	by := principal.Principal{TenantID: uuid.NewString(), Kind: principal.APIKey, CredentialID: "key", Permissions: principal.MatchRead}
	app.Use(func(c *fiber.Ctx) error {
		c.SetUserContext(principal.With(context.Background(), by))
		return c.Next()
	})
	api.RegisterHandlers(app, api.NewStrictHandler(&rest.Server{Finds: finds}, nil))
	handler := app.Handler()
	for name, target := range map[string]string{
		"a name":     "/v3/patient/find?lastName=Lima&firstName=Ana&dob=1980-02-29&sexAtBirth=female",
		"everything": "/v3/patient/find?lastName=Lima&firstName=Ana&dob=1980-02-29&sexAtBirth=female&line1=1+Main+St&city=Portland&state=ME&postalCode=04101&phone=207-555-0142",
		"nothing":    "/v3/patient/find?limit=0",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var c fasthttp.RequestCtx
			c.Request.SetRequestURI(target)
			for b.Loop() {
				c.Response.Reset()
				handler(&c)
			}
		})
	}
}
