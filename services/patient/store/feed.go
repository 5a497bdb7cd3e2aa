package store

import (
	"context"
	"errors"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

var _ patient.FeedStore = (*Store)(nil)

const (
	// The position is read before the people: what changes in between is told now, and once more the next time. Only a
	// primary gives one; a standby refuses to read an unlogged table, and does not know which transactions are under way.
	position = `
	SELECT id::text || '.' || xmin::text || '.' || (SELECT oid FROM pg_database WHERE datname = current_database())::text
		|| '/' || pg_current_snapshot()::text FROM feed_epoch`
	// The statements of the feed are planned once, for indexes, whatever the statistics say: those are of the transactions
	// before, and of the time before an import. To plan who changed takes several times as long as to find them.
	planOnce = `
	SELECT set_config('plan_cache_mode', 'force_generic_plan', true), set_config('enable_seqscan', 'off', true),
		set_config('max_parallel_workers_per_gather', '0', true), set_config('jit', 'off', true)`
	newEpoch = `INSERT INTO feed_epoch DEFAULT VALUES ON CONFLICT DO NOTHING`

	// All columns of these are read as text: see row. What the order is by must not be the name of a text.
	person = `
	id::text AS key, first_name, middle_name, last_name, prefix, suffix, dob::text, sex_at_birth, gender, race, ethnicity, gender_identity,
	preferred_language, ssn_last4, deceased::text, (deleted_at IS NOT NULL)::text`

	allPeople = `SELECT ` + person + ` FROM patient WHERE tenant_id = $1 AND deleted_at IS NULL AND id > $2 ORDER BY id LIMIT $3`
)

// changedPeople finds the ids first, in the spans of transactions that a snapshot could not see: those that began later,
// which can be no later than now (rows of a restored dump may say so), and each of those that were under way, so that one
// that goes on for hours costs nothing. The order makes the index of what changed the only way that comes to mind, also
// to a planner who sees empty tables: one that walks all people and drops nearly all of them looks as cheap to it.
func changedPeople() string {
	moved := func(table, id string) string {
		return `
		SELECT m.id FROM span CROSS JOIN LATERAL (
			SELECT ` + id + ` AS id FROM ` + table + ` WHERE tenant_id = $1 AND moved BETWEEN first AND last ORDER BY moved) AS m`
	}
	tables := []string{
		moved("patient", "id"), moved("patient_address", "patient_id"), moved("patient_contact", "patient_id"),
		moved("patient_alias", "patient_id"), moved("patient_identifier", "patient_id"),
	}
	return `
	WITH span (first, last) AS MATERIALIZED (
		SELECT pg_snapshot_xmax($4::pg_snapshot), pg_snapshot_xmax(pg_current_snapshot())
		UNION ALL SELECT x, x FROM pg_snapshot_xip($4::pg_snapshot) AS x
	), changed (id) AS MATERIALIZED (` + strings.Join(tables, ` UNION ALL`) + `)
	SELECT p.* FROM (SELECT DISTINCT id FROM changed WHERE id > $2 ORDER BY id LIMIT $3) AS c
		CROSS JOIN LATERAL (SELECT ` + person + ` FROM patient WHERE tenant_id = $1 AND id = c.id OFFSET 0) AS p
		ORDER BY c.id`
}

var (
	errNoEpoch = errors.New("no epoch of positions could be made")
	errSpread  = errors.New("the tables are spread over nodes: there are no positions")
)

// People is patient.FeedStore's: one trip where nobody is found, else two.
func (s *Store) People(ctx context.Context, tenant string, since *patient.Position, after int64, limit int) (feed.Page, patient.Position, error) {
	if s.db.Spread() { // a copy that missed a change would be worse than none
		return feed.Page{}, patient.Position{}, fault.Away(errSpread, "Changes of patients cannot be followed.")
	}
	for range 2 {
		found := gathering{limit: limit}
		var now string
		b := pg.Tenant(tenant)
		b.Exec(planOnce)
		pg.Value(b, &now, position)
		if since == nil {
			found.people = make([]linkage.Demographics, 0, limit) // most pages are full
			pg.Each(b, found.person, allPeople, tenant, after, limit+1)
		} else {
			pg.Each(b, found.person, s.changed, tenant, after, limit+1, since.Snapshot)
		}
		if err := s.db.Send(ctx, b); err != nil {
			return feed.Page{}, patient.Position{}, err
		}
		if now == "" {
			b := pg.Global()
			b.Exec(newEpoch)
			if err := s.db.Send(ctx, b); err != nil {
				return feed.Page{}, patient.Position{}, err
			}
			continue
		}
		if err := s.children(ctx, tenant, &found, since == nil, after); err != nil {
			return feed.Page{}, patient.Position{}, err
		}
		at, ok := patient.ParsePosition(now)
		if !ok {
			return feed.Page{}, patient.Position{}, errors.New("the position cannot be read")
		}
		return feed.Page{People: found.people, More: found.more}, at, nil
	}
	return feed.Page{}, patient.Position{}, errNoEpoch
}

// Children that were not deactivated. Whether they hold now is for the reader to say, at the time. A bound of exactly
// 1970 is told as the millisecond before, since 0 is none; what never holds is not told.
const (
	childAddress = `SELECT patient_id::text AS key, line1, line2, city, state, postal_code, country FROM patient_address`
	childContact = `SELECT patient_id::text AS key, system, value, e164 FROM patient_contact`
	childAlias   = `SELECT patient_id::text AS key, alias, first_name, last_name, full_name, ` + bounds + ` FROM patient_alias`
	// No text has control characters: the parts of an authority do not run into one another.
	childIdentifier = `
	SELECT patient_id::text AS key, type, concat_ws(E'\x1f', authority_organization_id, authority_organization_name,
		authority_external_system_id, authority_external_system_name), value, ` + bounds + ` FROM patient_identifier`
	bounds = `
	coalesce(nullif((extract(epoch FROM lower(holds)) * 1000)::bigint, 0), CASE WHEN lower_inf(holds) THEN 0 ELSE -1 END)::text,
	coalesce(nullif((extract(epoch FROM upper(holds)) * 1000)::bigint, 0), CASE WHEN upper_inf(holds) THEN 0 ELSE -1 END)::text`
	holdable = ` AND NOT isempty(holds)`
)

// ofPeople asks for the children of the page's people: one by one, or, where they are all that there are from one to
// another, as a range, which is cheaper.
func ofPeople(child, condition string, all bool) string {
	const inOrder = ` ORDER BY patient_id, id`
	condition = ` AND deactivated_at IS NULL` + condition
	if all {
		return child + ` WHERE tenant_id = $1 AND patient_id > $2 AND patient_id <= $3` + condition + inOrder
	}
	return `SELECT c.* FROM unnest($2::bigint[]) WITH ORDINALITY AS person (id, place) CROSS JOIN LATERAL (` +
		child + ` WHERE tenant_id = $1 AND patient_id = person.id` + condition + inOrder + `) AS c ORDER BY place`
}

// children adds to those who were found what hangs on them.
func (s *Store) children(ctx context.Context, tenant string, found *gathering, all bool, after int64) error {
	ids := found.living()
	if len(ids) == 0 {
		return nil
	}
	args := []any{tenant, ids}
	if all {
		args = []any{tenant, after, ids[len(ids)-1]}
	}
	b := pg.Tenant(tenant)
	b.Exec(planOnce)
	pg.Each(b, found.addresses(), ofPeople(childAddress, "", all), args...)
	pg.Each(b, found.contacts(), ofPeople(childContact, "", all), args...)
	pg.Each(b, found.aliases(), ofPeople(childAlias, holdable, all), args...)
	pg.Each(b, found.identifiers(), ofPeople(childIdentifier, holdable, all), args...)
	return s.db.Send(ctx, b)
}
