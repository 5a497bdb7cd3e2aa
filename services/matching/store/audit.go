package store

import (
	"context"

	"github.com/patient-mesh/patient-mesh/libs/audit"
)

// Keep returns when the entry of a find is on disk.
func (s *Store) Keep(ctx context.Context, e audit.Entry) error { return s.ledger.Keep(ctx, e) }
