package main

import (
	"math"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/patient/rest"
)

const (
	documentLimit = 8 << 20       // of a document's JSON, in bytes
	contentLimit  = math.MaxInt64 // of its bytes, which only pass here: whoever keeps them counts them
)

// mountDocuments adds the operations that the attachment service answers.
func mountDocuments(app fiber.Router, d *rest.Documents) {
	pass := func(limit int64) fiber.Handler {
		return func(c *fiber.Ctx) error { return web.Relay(c, limit, d.Pass) }
	}
	documents, content := pass(documentLimit), pass(contentLimit)
	const v2, v3 = "/v2/patient/:id/document", "/v3/patient/:patientId/attach"
	app.Get(v2, documents)
	app.Post(v2, documents)
	app.Get(v2+"/:documentId", documents)
	app.Delete(v2+"/:documentId", documents)
	app.Get(v2+"/:documentId/content", content)
	app.Put(v2+"/:documentId/content", content)
	app.Get(v3, documents)
	app.Post(v3, documents)
	app.Get(v3+"/:childId", documents)
	app.Patch(v3+"/:childId", documents)
	app.Delete(v3+"/:childId", documents)
	app.Get(v3+"/:childId/content", content)
	app.Put(v3+"/:childId/content", content)
}
