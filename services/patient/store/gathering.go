package store

import (
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// gathering is a page of people as it comes together. However much hangs on them, it is no larger than mostBytes: it ends
// before the person whose children would be too much. Of the first person's it keeps as many as there is room for.
type gathering struct {
	limit  int
	people []linkage.Demographics
	more   bool
	sizes  []int // of each person
	size   int   // of all
}

// mostBytes is several times what full pages of ordinary records come to.
const mostBytes = 8 << 20

// rowBytes is what a row costs besides its text.
const rowBytes = 64

// row reads a row of texts in order. They share one copy: of a page of people there are a hundred thousand.
type row struct {
	values [][]byte
	text   string
	err    error
}

func rowOf(from pgx.CollectableRow) row {
	r := row{values: from.RawValues()}
	size := 0
	for _, value := range r.values {
		size += len(value)
	}
	var text strings.Builder
	text.Grow(size)
	for _, value := range r.values {
		text.Write(value)
	}
	r.text = text.String()
	return r
}

// bytes is what the row comes to on the wire, more or less.
func (r *row) bytes() int { return rowBytes + len(r.text) }

func (r *row) next() string {
	n := len(r.values[0])
	text := r.text[:n]
	r.values, r.text = r.values[1:], r.text[n:]
	return text
}

func (r *row) number() int64 {
	n, err := strconv.ParseInt(r.next(), 10, 64)
	if err != nil {
		r.err = errRow
	}
	return n
}

func (r *row) truth() bool { return r.next() == "true" }

var errRow = errors.New("a row of the feed cannot be read")

// person takes a row of a patient.
func (g *gathering) person(from pgx.CollectableRow) error {
	if g.more = g.more || len(g.people) == g.limit || g.size > mostBytes; g.more {
		return nil
	}
	r := rowOf(from)
	size := r.bytes()
	p := linkage.Demographics{
		ID: r.number(), FirstName: r.next(), MiddleName: r.next(), LastName: r.next(), Prefix: r.next(), Suffix: r.next(), DOB: r.next(),
		SexAtBirth: r.next(), Gender: r.next(), Race: r.next(), Ethnicity: r.next(), GenderIdentity: r.next(), PreferredLanguage: r.next(),
		SSNLast4: r.next(), Deceased: r.truth(), Deleted: r.truth(),
	}
	if p.Deleted {
		p = linkage.Demographics{ID: p.ID, Deleted: true}
	}
	g.people, g.sizes, g.size = append(g.people, p), append(g.sizes, size), g.size+size
	return r.err
}

// living is the ids of those who are not deleted.
func (g *gathering) living() []int64 {
	ids := make([]int64, 0, len(g.people))
	for i := range g.people {
		if !g.people[i].Deleted {
			ids = append(ids, g.people[i].ID)
		}
	}
	return ids
}

// children takes the rows of one kind, which come in the order of the people and begin with the id of one. List is where
// they belong, and read reads one.
func children[C any](g *gathering, list func(*linkage.Demographics) *[]C, read func(*row) C) func(pgx.CollectableRow) error {
	at := 0
	return func(from pgx.CollectableRow) error {
		r := rowOf(from)
		size, id := r.bytes(), r.number()
		for at < len(g.people) && g.people[at].ID < id {
			at++
		}
		if at == len(g.people) || g.people[at].ID != id || g.people[at].Deleted || !g.room(at, size) {
			return r.err
		}
		into := list(&g.people[at])
		*into = append(*into, read(&r))
		return r.err
	}
}

// room reports whether a person's child may be so large. Where it would be too much, the page ends before the person.
func (g *gathering) room(at, size int) bool {
	if g.size+size > mostBytes && len(g.people) > 1 {
		g.people, g.more, g.size = g.people[:max(at, 1)], true, 0
		for _, kept := range g.sizes[:len(g.people)] {
			g.size += kept
		}
		if at > 0 {
			return false
		}
	}
	if g.size+size > mostBytes {
		return false
	}
	g.sizes[at], g.size = g.sizes[at]+size, g.size+size
	return true
}

func (g *gathering) addresses() func(pgx.CollectableRow) error {
	return children(g, func(p *linkage.Demographics) *[]linkage.Address { return &p.Addresses }, func(r *row) linkage.Address {
		return linkage.Address{Line1: r.next(), Line2: r.next(), City: r.next(), State: r.next(), PostalCode: r.next(), Country: r.next()}
	})
}

func (g *gathering) contacts() func(pgx.CollectableRow) error {
	return children(g, func(p *linkage.Demographics) *[]linkage.Contact { return &p.Contacts }, func(r *row) linkage.Contact {
		return linkage.Contact{System: r.next(), Value: r.next(), E164: r.next()}
	})
}

func (g *gathering) aliases() func(pgx.CollectableRow) error {
	return children(g, func(p *linkage.Demographics) *[]linkage.Alias { return &p.Aliases }, func(r *row) linkage.Alias {
		return linkage.Alias{Alias: r.next(), FirstName: r.next(), LastName: r.next(), FullName: r.next(), From: r.number(), Until: r.number()}
	})
}

func (g *gathering) identifiers() func(pgx.CollectableRow) error {
	return children(g, func(p *linkage.Demographics) *[]linkage.Identifier { return &p.Identifiers }, func(r *row) linkage.Identifier {
		return linkage.Identifier{Type: r.next(), Authority: r.next(), Value: r.next(), From: r.number(), Until: r.number()}
	})
}
