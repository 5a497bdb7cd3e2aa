package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
)

const (
	shortList = 1000
	pageSize  = 50
	// budgetList is how much slower than the first page of a short list a page by cursor may be, at any depth and length:
	// as fast, with room for what one run differs from the next.
	budgetList = 1.25
)

// people of a tenant are put into the database directly, as the owner of its tables.
const people = `
	INSERT INTO patient (tenant_id, first_name, middle_name, last_name, prefix, suffix, dob, sex_at_birth, gender, race, ethnicity,
		gender_identity, preferred_language, ssn_last4, version, created_at, updated_at)
	SELECT $1, 'Ingeborg', 'T', 'Brightwater' || n, '', '', date '1940-01-01' + (n % 25000)::int, 'female', 'Female', 'Declined', 'Declined',
		'', 'en', to_char(n % 10000, 'FM0000'), 1, now(), now()
	FROM generate_series(1, $2::bigint) n`

// list measures GET /v3/patient of a short tenant and of a long one, one request at a time: it is latency that depth
// would cost.
func (b *Bench) list(ctx context.Context) error {
	var subjects []subject
	for _, length := range []int{shortList, b.options.Patients} {
		tenant, err := b.fill(ctx, length)
		if err != nil {
			return err
		}
		cursor, err := b.deepCursor(ctx, tenant, length)
		if err != nil {
			return err
		}
		for _, way := range []struct{ name, query string }{
			{"first page", ""},
			{"by cursor, at the end", "?size=50&after=" + url.QueryEscape(cursor)},
			{"by page number, at the end", "?page=" + strconv.Itoa(length/pageSize-1)},
		} {
			plan := b.direct(traffic.Plan{Method: http.MethodGet, Targets: []string{"/v3/patient" + way.query}, Connections: 1})
			plan.Sign.Principal = b.of(tenant)
			subjects = append(subjects, b.asking(fmt.Sprintf("%d patients, %s", length, way.name), plan))
		}
	}
	found, err := b.interleave(ctx, "list", subjects)
	if err != nil {
		return err
	}
	first := found[subjects[0].name]
	full := table{
		title:  "v3 list of 50, by the patient service alone, one request at a time",
		header: []string{"What", "p50 to the first page of the short list", "Rate", "p50", "p99"},
	}
	for i, s := range subjects {
		f := found[s.name]
		slower := float64(f.P50) / float64(max(first.P50, 1))
		full.rows = append(full.rows, append([]string{s.name, fmt.Sprintf("%.2f×", slower)}, figures(f)...))
		if i == 3 || i == 4 { // the long list's first page and cursor
			b.report.headline(headline{
				what: "time of a list, " + s.name + ", to " + subjects[0].name, found: fmt.Sprintf("%.2f×", slower),
				budget: fmt.Sprintf("≤ %.2f×", budgetList), met: verdictOf(slower <= budgetList),
			})
		}
	}
	b.report.table(full)
	return nil
}

// of is the principal of a tenant that exists in the patient service's database only.
func (b *Bench) of(tenant string) principal.Principal {
	p := b.principal()
	p.TenantID = tenant
	return p
}

// fill makes a tenant with so many patients.
func (b *Bench) fill(ctx context.Context, length int) (tenant string, err error) {
	b.say(fmt.Sprintf("putting %d patients into the database", length))
	id, err := uuid.NewV7()
	if err != nil {
		return "", err
	}
	tenant = id.String()
	conn, err := pgx.Connect(ctx, b.mesh.Database("patient").MigrateURL)
	if err != nil {
		return "", err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing is left to lose
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		_, setErr := tx.Exec(ctx, `SELECT set_config('app.tenant_id', $1, true)`, tenant) // binds the owner too
		_, peopleErr := tx.Exec(ctx, people, tenant, length)
		_, countErr := tx.Exec(ctx, `INSERT INTO patient_count (tenant_id, delta) VALUES ($1, $2)`, tenant, length)
		return errors.Join(setErr, peopleErr, countErr)
	})
	if err != nil {
		return "", err
	}
	// Autovacuum would do it within a minute: the list reads ids from the index alone where pages are known to be visible.
	_, err = conn.Exec(ctx, `VACUUM ANALYZE patient`)
	return tenant, err
}

// deepCursor is the cursor to the last page but a few, as the interface gives it.
func (b *Bench) deepCursor(ctx context.Context, tenant string, length int) (string, error) {
	keys, err := principal.ParseKeyring(b.mesh.MeshKey())
	if err != nil {
		return "", err
	}
	target := "/v3/patient?page=" + strconv.Itoa(length/pageSize-2)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+b.mesh.Address("patient")+target, nil)
	if err != nil {
		return "", err
	}
	request.Header.Set(principal.AssertionHeader, keys.Sign(principal.Encode(b.of(tenant)), http.MethodGet, target, time.Now()))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var page struct{ TotalElements int }
	if err := json.NewDecoder(response.Body).Decode(&page); err != nil || page.TotalElements != length {
		return "", fmt.Errorf("the list has %d of %d patients (%s): %w", page.TotalElements, length, response.Status, err)
	}
	link, _, _ := strings.Cut(strings.TrimPrefix(response.Header.Get("Link"), "<"), ">")
	next, err := url.Parse(link)
	if err != nil || next.Query().Get("after") == "" {
		return "", errors.New("the list has no link to its next page")
	}
	return next.Query().Get("after"), nil
}
