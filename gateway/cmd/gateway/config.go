package main

import (
	"github.com/patient-mesh/patient-mesh/gateway"
	"github.com/patient-mesh/patient-mesh/libs/config"
)

// settings is the gateway's configuration.
type settings struct {
	config.Common
	gateway.Settings
}
