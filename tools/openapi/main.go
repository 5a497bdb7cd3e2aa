// Command openapi merges the services' OpenAPI documents into the public one: without internal operations, with the
// errors, credentials and headers that the gateway and libs/web add to every operation. The same input gives the same
// bytes.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	base := flag.String("base", "base.yaml", "the document that holds what all operations share")
	services := flag.String("services", "services", "the folder of the services, each with api/openapi.yaml")
	out := flag.String("out", "openapi.json", "the file to write")
	flag.Parse()
	if err := run(*base, *services, *out); err != nil {
		fmt.Fprintln(os.Stderr, "openapi:", err)
		os.Exit(1)
	}
}

func run(base, services, out string) error {
	document, err := merge(base, services)
	if err != nil {
		return err
	}
	raw, err := render(document)
	if err != nil {
		return err
	}
	if err := check(raw); err != nil {
		return fmt.Errorf("the merged document is not valid: %w", err)
	}
	return os.WriteFile(out, raw, 0o644) //nolint:gosec // a public document
}
