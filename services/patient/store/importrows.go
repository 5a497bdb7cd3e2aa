package store

import (
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// The rows of a batch go in as one array for each column: COPY is refused where row-level security holds.
const (
	importPatients = `
	INSERT INTO patient (
		tenant_id, id, first_name, middle_name, last_name, prefix, suffix, dob, sex_at_birth, gender, race, ethnicity,
		gender_identity, preferred_language, ssn_last4, version, created_at, updated_at)
	SELECT $1, p.*, 1, $2::timestamptz, $2
	FROM unnest(
		$3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::date[], $10::text[], $11::text[], $12::text[],
		$13::text[], $14::text[], $15::text[], $16::text[]) AS p`
	importHistory = `
	INSERT INTO patient_history (tenant_id, patient_id, version, changed_at, actor_type, actor_id, credential_id, change, fields)
	SELECT $1, id, 1, $2, $3, $4, $5, $6, fields::text[] FROM unnest($7::bigint[], $8::text[]) AS h (id, fields)`
	importCount = `INSERT INTO patient_count (tenant_id, delta) VALUES ($1, $2)`
	importLines = `
	INSERT INTO patient_import (tenant_id, credential_id, key, block, first_line, lines, digests, patient_ids)
	VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
)

// entriesInARow is how many entries a row of the audit queue holds: one that goes along with others is a delivery that is
// still taken.
const entriesInARow = 500

// column is one of the arrays.
func column[T any](list chosen, of func(one *patient.Newcomer) T) []T {
	values := make([]T, len(list))
	for n, one := range list {
		values[n] = of(one)
	}
	return values
}

func (c chosen) ids() []int64 { return column(c, func(one *patient.Newcomer) int64 { return one.ID }) }

func (c chosen) patients(b *pg.Batch, tenant string) {
	text := func(of func(p *patient.Patient) string) []string {
		return column(c, func(one *patient.Newcomer) string { return of(&one.Patient) })
	}
	b.Exec(importPatients, tenant, c[0].CreatedAt, c.ids(),
		text(func(p *patient.Patient) string { return p.FirstName }),
		text(func(p *patient.Patient) string { return p.MiddleName }),
		text(func(p *patient.Patient) string { return p.LastName }),
		text(func(p *patient.Patient) string { return p.Prefix }),
		text(func(p *patient.Patient) string { return p.Suffix }),
		column(c, func(one *patient.Newcomer) time.Time { return one.DOB }),
		text(func(p *patient.Patient) string { return p.SexAtBirth }),
		text(func(p *patient.Patient) string { return p.Gender }),
		text(func(p *patient.Patient) string { return p.Race }),
		text(func(p *patient.Patient) string { return p.Ethnicity }),
		text(func(p *patient.Patient) string { return p.GenderIdentity }),
		text(func(p *patient.Patient) string { return p.PreferredLanguage }),
		text(func(p *patient.Patient) string { return p.SSNLast4 }))
}

func (c chosen) history(b *pg.Batch, by principal.Principal) {
	actor := by.Actor()
	fields := column(c, func(one *patient.Newcomer) string { // names alone, which need no quotes
		return "{" + strings.Join(patient.Diff(patient.Patient{}, one.Patient), ",") + "}"
	})
	b.Exec(importHistory, by.TenantID, c[0].CreatedAt, actor.Type, actor.ID, by.CredentialID, patient.Created, c.ids(), fields)
}

func (c chosen) entries(b *pg.Batch) {
	for start := 0; start < len(c); start += entriesInARow {
		part := c[start:min(start+entriesInARow, len(c))]
		audit.Keep(b, column(part, func(one *patient.Newcomer) audit.Entry { return one.Entry.About(one.ID) })...)
	}
}

func (c chosen) lines(b *pg.Batch, key idempotency.Key) {
	var digests []byte
	for _, one := range c {
		digests = append(digests, one.Digest[:]...)
	}
	first := c[0].Line
	b.Exec(importLines, key.Tenant, key.Credential, key.Value, number(first), first,
		column(c, func(one *patient.Newcomer) int16 { return place(one.Line) }), digests, c.ids())
}

// queueChildren queues the children of one kind that come with newcomers.
func queueChildren[N any, P patient.Noun[N]](b *pg.Batch, c *Children[N, P], tenant string, list chosen, of func(one *patient.Newcomer) []N) {
	k := &c.kind
	var ids pgtype.FlatArray[pgtype.UUID]
	var patients []int64
	var from, until pgtype.FlatArray[pgtype.Timestamptz]
	own := make([][]string, strings.Count(k.columns, ",")+1)
	for _, one := range list {
		children := of(one)
		for n := range children {
			child := &children[n]
			ids, patients = append(ids, pgtype.UUID{Bytes: uuid.MustParse(P(child).Base().ID), Valid: true}), append(patients, one.ID)
			for place, value := range k.values(*child) {
				text, _ := value.(string) // as all of them are
				own[place] = append(own[place], text)
			}
			if k.interval != nil {
				i := k.interval(*child)
				from, until = append(from, bound(i.From)), append(until, bound(i.Until))
			}
		}
	}
	if len(ids) == 0 {
		return
	}
	args := []any{tenant, list[0].CreatedAt, ids, patients}
	for _, values := range own {
		args = append(args, values)
	}
	if k.interval != nil {
		args = append(args, from, until)
	}
	b.Exec(c.sql.several, args...)
}

func bound(m civil.Moment) pgtype.Timestamptz {
	return pgtype.Timestamptz{Time: m.At, Valid: m.Given()}
}

// several is the statement that writes many new children: what is the same for all, an array for each column, and two for
// the bounds of the interval of a kind that has one.
func (k kind[N]) several() string {
	own := strings.Count(k.columns, ",") + 1
	names, arrays := arguments(1, own), ""
	names = strings.ReplaceAll(names, "$", "v")
	for n := range own {
		arrays += ", $" + strconv.Itoa(n+5) + "::text[]"
	}
	columns, values := k.columns, names
	if k.interval != nil {
		columns, values, names = columns+", holds", values+", tstzrange(v_from, v_until)", names+", v_from, v_until"
		arrays += ", $" + strconv.Itoa(own+5) + "::timestamptz[], $" + strconv.Itoa(own+6) + "::timestamptz[]"
	}
	return `
	INSERT INTO ` + k.table + ` (tenant_id, patient_id, id, version, created_at, updated_at, ` + columns + `)
	SELECT $1, patient_id, id, 1, $2::timestamptz, $2, ` + values + `
	FROM unnest($3::uuid[], $4::bigint[]` + arrays + `) AS c (id, patient_id, ` + names + `)`
}
