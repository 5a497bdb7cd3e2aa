package store

import (
	"context"
	"log/slog"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// RollUpSoon lets a test ask for a roll-up.
func (s *Store) RollUpSoon(tenant string) { s.rollUpSoon(tenant) }

// ActiveAliases lets a test queue some of a patient's active aliases, and their number.
func (s *Store) ActiveAliases(ctx context.Context, tenant string, id int64, at time.Time, most int) (list []patient.Alias, number int64, err error) {
	b := pg.Tenant(tenant)
	s.aliases.queueActive(b, &list, tenant, id, at, most)
	s.aliases.queueCount(b, &number, tenant, id, patient.ActiveOnly, at)
	return list, number, s.db.Send(ctx, b)
}

// ChangedSQL is the statement of who changed.
func ChangedSQL() string { return changedPeople() }

// PlanOnceSQL goes before it.
func PlanOnceSQL() string { return planOnce }

// BuiltSQL is the statements that are put together, by what sends them.
func BuiltSQL() map[string][]string {
	s := New(nil, slog.New(slog.DiscardHandler))
	built := map[string][]string{"People: s.changed": {s.changed}}
	for _, of := range []statements{s.addresses.sql, s.contacts.sql, s.aliases.sql, s.identifiers.sql} {
		for key, list := range map[string][]string{
			"Create: query": {of.create, of.createOnce}, "Save: c.sql.save": {of.save}, "find: c.sql.read": {of.read},
			"List: c.sql.list": {of.list}, "queueActive: c.sql.active": {of.active}, "queueCount: c.sql.count": {of.count},
			"queueListing: c.sql.items": {of.items}, "queueChildren: c.sql.several": {of.several},
		} {
			built[key] = append(built[key], list...)
		}
	}
	for _, all := range []bool{true, false} {
		for key, sql := range map[string]string{
			`children: ofPeople(childAddress, "", all)`:          ofPeople(childAddress, "", all),
			`children: ofPeople(childContact, "", all)`:          ofPeople(childContact, "", all),
			`children: ofPeople(childAlias, holdable, all)`:      ofPeople(childAlias, holdable, all),
			`children: ofPeople(childIdentifier, holdable, all)`: ofPeople(childIdentifier, holdable, all),
		} {
			built[key] = append(built[key], sql)
		}
	}
	return built
}
