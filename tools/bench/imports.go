package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/tools/mesh"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

const (
	importPeople = 100_000 // of each import
	// What an import costs that the machine which it was asked of has two cores for, at 20,000 patients a second.
	budgetImport     = 20_000
	budgetImportCost = 100 * time.Microsecond
)

// imported is what an import took and cost until it was answered, and what the trail of it cost after that.
type imported struct {
	took                               time.Duration
	client, gateway, patient, postgres time.Duration
	trail                              cost // carried away and chained, during the import and after it
}

// imports measures POST /v3/patient/import through the whole mesh beside COPY of the same rows into the same tables.
func (b *Bench) imports(ctx context.Context) error {
	full := table{
		title: fmt.Sprintf("Import of %d people through the gateway, against COPY of the same rows into the same tables", importPeople),
		header: []string{
			"What", "Who", "Ratio to COPY", "Rate", "Client's CPU a patient", "Gateway's", "Patient's", "PostgreSQL's", "The trail's, afterwards",
		},
	}
	for _, set := range []struct {
		name     string
		children bool
	}{{"without children", false}, {"with children", true}} {
		file, err := b.importLines(set.children)
		if err != nil {
			return err
		}
		if err := b.importSet(ctx, set.name, file, &full); err != nil {
			return err
		}
	}
	b.report.table(full)
	return nil
}

// importLines writes the lines of an import.
func (b *Bench) importLines(children bool) (path string, err error) {
	generator, err := synth.New(synth.Options{People: importPeople, Complete: true})
	if err != nil {
		return "", err
	}
	path = filepath.Join(b.scratch, "people-"+strconv.FormatBool(children)+".ndjson")
	file, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // Flush tells
	lines, err := synth.NewNDJSON(file, nil, 0)
	if err != nil {
		return "", err
	}
	for r := range generator.Records() {
		if !children {
			r.Addresses, r.Contacts, r.Aliases, r.Identifiers = nil, nil, nil, nil
		}
		if err := lines.Write(&r); err != nil {
			return "", err
		}
	}
	return path, lines.Flush()
}

func (b *Bench) importSet(ctx context.Context, name, file string, full *table) error {
	const ours, theirs = "import", "COPY, one transaction"
	first, err := b.importFile(ctx, file) // code, connections and plans are there then
	if err != nil {
		return err
	}
	var all []imported
	found, err := b.interleave(ctx, "import "+name, []subject{
		{name: ours, run: func(ctx context.Context) (sample, error) {
			i, err := b.importFile(ctx, file)
			all = append(all, i.imported)
			return sample{Rate: importPeople / i.took.Seconds(), Database: i.postgres}, err
		}},
		{name: theirs, run: func(ctx context.Context) (sample, error) { return b.copied(ctx, first.after) }},
	})
	if err != nil {
		return err
	}
	mid := func(of func(i imported) time.Duration) time.Duration {
		return time.Duration(median(all, func(i imported) float64 { return float64(of(i)) }))
	}
	client, gateway := mid(func(i imported) time.Duration { return i.client }), mid(func(i imported) time.Duration { return i.gateway })
	patient, postgres := mid(func(i imported) time.Duration { return i.patient }), mid(func(i imported) time.Duration { return i.postgres })
	trail := mid(func(i imported) time.Duration { return i.trail.ours + i.trail.database })
	ratio := found[ours].Rate / found[theirs].Rate
	full.rows = append(full.rows,
		[]string{name, ours, fmt.Sprintf("%.2f×", ratio), rate(found[ours].Rate), duration(client), duration(gateway), duration(patient), duration(postgres), duration(trail)},
		[]string{name, theirs, "1.00×", rate(found[theirs].Rate), "–", "–", "–", duration(found[theirs].Database), "–"})
	b.report.headline(headline{
		what: "patients a second of an import " + name + ", through the gateway", found: rate(found[ours].Rate), budget: "≥ " + rate(budgetImport),
		met: verdictOf(found[ours].Rate >= budgetImport),
	})
	whole := client + gateway + patient + postgres
	b.report.headline(headline{
		what: "CPU of a patient imported " + name + ": client, gateway, patient and PostgreSQL", found: duration(whole), budget: "≤ " + duration(budgetImportCost),
		met: verdictOf(whole <= budgetImportCost),
	})
	b.report.atLeast("import "+name+", through the gateway, to COPY on one connection", ratio, 0)
	return nil
}

// importRun is an import, and the id after which its patients come.
type importRun struct {
	imported

	after int64
}

