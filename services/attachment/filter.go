package attachment

import "time"

// Which says which documents of a patient are listed.
type Which int

// The lists of documents.
const (
	ActiveOnly Which = iota
	InactiveOnly
	All
)

// Filter says which documents a search gives. The zero Filter is all that are active.
type Filter struct {
	Type         string    // empty: any
	CreatedAfter time.Time // the instant belongs to it; zero: any
	Text         string    // folded; what title or filename contain; empty: anything
	Which        Which
}
