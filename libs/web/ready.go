package web

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Check is one thing that a program needs in order to serve. Its name is shown by /readyz and /startedz.
type Check struct {
	Name  string
	Probe func(ctx context.Context) error
}

// checkTime is how long checks may take together.
const checkTime = time.Second

// Drain makes /readyz fail and asks kept-alive connections to close.
func (a *App) Drain() { a.draining.Store(true) }

// readyz says whether the program can serve now.
func (a *App) readyz(c *fiber.Ctx) error {
	missing := a.missing(c.UserContext(), a.options.Checks)
	if a.draining.Load() {
		missing = append([]string{"draining"}, missing...)
	}
	if len(missing) > 0 {
		return notYet("not_ready", "Not ready: ", missing)
	}
	return c.JSON(fiber.Map{"status": "ready"})
}

// startedz says whether the program could serve once. What it says holds for ever, so that nothing that goes away later,
// and is away from all alike, keeps callers from a program that still does some of its work. Whoever starts programs asks
// it each second: it goes before what happens round requests, and is neither counted nor traced.
func (a *App) startedz(c *fiber.Ctx) error {
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	if !a.started.Load() {
		if missing := a.missing(c.UserContext(), a.options.Start); len(missing) > 0 {
			WriteProblem(c.Response(), notYet("not_started", "Not started: ", missing), "")
			return nil
		}
		a.started.Store(true)
	}
	return c.JSON(fiber.Map{"status": "started"})
}

func notYet(code, what string, missing []string) *fault.Error {
	f := fault.Away(nil, what+strings.Join(missing, ", ")+".")
	f.Code = code
	return f
}

// missing names the checks that fail.
func (a *App) missing(ctx context.Context, checks []Check) []string {
	ctx, cancel := context.WithTimeout(ctx, checkTime)
	defer cancel()
	found := make([]error, len(checks))
	var probes sync.WaitGroup
	for i, check := range checks {
		probes.Go(func() { found[i] = check.Probe(ctx) })
	}
	probes.Wait()
	missing, reasons := []string{}, []string{}
	for i, err := range found {
		if err != nil {
			missing = append(missing, checks[i].Name)
			reasons = append(reasons, err.Error())
		}
	}
	if len(missing) > 0 {
		a.options.Logger.Debug("not ready", "missing", missing, "reasons", reasons)
	}
	return missing
}
