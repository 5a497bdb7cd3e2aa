package store

import (
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

// person takes a row of a patient.
func (g *gathering) person(row pgx.CollectableRow) error {
	if g.more = g.more || len(g.people) == g.limit || g.size > mostBytes; g.more {
		return nil
	}
	var p linkage.Demographics
	err := row.Scan(&p.ID, &p.FirstName, &p.MiddleName, &p.LastName, &p.Prefix, &p.Suffix, &p.DOB, &p.SexAtBirth, &p.Gender, &p.Race,
		&p.Ethnicity, &p.GenderIdentity, &p.PreferredLanguage, &p.SSNLast4, &p.Deceased, &p.Deleted)
	if err != nil {
		return err
	}
	if p.Deleted {
		p = linkage.Demographics{ID: p.ID, Deleted: true}
	}
	size := textBytes(row)
	g.people, g.sizes, g.size = append(g.people, p), append(g.sizes, size), g.size+size
	return nil
}

// textBytes is what a row comes to on the wire, more or less.
func textBytes(row pgx.CollectableRow) int {
	size := rowBytes
	for _, value := range row.RawValues() {
		size += len(value)
	}
	return size
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

// children takes the rows of one kind, which come in the order of the people. Scan reads one of them, behind the id of its
// patient, and list is where they belong.
func children[C any](
	g *gathering, list func(*linkage.Demographics) *[]C, scan func(row pgx.CollectableRow, id *int64, c *C) error,
) func(pgx.CollectableRow) error {
	var id int64
	var child, none C
	at := 0
	return func(row pgx.CollectableRow) error {
		child = none
		if err := scan(row, &id, &child); err != nil {
			return err
		}
		for at < len(g.people) && g.people[at].ID < id {
			at++
		}
		if at == len(g.people) || g.people[at].ID != id || g.people[at].Deleted || !g.room(at, textBytes(row)) {
			return nil
		}
		into := list(&g.people[at])
		*into = append(*into, child)
		return nil
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
	return children(g, func(p *linkage.Demographics) *[]linkage.Address { return &p.Addresses },
		func(row pgx.CollectableRow, id *int64, a *linkage.Address) error {
			return row.Scan(id, &a.Line1, &a.Line2, &a.City, &a.State, &a.PostalCode, &a.Country)
		})
}

func (g *gathering) contacts() func(pgx.CollectableRow) error {
	return children(g, func(p *linkage.Demographics) *[]linkage.Contact { return &p.Contacts },
		func(row pgx.CollectableRow, id *int64, c *linkage.Contact) error {
			return row.Scan(id, &c.System, &c.Value, &c.E164)
		})
}

func (g *gathering) aliases() func(pgx.CollectableRow) error {
	return children(g, func(p *linkage.Demographics) *[]linkage.Alias { return &p.Aliases },
		func(row pgx.CollectableRow, id *int64, a *linkage.Alias) error {
			return row.Scan(id, &a.Alias, &a.FirstName, &a.LastName, &a.FullName, &a.From, &a.Until)
		})
}

func (g *gathering) identifiers() func(pgx.CollectableRow) error {
	return children(g, func(p *linkage.Demographics) *[]linkage.Identifier { return &p.Identifiers },
		func(row pgx.CollectableRow, id *int64, i *linkage.Identifier) error {
			return row.Scan(id, &i.Type, &i.Authority, &i.Value, &i.From, &i.Until)
		})
}
