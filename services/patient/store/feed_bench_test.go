package store_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/store"
)

// crowd is a tenant with so many people, each with an address, a telephone number and an e-mail address.
const crowd = 200_000

func populate(b *testing.B) (*patient.Feed, string) {
	b.Helper()
	database := testkit.Postgres(b, store.Migrations())
	db, err := pg.Open(pg.Config{URL: database.URL, MaxConns: 4})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(db.Close)
	admin, err := pgx.Connect(b.Context(), database.AdminURL)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = admin.Close(context.Background()) })
	const tenant = "01997e2c-8d1f-7c3a-9b60-4f1d2a7c5e11"
	for _, statement := range []string{
		`INSERT INTO patient (tenant_id, first_name, middle_name, last_name, prefix, suffix, dob, sex_at_birth, gender, race, ethnicity, gender_identity,
			preferred_language, ssn_last4, version, created_at, updated_at)
		SELECT $1::uuid, 'Firstname' || g % 1000, 'M', 'Lastname' || g % 30000, '', '', date '1940-01-01' + (g % 30000)::integer, 'female', 'Female', 'White',
			'Not Hispanic or Latino', '', 'en', lpad((g % 10000)::text, 4, '0'), 1, now(), now() FROM generate_series(1, $2::bigint) AS g`,
		`INSERT INTO patient_address (tenant_id, patient_id, id, version, created_at, updated_at, line1, line2, city, state, postal_code, country, use)
		SELECT $1::uuid, id, gen_random_uuid(), 1, now(), now(), id % 9999 || ' Main Street', '', 'Springfield', 'IL', '62701', 'US', 'home'
		FROM patient WHERE tenant_id = $1 AND $2::bigint > 0`,
		`INSERT INTO patient_contact (tenant_id, patient_id, id, version, created_at, updated_at, system, value, e164, use)
		SELECT $1::uuid, id, gen_random_uuid(), 1, now(), now(), 'phone', '650-253-' || id % 10000, '+1650253' || id % 10000, 'home'
		FROM patient WHERE tenant_id = $1 AND $2::bigint > 0`,
		`INSERT INTO patient_contact (tenant_id, patient_id, id, version, created_at, updated_at, system, value, e164, use)
		SELECT $1::uuid, id, gen_random_uuid(), 1, now(), now(), 'email', 'person' || id || '@example.org', '', ''
		FROM patient WHERE tenant_id = $1 AND $2::bigint > 0`,
	} {
		if _, err := admin.Exec(b.Context(), statement, tenant, crowd); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := admin.Exec(b.Context(), `VACUUM ANALYZE`); err != nil {
		b.Fatal(err)
	}
	return &patient.Feed{Store: store.New(db, slog.New(slog.DiscardHandler))}, tenant
}

// BenchmarkTheFeed tells a tenant's people from the first to the last, each page as it goes over the wire, and then that
// nothing changed.
func BenchmarkTheFeed(b *testing.B) {
	f, tenant := populate(b)
	b.Run("all", func(b *testing.B) {
		var raw []byte
		size := 0
		for b.Loop() {
			told := 0
			size = 0
			for after, more := int64(0), true; more; {
				page, err := f.Page(program(b.Context()), tenant, nil, after, feed.MostPeople)
				if err != nil {
					b.Fatal(err)
				}
				if raw, err = page.MarshalMsg(raw[:0]); err != nil {
					b.Fatal(err)
				}
				told, size = told+len(page.People), size+len(raw)
				after, more = page.People[len(page.People)-1].ID, page.More
			}
			if told != crowd {
				b.Fatalf("told of %d", told)
			}
		}
		b.ReportMetric(float64(b.N)*crowd/b.Elapsed().Seconds(), "people/s")
		b.ReportMetric(float64(size)/crowd, "B/person")
	})
	b.Run("nothing", func(b *testing.B) {
		first, err := f.Page(program(b.Context()), tenant, nil, 0, 1)
		if err != nil {
			b.Fatal(err)
		}
		position := first.Position
		for b.Loop() {
			if page, err := f.Page(program(b.Context()), tenant, &position, 0, feed.MostPeople); err != nil || len(page.People) != 0 {
				b.Fatal(len(page.People), err)
			}
		}
	})
}
