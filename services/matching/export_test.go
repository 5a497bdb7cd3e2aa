package matching

import "context"

// Refresh is one look of Run's.
func (s *Versions) Refresh(ctx context.Context) error { return s.refresh(ctx) }
