package main

import "github.com/patient-mesh/patient-mesh/libs/config"

// settings is the service's configuration.
type settings struct {
	config.Common
}
