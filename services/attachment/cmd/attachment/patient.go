package main

import (
	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/services/attachment"
)

// patientHeader is how the patient service, through which requests come, tells whether there is the patient named.
const patientHeader = "Mesh-Patient"

// patient lets the verbs know it. Who says nothing of it asks about nobody.
func patient(c *fiber.Ctx, next fiber.Handler) error {
	c.SetUserContext(attachment.WithPatient(c.UserContext(), c.Get(patientHeader) == "live"))
	return next(c)
}
