package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/store"
)

const (
	first  = "01900000-0000-7000-8000-000000000101"
	second = "01900000-0000-7000-8000-000000000102"
)

func accept(t *testing.T, s *store.Store, id, agreement string) *tenant.AgreementStatus {
	t.Helper()
	status, err := s.Accept(t.Context(), id, agreement, tenant.Acceptance{
		CredentialKind: principal.APIKey, CredentialID: "key", AcceptedAt: time.Now().UTC().Truncate(time.Millisecond),
	}, entry(id, tenant.AgreementAccept))
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func accepted(t *testing.T, s *store.Store, id string) bool {
	t.Helper()
	found, err := s.Read(t.Context(), id)
	if err != nil || found == nil {
		t.Fatalf("%+v, %v", found, err)
	}
	places, err := s.ListPlaces(t.Context(), user, "demo")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range places {
		if p.Tenant.ID == id && (p.Tenant.AgreementAcceptedAt == nil) != (found.AgreementAcceptedAt == nil) {
			t.Errorf("the tenant reads %v, its member's place %v", found.AgreementAcceptedAt, p.Tenant.AgreementAcceptedAt)
		}
	}
	return found.AgreementAcceptedAt != nil
}

func TestTheAgreementInEffectIsWhole(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	a, err := s.Agreement(t.Context())
	if err != nil || a == nil || a.ID != first || a.Version != 1 || a.Title == "" {
		t.Fatalf("%+v, %v", a, err)
	}
	if n := len(strings.Fields(a.Text)); n < 600 || n > 900 {
		t.Errorf("the text has %d words", n)
	}
}

func TestANewVersionIsToBeAcceptedAnew(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	put(t, s, one, user, owner)
	put(t, s, two, user, owner)
	if accepted(t, s, one) {
		t.Fatal("accepted before anybody did")
	}
	before := len(effects(t, database))
	status := accept(t, s, one, first)
	if status.Acceptance == nil || status.AgreementID != first || !accepted(t, s, one) || accepted(t, s, two) {
		t.Errorf("accepted: %+v", status)
	}
	if list := effects(t, database)[before:]; len(list) != 1 || list[0]["tenant"] != one {
		t.Errorf("effects %v", list)
	}
	again := accept(t, s, one, first)
	if !again.Acceptance.AcceptedAt.Equal(status.Acceptance.AcceptedAt) {
		t.Error("the first acceptance did not stand")
	}
	conn := connect(t, database.AdminURL)
	const insert = `INSERT INTO agreement (id, version, title, text, effective_at) VALUES ($1, 2, 'New', 'text', now() + interval '1 day')`
	if _, err := conn.Exec(t.Context(), insert, second); err != nil {
		t.Fatal(err)
	}
	if status := accept(t, s, two, second); status.Acceptance != nil || accepted(t, s, two) {
		t.Error("a version that is not in effect yet was accepted")
	}
	if !accepted(t, s, one) {
		t.Error("a version that is not in effect yet took the acceptance away")
	}
	if _, err := conn.Exec(t.Context(), `UPDATE agreement SET effective_at = now() WHERE id = $1`, second); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Agreement(t.Context()); err != nil || a.ID != second {
		t.Errorf("in effect is %+v, %v", a, err)
	}
	if status, err := s.AgreementStatus(t.Context(), one); err != nil || status.Acceptance != nil || status.Version != 2 || accepted(t, s, one) {
		t.Errorf("the old acceptance holds for the new version: %+v, %v", status, err)
	}
	if status := accept(t, s, one, first); status.Acceptance != nil {
		t.Error("an old version was accepted")
	}
	if status := accept(t, s, one, second); status.Acceptance == nil || !accepted(t, s, one) {
		t.Errorf("accepted anew: %+v", status)
	}
}

// The queries of this test forget the tenant on purpose.
func TestAcceptancesOfAnotherTenant(t *testing.T) {
	t.Parallel()
	s, database := open(t)
	create(t, s, one, "Harbour")
	create(t, s, two, "Hillside")
	put(t, s, one, user, owner)
	accept(t, s, one, first)
	accept(t, s, two, first)
	conn := connect(t, database.URL)
	try := func(setting, value, statement string) (int64, error) {
		var rows int64
		err := pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `SELECT set_config($1, $2, true)`, setting, value); err != nil {
				return err
			}
			tag, err := tx.Exec(t.Context(), statement)
			rows = tag.RowsAffected()
			return err
		})
		return rows, err
	}
	const all = `SELECT FROM agreement_acceptance`
	for _, c := range [][2]string{{"app.tenant_id", one}, {"app.tenant_id", two}, {"app.user_id", user}} {
		if n, err := try(c[0], c[1], all); err != nil || n != 1 {
			t.Errorf("as %v: %d rows, %v", c, n, err)
		}
	}
	if n, err := try("app.user_id", another, all); err != nil || n != 0 {
		t.Errorf("as a stranger: %d rows, %v", n, err)
	}
	for _, statement := range []string{
		`INSERT INTO agreement_acceptance SELECT '` + two + `', '` + first + `', NULL, 'x', 'x', now()`,
		`UPDATE agreement_acceptance SET accepted_at = now()`,
		`DELETE FROM agreement_acceptance`,
		`UPDATE agreement SET text = ''`,
		`INSERT INTO agreement VALUES ('` + second + `', 2, '', '', now())`,
	} {
		if _, err := try("app.tenant_id", one, statement); err == nil {
			t.Errorf("the service may %s", slices.Collect(strings.FieldsSeq(statement))[:3])
		}
	}
}
