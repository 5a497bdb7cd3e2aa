package index

import "github.com/patient-mesh/patient-mesh/libs/linkage"

// Query asks for the people who are likely to be somebody.
type Query struct {
	Person   linkage.Demographics // what is known of them
	Model    *linkage.Model
	Limit    int
	MinScore float64 // people below a thousandth are not looked for
	Now      int64   // in milliseconds since 1970: aliases and identifiers count while they hold
}

// ExactQuery asks for the people whose records say what Person does: its names, day of birth, sex, suffix and last four of the
// social security number, its contacts, the values of its identifiers, and each of its addresses at one address.
type ExactQuery struct {
	Person linkage.Demographics
	After  int64 // ids above it
	Limit  int
	Now    int64
}

// Found is an answer.
type Found struct {
	Hits      []Hit   // the best first; of an exact question ascending by id
	Total     int     // all who are as good as asked for
	Truncated bool    // somebody who is may be missing, since too many people share what is known
	Next      int64   // of an exact question: the id after which to go on; 0: there is nobody
	Second    float64 // bits of the second best candidate, shown or not; minus infinity: there is none
	Scored    int     // candidates that were weighed
}

// Hit is somebody found.
type Hit struct {
	Demographics linkage.Demographics // without children
	Bits         float64
	Veto         string
	Evidence     []linkage.Evidence
}
