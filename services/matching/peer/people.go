// Package peer asks the neighbours of matching. It knows what to ask them and nothing of how people are found.
package peer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
)

// People reads tenants' people from the patient service. It is safe for concurrent use.
type People struct{ caller *mesh.Caller }

// NewPeople makes a People that asks through the caller.
func NewPeople(caller *mesh.Caller) *People { return &People{caller: caller} }

var errPage = errors.New("no page of people")

// Page gives those of a tenant's people with an id greater than after, so many at most: who changed since a position,
// or, without one, all.
func (p *People) Page(ctx context.Context, tenant, since string, after int64, limit int) (feed.Page, error) {
	query := url.Values{"limit": {strconv.Itoa(limit)}}
	if since != "" {
		query.Set("since", since)
	}
	if after > 0 {
		query.Set("after", strconv.FormatInt(after, 10))
	}
	var page feed.Page
	q := mesh.Question{
		Method: http.MethodGet, Target: "/internal/tenant/" + url.PathEscape(tenant) + "/demographics?" + query.Encode(),
		Self: true, Accept: feed.MediaType,
	}
	err := mesh.Fetch(ctx, p.caller, q, func(body []byte) error {
		rest, err := page.UnmarshalMsg(body)
		if err != nil || len(rest) > 0 {
			return fmt.Errorf("read the feed of people: %w", errPage) // the decoder's text tells nothing that helps
		}
		return nil
	})
	if err != nil {
		return feed.Page{}, err
	}
	return page, nil
}
