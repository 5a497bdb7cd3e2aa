package matching

import "github.com/patient-mesh/patient-mesh/libs/linkage"

// Answer is who was found.
type Answer struct {
	Matches   []Match // best first; those of an exact find in the order of their ids
	Total     int     // of an exact find all of them, else those whose score is high enough
	Exact     bool
	Truncated bool  // not all candidates were looked at
	Next      int64 // the id after which an exact find goes on; 0: it does not
}

// Match is one who was found.
type Match struct {
	Patient  linkage.Demographics // without addresses, contacts, aliases and identifiers
	Score    float64              // the probability that it is the same person
	Grade    string
	Evidence []Evidence
}

// Evidence is what one field says for or against a match.
type Evidence struct {
	Field  string
	Level  string
	Weight float64 // in bits, to a thousandth
}

// exactLevel is the level of every field of an exact find.
const exactLevel = "exact"
