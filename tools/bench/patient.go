package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// person is whom all creates create: invented, and of usual length.
const person = `{"firstName":"Ingeborg","middleName":"T","lastName":"Brightwater","dob":"1971-03-05","gender":"Female",` +
	`"race":"Declined","ethnicity":"Declined","sexAtBirth":"female","preferredLanguage":"en","last4Ssn":"0101"}`

const (
	budgetCreate = 1.0 // of pgbench's rate
	budgetRead   = 0.5
)

// concurrencies are the numbers of connections that writes and reads are measured with.
func concurrencies() []int { return []int{32, 8} }

// create compares POST /v3/patient with pgbench sending the same statements.
func (b *Bench) create(ctx context.Context) error {
	plan := traffic.Plan{Method: http.MethodPost, Targets: []string{"/v3/patient"}, Body: person}
	statements, err := b.watched(ctx, func() error { _, err := b.newPatient(ctx); return err })
	if err != nil {
		b.report.note("create: without pgbench, since " + err.Error() + ".")
	}
	text, variables := script(statements)
	return b.compare(ctx, comparison{
		verb: "create", title: "v3 create against pgbench running the service's own statements, fsync on", plan: plan, budget: budgetCreate,
		theirs: []rival{{name: "pgbench", script: text, variables: variables}}, without: len(statements) == 0,
	})
}

// read compares GET /v3/patient/{id} with pgbench reading the same row.
func (b *Bench) read(ctx context.Context) error {
	id, err := b.newPatient(ctx)
	if err != nil {
		return err
	}
	target := "/v3/patient/" + strconv.FormatInt(id, 10)
	plan := traffic.Plan{Method: http.MethodGet, Targets: []string{target}}
	statements, err := b.watched(ctx, func() error { return b.get(ctx, target) })
	if err != nil {
		b.report.note("read: without pgbench, since " + err.Error() + ".")
	}
	text, variables := script(statements)
	rivals := []rival{{name: "pgbench", script: text, variables: variables}}
	if len(statements) > 0 {
		// The row's SELECT alone: the tenant is the session's then, and no statement of its own.
		line, own := scriptLine(statements[len(statements)-1], 0)
		rivals = append(rivals, rival{
			name: "pgbench, one statement", script: line + "\n", variables: own, options: "-c app.tenant_id=" + b.principal().TenantID,
		})
	}
	return b.compare(ctx, comparison{
		verb: "read", title: "v3 read against pgbench selecting the same row", plan: plan, budget: budgetRead,
		theirs: rivals, without: len(statements) == 0,
	})
}

// comparison is the patient service, alone and through the gateway, beside pgbench.
type comparison struct {
	verb, title string
	plan        traffic.Plan
	theirs      []rival
	without     bool // nothing to compare with
	budget      float64
}

type rival struct {
	name, script, options string
	variables             []string
}

func (b *Bench) compare(ctx context.Context, c comparison) error {
	full := table{title: c.title, header: []string{"Connections", "Who", "Ratio to pgbench", "Rate", "Our programs' CPU a request", "PostgreSQL's", "p50", "p99"}}
	for _, clients := range concurrencies() {
		plan := c.plan
		plan.Connections = clients
		subjects := []subject{b.asking("service alone", b.direct(plan), "patient", "tenant")}
		if !c.without {
			for i, r := range c.theirs {
				p, err := b.newPgbench(fmt.Sprintf("%s-%d", c.verb, i), r.script, r.variables, r.options)
				if err != nil {
					b.report.note(c.verb + ": without pgbench, since " + err.Error() + ".")
					break
				}
				subjects = append(subjects, p.subject(b, r.name, clients))
			}
		}
		subjects = append(subjects, b.asking("through the gateway", b.through(plan), mesh.Gateway, "patient", "tenant"))
		found, err := b.interleave(ctx, fmt.Sprintf("%s, %d connections", c.verb, clients), subjects)
		if err != nil {
			return err
		}
		base := found[c.theirs[0].name].Rate
		for _, s := range subjects {
			ratio := "–"
			if base > 0 {
				ratio = fmt.Sprintf("%.2f×", found[s.name].Rate/base)
			}
			f := found[s.name]
			full.rows = append(full.rows, []string{strconv.Itoa(clients), s.name, ratio, rate(f.Rate), duration(f.CPU), duration(f.Database), duration(f.P50), duration(f.P99)})
		}
		if base > 0 {
			what := fmt.Sprintf("v3 %s, %%s, to pgbench, %d connections", c.verb, clients)
			b.report.atLeast(fmt.Sprintf(what, "service alone"), found["service alone"].Rate/base, c.budget)
			b.report.atLeast(fmt.Sprintf(what, "through the gateway"), found["through the gateway"].Rate/base, c.budget)
		}
	}
	b.report.table(full)
	return nil
}

// newPatient creates one through the gateway and gives its id.
func (b *Bench) newPatient(ctx context.Context) (int64, error) {
	var created struct {
		ID int64 `json:"id"`
	}
	err := b.call(ctx, http.MethodPost, "/v3/patient", person, &created)
	return created.ID, err
}

func (b *Bench) get(ctx context.Context, target string) error {
	return b.call(ctx, http.MethodGet, target, "", &struct{}{})
}

func (b *Bench) call(ctx context.Context, method, target, body string, into any) error {
	request, err := http.NewRequestWithContext(ctx, method, b.mesh.URL()+target, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+b.mesh.Demo().Tenants[0].APIKey)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("%s %s: %s", method, target, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
