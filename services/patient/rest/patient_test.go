package rest_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const anaV2 = `{"firstName":"Ana","lastName":"Lima","dob":"1980-02-29","sex_at_birth":"Female"}`

// shownV2 is Ana as v2 shows her, with an id.
func shownV2(id string) string {
	return `{"patientId":"` + id + `","firstName":"Ana","middleName":"","lastName":"Lima","prefix":"","suffix":"","dob":"1980-02-29","sex_at_birth":"female",` +
		`"gender":"Unknown","race":"Unknown","ethnicity":"Unknown","genderIdentity":"","preferredLanguage":"","last4Ssn":"","deceased":false,` +
		`"createdAt":"2026-03-14T09:26:53.589Z","updatedAt":"2026-03-14T09:26:53.589Z","version":1}`
}

func TestCreateInV2(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := s.post("/v2/patient", anaV2).is(http.StatusCreated)
	if a.body != shownV2("524288130") || a.header.Get("Location") != "/v2/patient/524288130" {
		t.Errorf("made %s at %s", a.body, a.header.Get("Location"))
	}
	if diff := cmp.Diff(trail{"patient.create success 524288130"}, *s.trail); diff != "" {
		t.Error(diff)
	}
}

func TestCreateInV2TakesEveryField(t *testing.T) {
	t.Parallel()
	s := serve(t)
	a := s.post("/v2/patient", `{"firstName":"Ana","lastName":"Lima","dob":"1980-02-29","sex_at_birth":"INTERSEX","middleName":"Maria","prefix":"Dr.","suffix":"Jr.",`+
		`"gender":"female","race":"asian","ethnicity":"declined","genderIdentity":"woman","preferredLanguage":"pt-BR","last4Ssn":"6789","deceased":false,"sexAtBirth":7}`).is(http.StatusCreated)
	want := `{"patientId":"524288130","firstName":"Ana","middleName":"Maria","lastName":"Lima","prefix":"Dr.","suffix":"Jr.","dob":"1980-02-29","sex_at_birth":"intersex",` +
		`"gender":"Female","race":"Asian","ethnicity":"Declined","genderIdentity":"woman","preferredLanguage":"pt-BR","last4Ssn":"***-**-6789","deceased":false,` +
		`"createdAt":"2026-03-14T09:26:53.589Z","updatedAt":"2026-03-14T09:26:53.589Z","version":1}`
	if a.body != want {
		t.Errorf("shown\n%s\nwant\n%s", a.body, want)
	}
	if s.ward.kept.Prefix != "Dr." || s.ward.kept.Suffix != "Jr." || s.ward.kept.SSNLast4 != "6789" {
		t.Errorf("kept %+v", s.ward.kept)
	}
	for _, sex := range []string{"female", "MALE", "Other", "unknown", "Unknown"} {
		body := strings.Replace(anaV2, "Female", sex, 1)
		if got := serve(t).post("/v2/patient", body).is(http.StatusCreated).object()["sex_at_birth"]; got != strings.ToLower(sex) {
			t.Errorf("%s is shown as %v", sex, got)
		}
	}
}

// v3 takes what it shows: a prefix is nothing to it.
func TestPrefixAndSuffixAreV2s(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.post("/v3/patient", `{"firstName":"Ana","lastName":"Lima","dob":"1980-02-29","prefix":"Dr.","suffix":7,"sex_at_birth":7}`).is(http.StatusOK)
	if s.ward.kept.Prefix != "" {
		t.Errorf("kept %+v", s.ward.kept)
	}
}

func TestFaultsOfV2Patients(t *testing.T) {
	t.Parallel()
	but := func(old, changed string) string { return strings.Replace(anaV2, old, changed, 1) }
	for rule, c := range map[string]struct {
		body string
		want []string
	}{
		"four members are required": {`{}`, []string{"sex_at_birth required", "firstName required", "lastName required", "dob required"}},
		"null is not given":         {but(`"Female"`, `null`), []string{"sex_at_birth required"}},
		"v3's name is nothing":      {but(`sex_at_birth`, `sexAtBirth`), []string{"sex_at_birth required"}},
		"nobody's sex is n/a":       {but(`Female`, `N/A`), []string{"sex_at_birth blank"}},
		"nor blank":                 {but(`Female`, ` `), []string{"sex_at_birth blank"}},
		"nor of no list":            {but(`Female`, `F`), []string{"sex_at_birth invalid_value"}},
		"nor a number":              {but(`"Female"`, `1`), []string{"sex_at_birth invalid_type"}},
		"names of 200":              {but(`"Ana"`, `"Ana","prefix":"`+strings.Repeat("x", 201)+`","suffix":"`+strings.Repeat("x", 201)+`"`), []string{"prefix too_long", "suffix too_long"}},
		"a dob in the future":       {but(`1980-02-29`, `2999-01-01`), []string{"dob in_future"}},
		"all at once, types and rules": {
			`{"firstName":7,"lastName":"n/a","dob":"1980-02-30","sex_at_birth":"x","gender":"x","race":7,"last4Ssn":"123456789","deceased":true,"prefix":{}}`,
			[]string{
				"firstName invalid_type", "race invalid_type", "prefix invalid_type", "lastName blank", "dob invalid_date", "gender invalid_value",
				"sex_at_birth invalid_value", "last4Ssn invalid_last4", "deceased read_only",
			},
		},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			a := s.post("/v2/patient", c.body)
			if diff := cmp.Diff(c.want, a.faults()); diff != "" {
				t.Errorf("%s: %s", a.body, diff)
			}
			if strings.Contains(a.body, "123456789") || strings.Contains(a.body, "sexAtBirth") {
				t.Errorf("the answer tells what it should not: %s", a.body)
			}
			a = s.do(http.MethodPost, "/v2/patient", c.body, headers{"Idempotency-Key": "é"})
			if diff := cmp.Diff(append(slices.Clone(c.want), "Idempotency-Key invalid_key"), a.faults()); diff != "" {
				t.Error(diff)
			}
			if s.ward.last != 524288123 || len(*s.trail) != 0 {
				t.Error("it was stored")
			}
		})
	}
	s := serve(t)
	s.may(principal.All&^principal.PatientWrite).post("/v2/patient", `{}`).refused(http.StatusForbidden, "permission_denied")
	s.post("/v2/patient", `[]`).refused(http.StatusBadRequest, "not_an_object")
	s.do(http.MethodPost, "/v2/patient", anaV2, headers{"Content-Type": "text/plain"}).is(http.StatusUnsupportedMediaType)
}

func TestAKeyOfV2(t *testing.T) {
	t.Parallel()
	s := serve(t)
	key := headers{"Idempotency-Key": "k"}
	first := s.do(http.MethodPost, "/v2/patient", anaV2, key).is(http.StatusCreated)
	s.post("/v2/patient", anaV2).is(http.StatusCreated)
	*s.clock = s.clock.AddDate(0, 0, 1)
	again := s.do(http.MethodPost, "/v2/patient", anaV2, key).is(http.StatusCreated)
	if again.body != first.body || again.body != shownV2("524288130") || again.header.Get("Location") != first.header.Get("Location") {
		t.Errorf("again %s at %s", again.body, again.header.Get("Location"))
	}
	if first.header.Get("Idempotent-Replayed") != "" || again.header.Get("Idempotent-Replayed") != "true" {
		t.Error("Idempotent-Replayed must stand on the repeat alone")
	}
	s.do(http.MethodPost, "/v2/patient", strings.Replace(anaV2, "Ana", "Eva", 1), key).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
	s.do(http.MethodPost, "/v3/patient", anaV2, key).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
}
