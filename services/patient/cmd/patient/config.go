package main

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// settings is the service's configuration.
type settings struct {
	config.Common
	pg.Config

	ImportLease time.Duration `env:"IMPORT_LEASE" envDefault:"6s"` // how long an import that is heard of no more keeps its key
}
