package store

import "github.com/patient-mesh/patient-mesh/services/tenant"

// RecordsSQL is the statements of a list with a filter: its number and its page.
func RecordsSQL(f tenant.AuditFilter) (count, page string) {
	where, args := filtered("", f)
	return countWhere(where), pageWhere(where, len(args))
}
