package patient

import "time"

// The kinds of change that history tells.
const (
	Created          = "created"
	Updated          = "updated"
	Deleted          = "deleted"
	Restored         = "restored"
	DeceasedMarked   = "deceased_marked"
	DeceasedUnmarked = "deceased_unmarked"
)

// HistoryEntry is one change: who made which version when, and the names of the fields, never their values.
type HistoryEntry struct {
	Version   int64     `db:"version"`
	ChangedAt time.Time `db:"changed_at"`
	ActorType string    `db:"actor_type"`
	ActorID   string    `db:"actor_id"`
	Change    string    `db:"change"`
	Fields    []string  `db:"fields"`
}
