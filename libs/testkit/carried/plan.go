package carried

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// planner has statements planned, for one tenant.
type planner struct {
	conn         *pgx.Conn
	distribution pg.Distribution
	tables       map[string]string // that have a tenant, with the column of each
	node         *regexp.Regexp
	about        int // statements that named one of the tables
}

const tenant = "'01900000-0000-7000-8000-0000000000aa'::uuid"

func (p *planner) open(ctx context.Context) error {
	p.tables = tenants(p.distribution)
	p.node = regexp.MustCompile(`^(.+)_node([0-9])$`)
	_, err := p.conn.Exec(ctx, `SET plan_cache_mode = force_custom_plan`)
	return err
}

// fault says what is wrong with a statement, if something is.
func (p *planner) fault(ctx context.Context, s statement) (string, error) {
	var named []string
	for table := range p.tables {
		if names(s.sql, table) {
			named = append(named, table)
		}
	}
	if len(named) == 0 {
		return "", nil
	}
	p.about++
	slices.Sort(named)
	kinds, err := p.prepare(ctx, s.sql)
	if err != nil {
		return "", ofOthers(err)
	}
	defer p.conn.Exec(ctx, `DEALLOCATE s`) //nolint:errcheck // the next one would tell
	seen := map[string]bool{}
	for _, nulls := range []bool{false, true} {
		arguments, err := literals(kinds, nulls)
		if err != nil {
			return "", err
		}
		var raw []byte
		if err := p.conn.QueryRow(ctx, `EXPLAIN (VERBOSE, COSTS OFF, FORMAT JSON) EXECUTE s`+arguments).Scan(&raw); err != nil {
			return "", err
		}
		var plans []struct{ Plan plan }
		if err := json.Unmarshal(raw, &plans); err != nil {
			return "", err
		}
		l := look{planner: p, seen: seen, nodes: map[string]bool{}}
		l.at(plans[0].Plan)
		if len(l.nodes) > 1 || l.fault != "" {
			return strings.TrimSpace(fmt.Sprintf("planned for %d nodes %s", len(l.nodes), l.fault)), nil
		}
	}
	for _, table := range named {
		if !seen[table] {
			return "names " + table + ", and no plan shows what of it", nil
		}
	}
	return "", nil
}

// ofOthers forgives libraries that their tables are not in every service's database.
func ofOthers(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42P01" && strings.Contains(refused.Message, `"outbox"`) {
		return nil
	}
	return err
}

func (p *planner) prepare(ctx context.Context, sql string) ([]string, error) {
	if _, err := p.conn.Exec(ctx, `PREPARE s AS `+sql); err != nil {
		return nil, err
	}
	var kinds []string
	err := p.conn.QueryRow(ctx, `SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 's'`).Scan(&kinds)
	return kinds, err
}

// literals is a list of arguments of these types. Every id is the tenant's, so that what is asked for by another id than
// the tenant's own column is found out. What decides by a null is looked at both ways.
func literals(kinds []string, nulls bool) (string, error) {
	if len(kinds) == 0 {
		return "", nil
	}
	list := make([]string, len(kinds))
	for n, kind := range kinds {
		number := strconv.Itoa(n + 1) // growing, since from the first to the first is nothing
		values := map[string]string{
			"uuid": tenant, "text": "'x'", "bigint": number, "integer": number, "smallint": number, "numeric": number, "boolean": "true",
			"date": "'2026-01-01'", "timestamp with time zone": "('2026-01-01'::timestamptz + " + number + " * interval '1 s')",
			"interval": "'1 s'", "bytea": `'\x00'`, "json": "'[{}]'", "jsonb": "'[{}]'", "pg_snapshot": "'1:1:'",
			"tstzrange": "'[2026-01-01,2027-01-01)'",
		}
		element, array := strings.CutSuffix(kind, "[]")
		value, known := values[element]
		switch {
		case !known:
			return "", fmt.Errorf("no value of type %s", kind) //nolint:err113 // a test's
		case nulls && kind == "timestamp with time zone":
			list[n] = "NULL"
		case array:
			list[n] = "ARRAY[" + value + "]::" + kind
		default:
			list[n] = value
		}
	}
	return "(" + strings.Join(list, ", ") + ")", nil
}

// plan is a node of one.
type plan struct {
	Type      string   `json:"Node Type"`
	Operation string   `json:"Operation"`
	Relation  string   `json:"Relation Name"`
	Alias     string   `json:"Alias"`
	Parent    string   `json:"Parent Relationship"`
	Output    []string `json:"Output"`
	Subplan   string   `json:"Subplan Name"`
	Removed   int      `json:"Subplans Removed"` // at the start of the execution, not by the planner
	Plans     []plan   `json:"Plans"`
}

// look gathers what a plan is about.
type look struct {
	*planner

	seen  map[string]bool // tables
	nodes map[string]bool
	fault string
}

func (l *look) at(p plan) {
	if part := l.node.FindStringSubmatch(p.Relation); part != nil {
		l.seen[part[1]], l.nodes[part[2]] = true, true
	}
	if p.Type == "ModifyTable" {
		target := l.spread(p.Relation)
		if slices.ContainsFunc(p.Plans, func(below plan) bool { return l.reads(below, !target) }) {
			l.fault = "and mixes what is spread with what stays, to change " + p.Relation
		}
	}
	if p.Removed > 0 {
		l.fault = "and only the execution tells which"
	}
	if _, ours := l.tables[p.Relation]; ours && p.Operation == "Insert" {
		l.seen[p.Relation] = true
		if !l.brings(p) {
			l.fault = "and puts rows of who knows whom in " + p.Relation
		}
	}
	for _, below := range p.Plans {
		l.at(below)
	}
}

func (l *look) spread(relation string) bool {
	if part := l.node.FindStringSubmatch(relation); part != nil {
		relation = part[1]
	}
	return slices.ContainsFunc(l.distribution.Tables, func(t pg.Table) bool { return t.Spread && t.Name == relation })
}

// reads reports whether a part of a change reads a table that is spread, or one that is not. Citus refuses to change one
// kind by the other (citusdata/citus#5280); what stands in a WITH is done by itself before.
func (l *look) reads(p plan, spread bool) bool {
	if strings.HasPrefix(p.Subplan, "CTE ") {
		return false
	}
	return p.Relation != "" && l.spread(p.Relation) == spread ||
		slices.ContainsFunc(p.Plans, func(below plan) bool { return l.reads(below, spread) })
}

// brings reports whether the first column of the rows to insert, which is the tenant in each of the tables, is the one
// that was given, or that of a row which was asked for by it.
func (l *look) brings(p plan) bool {
	rows := slices.IndexFunc(p.Plans, func(below plan) bool { return below.Parent == "Outer" || below.Parent == "Subquery" })
	if rows < 0 {
		return false
	}
	from := p.Plans[rows]
	if len(from.Output) > 0 {
		if from.Output[0] == tenant {
			return true
		}
		if part := l.node.FindStringSubmatch(from.Relation); part != nil && from.Output[0] == from.Alias+"."+l.tables[part[1]] {
			return true
		}
	}
	return l.brings(from)
}
