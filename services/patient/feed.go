package patient

import (
	"context"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Position is up to where somebody has been told of a tenant's people. Its text means nothing to others.
type Position struct {
	Epoch    string // the stretch of time in which transactions are numbered on
	Snapshot string // a pg_snapshot
	Next     uint64 // one above the last transaction that had ended; this one and later ones may be under way
}

// ParsePosition reads the text of one.
func ParsePosition(text string) (Position, bool) {
	epoch, snapshot, found := strings.Cut(text, "/")
	first, rest, two := strings.Cut(snapshot, ":")
	next, underWay, three := strings.Cut(rest, ":")
	p := Position{Epoch: epoch, Snapshot: snapshot}
	var oldest uint64
	for _, part := range []struct {
		text string
		into *uint64
	}{{first, &oldest}, {next, &p.Next}} {
		n, err := transaction(part.text)
		if err != nil {
			return Position{}, false
		}
		*part.into = n
	}
	if !found || !two || !three || epoch == "" || oldest > p.Next {
		return Position{}, false
	}
	if underWay == "" {
		return p, true
	}
	before := oldest
	for text := range strings.SplitSeq(underWay, ",") {
		n, err := transaction(text)
		if err != nil || n < before || n >= p.Next {
			return Position{}, false
		}
		before = n + 1
	}
	return p, true
}

// transaction reads the number of one, as PostgreSQL writes it.
func transaction(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err == nil && (n == 0 || strconv.FormatUint(n, 10) != text) {
		err = strconv.ErrSyntax
	}
	return n, err
}

func (p Position) String() string { return p.Epoch + "/" + p.Snapshot }

// Follows reports whether what changed from one position to this one can be told.
func (p Position) Follows(since Position) bool { return p.Epoch == since.Epoch && p.Next >= since.Next }

// FeedStore reads people for those who keep a copy.
type FeedStore interface {
	// People gives those with an id greater than after, ascending and so many at most: all who are not deleted, or those
	// who changed since a position, the deleted too. Now is taken before they are read. They may be less than there are
	// where they would be too large together; more says so, and whether there are others.
	People(ctx context.Context, tenant string, since *Position, after int64, limit int) (people feed.Page, now Position, err error)
}

// Feed tells the program of the mesh that finds people who a tenant's are, and who of them changed. Nobody is shown to anybody by
// it: whoever keeps the copy answers for what it shows.
type Feed struct{ Store FeedStore }

// copyist is the one program that keeps a copy of everybody: no other has a reason to read them.
const copyist = "matching"

// Page gives a part of a tenant's people.
func (f *Feed) Page(ctx context.Context, tenant string, since *string, after int64, limit int) (feed.Page, error) {
	by, err := principal.RequireService(ctx)
	if err != nil {
		return feed.Page{}, err
	}
	if by.ClientID != copyist {
		return feed.Page{}, fault.New(fault.Denied, "permission_denied", "This operation is for the program that finds people.")
	}
	id, err := uuid.Parse(tenant)
	if err != nil {
		return feed.Page{}, fault.New(fault.NotFound, "tenant_not_found", "There is no such tenant.")
	}
	var from *Position
	if since != nil && *since != "" {
		p, ok := ParsePosition(*since)
		if !ok {
			return feed.Page{}, fault.InvalidFields([]fault.Field{{Field: "since", Code: "invalid_position", Message: "is no position"}})
		}
		from = &p
	}
	page, now, err := f.Store.People(ctx, id.String(), from, after, limit)
	if err != nil {
		return feed.Page{}, err
	}
	if from != nil && !now.Follows(*from) {
		return feed.Page{}, fault.New(fault.Conflict, feed.CodeLost, "What changed since this position is not known any more; begin anew.")
	}
	page.Position = now.String()
	return page, nil
}
