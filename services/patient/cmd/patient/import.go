package main

import (
	"math"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/patient/rest"
)

// importLimit is of an import as a whole: the door of the mesh counts, and here no more than a few batches are in memory.
const importLimit = math.MaxInt64

// mountImport adds the operation that takes patients as a stream, and answers while it comes.
func mountImport(app fiber.Router, i *rest.Imports) {
	app.Post("/v3/patient/import", func(c *fiber.Ctx) error {
		var key *string
		if value := c.Request().Header.Peek("Idempotency-Key"); value != nil {
			given := string(value)
			key = &given
		}
		answer, err := i.Answer(c.UserContext(), c.Get(fiber.HeaderContentType), key, web.Incoming(c, importLimit))
		if err != nil {
			return err
		}
		header := http.Header{}
		header.Set(fiber.HeaderContentType, rest.LinesType)
		header.Set(fiber.HeaderCacheControl, "no-store")
		return web.Answer(c, fiber.StatusOK, header, answer, -1)
	})
}
