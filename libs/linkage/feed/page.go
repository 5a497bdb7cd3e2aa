// Package feed is how people travel from the service that keeps their records to those who keep a copy of what linkage
// needs: in pages, as MessagePack arrays. It knows no transport and no storage.
package feed

import "github.com/patient-mesh/patient-mesh/libs/linkage"

//go:generate ../../../.bin/msgp -file page.go -o page.gen.go -io=false -tests=false -v=false
//msgp:tuple Page

// MediaType is what a page is called on the wire.
const MediaType = "application/msgpack"

// MostPeople is the largest page that may be asked for.
const MostPeople = 5000

// CodeLost is the code of the refusal of a position that is worth nothing any more: who holds it begins anew.
const CodeLost = "position_lost"

// Page is a part of a tenant's people, ascending by id. A reader without a position is told all, else those who changed
// since; of who was deleted there is nothing but the id. It holds the position of the first page once it has read the
// last. What is told twice is the same, or newer.
type Page struct {
	Position string // where the next reading begins
	More     bool   // ask again, after the last of these people
	People   []linkage.Demographics
}
