// Package route knows which service answers which request, and what the request needs for it. It holds the one table of
// all public operations and finds a request's place in it; it knows nothing of what the operations mean.
package route

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Route is one public operation.
type Route struct {
	Method  string
	Pattern string // segments, of which {name} takes any text
	Service string
	Need    principal.Permission // of the credential; none: any credential will do
	Traits
}

// Traits are what sets a route apart from the others. The zero value is what most of them are.
type Traits struct {
	Public    bool          // needs no credential: the service looks after itself
	Recheck   bool          // may change what the credential that it is called with is worth
	Page      bool          // for people in a browser: the API document does not have it
	Patient   bool          // touches patient data: in production the tenant must have accepted the agreement
	BodyLimit int64         // bytes; zero: DefaultBodyLimit, or for a stream what the operator allows
	Timeout   time.Duration // zero: the default budget, or for a stream the longest there is
	Stream    bool          // bodies are passed on as they come, in both directions
	Import    bool          // of a stream: many records rather than one content
	Repeat    mesh.Repeat
}

// The longest bodies, in bytes.
const (
	DefaultBodyLimit = 1 << 20  // of a route that does not say otherwise
	DocumentLimit    = 8 << 20  // of a document's JSON: a payload may be 1 MiB before it is escaped
	QuestionLimit    = 64 << 10 // of what is asked about a person
)

// Limits are the longest bodies of streams that an operator allows, in bytes.
type Limits struct {
	Content, Import int64
}

// Limit is the longest body that the route takes, in bytes.
func (r *Route) Limit(streams Limits) int64 {
	switch {
	case r.BodyLimit > 0:
		return r.BodyLimit
	case r.Import:
		return streams.Import
	case r.Stream:
		return streams.Content
	}
	return DefaultBodyLimit
}
