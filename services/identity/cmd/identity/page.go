package main

import (
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/identity/page"
)

// pages adds the sign-in pages.
func pages(app *web.App, server *page.Server) {
	handler := web.Handler(server)
	colons := strings.NewReplacer("{", ":", "}", "")
	for _, r := range server.Routes() {
		app.Add(r.Method, colons.Replace(r.Pattern), handler)
		if r.Method == "GET" {
			app.Add("HEAD", colons.Replace(r.Pattern), handler)
		}
	}
}
