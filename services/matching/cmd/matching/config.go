package main

import (
	"errors"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// settings is the service's configuration.
type settings struct {
	config.Common
	pg.Config
	IndexMemory size          `env:"INDEX_MEMORY"`                   // of all tenants' indexes together; none: see indexMemory
	IndexLoads  int           `env:"INDEX_LOADS" envDefault:"2"`     // tenants that are loaded at a time
	WarmUp      time.Duration `env:"INDEX_WARM_UP" envDefault:"30s"` // the longest that a start waits for indexes
}

// size is a number of bytes, written as GOMEMLIMIT is: 4GiB.
type size int64

var errSize = errors.New("must be a number of bytes, such as 512MiB or 4GiB")

// UnmarshalText reads one.
func (s *size) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for suffix, bytes := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, unit = rest, bytes
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSuffix(number, "B"), 10, 64)
	if err != nil || n <= 0 || n > math.MaxInt64/unit {
		return errSize
	}
	*s = size(n * unit)
	return nil
}

// defaultIndexMemory is what indexes may take where nobody said.
const defaultIndexMemory = 4 << 30

// indexMemory is what indexes may take: what was said, else three quarters of what the process may, as GOMEMLIMIT says it.
// Where that says nothing, the collector is held to a third more than the indexes: by its usual measure it would let the
// garbage of a few gigabytes grow to several times as much.
func (c settings) indexMemory() int64 {
	limit := debug.SetMemoryLimit(-1)
	memory := int64(c.IndexMemory)
	switch {
	case memory == 0 && limit != math.MaxInt64:
		return limit / 4 * 3
	case memory == 0:
		memory = defaultIndexMemory
	}
	if limit == math.MaxInt64 {
		debug.SetMemoryLimit(memory + memory/3)
	}
	return memory
}
