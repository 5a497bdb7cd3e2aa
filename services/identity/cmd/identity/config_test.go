package main

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/config"
)

func TestThePublicAddress(t *testing.T) {
	t.Parallel()
	for address, in := range map[string]struct{ demo, production bool }{
		"https://mesh.example/": {true, true}, "http://mesh.example": {true, false}, "http://127.0.0.1:8080": {true, true},
		"mesh.example": {}, "https://mesh.example?x": {}, "ftp://mesh.example": {},
	} {
		for environment, want := range map[string]bool{config.Demo: in.demo, config.Production: in.production} {
			if _, err := (settings{Common: config.Common{Environment: environment}, PublicURL: address}).issuer(); (err == nil) != want {
				t.Errorf("%s in %s: %v", address, environment, err)
			}
		}
	}
}