// importFile imports a file and waits until its trail is carried away.
func (b *Bench) importFile(ctx context.Context, path string) (importRun, error) {
	var r importRun
	b.settle(ctx)
	conn, err := b.admin(ctx, b.mesh.Database("patient").MigrateURL)
	if err != nil {
		return r, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	if err := conn.QueryRow(ctx, `SELECT coalesce(max(id), 0) FROM patient`).Scan(&r.after); err != nil {
		return r, err
	}
	before, err := b.parts(mesh.Gateway, "patient", "tenant")
	if err != nil {
		return r, err
	}
	began := time.Now()
	if err := b.sendLines(ctx, path); err != nil {
		return r, err
	}
	r.took = time.Since(began)
	answered, err := b.parts(mesh.Gateway, "patient", "tenant")
	if err != nil {
		return r, err
	}
	b.settle(ctx)
	after, err := b.parts(mesh.Gateway, "patient", "tenant")
	if err != nil {
		return r, err
	}
	spent := func(from, to map[string]time.Duration, name string) time.Duration {
		return (to[name] - from[name]) / importPeople
	}
	r.client, r.gateway = spent(before, answered, "client"), spent(before, answered, mesh.Gateway)
	r.patient, r.postgres = spent(before, answered, "patient"), spent(before, answered, "postgres")
	r.trail = cost{
		ours: spent(before, after, "tenant") + spent(answered, after, "patient"), database: spent(answered, after, "postgres"),
	}
	return r, nil
}

// parts is what each has cost so far: programs of the mesh, the database server, and the client, which is this program.
func (b *Bench) parts(programs ...string) (map[string]time.Duration, error) {
	all := map[string]time.Duration{}
	for _, program := range programs {
		c, err := b.spent(program)
		if err != nil {
			return nil, err
		}
		all[program], all["postgres"] = c.ours, c.database
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return nil, err
	}
	all["client"] = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	return all, nil
}

// sendLines imports a file as the first demo tenant.
func (b *Bench) sendLines(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.mesh.URL()+"/v3/patient/import", bufio.NewReaderSize(file, 1<<16))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+b.key())
	r.Header.Set("Content-Type", "application/x-ndjson")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close() //nolint:errcheck // it was only read
	last := ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		last = lines.Text()
	}
	if want := fmt.Sprintf(`{"created":%d,"failed":0}`, importPeople); resp.StatusCode != http.StatusOK || last != want {
		return fmt.Errorf("the import was answered with %d, and at last %q", resp.StatusCode, last) //nolint:err113 // for whoever runs this
	}
	return nil
}

// importTables are those that an import writes, with the column that names the patient. The trail is left out: COPY has none.
func importTables() map[string]string {
	return map[string]string{
		"patient": "id", "patient_history": "patient_id", "patient_address": "patient_id", "patient_contact": "patient_id",
		"patient_alias": "patient_id", "patient_identifier": "patient_id",
	}
}

// copied puts the rows of an import into their tables once more, for another tenant, as the administrator: COPY is refused to
// whom row-level security binds.
func (b *Bench) copied(ctx context.Context, after int64) (sample, error) {
	conn, err := b.admin(ctx, b.mesh.Database("patient").MigrateURL)
	if err != nil {
		return sample{}, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	tenant, err := uuid.NewV7()
	if err != nil {
		return sample{}, err
	}
	type content struct{ into, rows string }
	var all []content
	for name, id := range importTables() {
		columns, err := columnsOf(ctx, conn, name)
		if err != nil {
			return sample{}, err
		}
		var rows bytes.Buffer
		from := fmt.Sprintf(`COPY (SELECT '%s'::uuid, %s FROM %s WHERE tenant_id = '%s' AND %s IN (SELECT id FROM patient WHERE tenant_id = '%s' AND id > %d ORDER BY id LIMIT %d)
			ORDER BY %s) TO STDOUT`, tenant, columns, name, b.principal().TenantID, id, b.principal().TenantID, after, importPeople, id)
		if _, err := conn.PgConn().CopyTo(ctx, &rows, from); err != nil {
			return sample{}, err
		}
		all = append(all, content{fmt.Sprintf(`COPY %s (tenant_id, %s) FROM STDIN`, name, columns), rows.String()})
	}
	before, err := b.spent()
	if err != nil {
		return sample{}, err
	}
	began := time.Now()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, c := range all {
			if _, err := tx.Conn().PgConn().CopyFrom(ctx, strings.NewReader(c.rows), c.into); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return sample{}, err
	}
	took := time.Since(began)
	spent, err := b.spent()
	return sample{Rate: importPeople / took.Seconds(), Database: spent.minus(before).each(importPeople).database}, err
}

// columnsOf is the columns of a table but the tenant's.
func columnsOf(ctx context.Context, conn *pgx.Conn, name string) (list string, err error) {
	err = conn.QueryRow(ctx, `
		SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
		WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attname <> 'tenant_id'`, name).Scan(&list)
	return list, err
}
