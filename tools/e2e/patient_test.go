package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The cases of this file are named after the rules of the v3 interface that they prove.

const (
	ok       = http.StatusOK
	bad      = http.StatusBadRequest
	missing  = http.StatusNotFound
	patients = "/v3/patient"
)

// ana is a body that breaks no rule.
func ana() map[string]any {
	return map[string]any{"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29"}
}

// but is ana with members changed; a nil value is sent as null, drop leaves one out.
func but(changes map[string]any) map[string]any {
	body := ana()
	maps.Copy(body, changes)
	for name, value := range body {
		if value == drop {
			delete(body, name)
		}
	}
	return body
}

type omitted struct{}

var drop any = omitted{}

// shown is a record as v3 answers it.
type shown struct {
	ID                                   int64 `json:"id"`
	FirstName, LastName, DOB, MiddleName string
	Gender, Race, Ethnicity, SexAtBirth  string
	GenderIdentity, PreferredLanguage    string
	Last4SSN                             string `json:"last4Ssn"`
	Deceased                             bool
}

// stored creates a patient and gives its path and its record.
func stored(c *client, body map[string]any) (string, shown) {
	c.t.Helper()
	var p shown
	c.post(patients, body).is(ok).into(&p)
	return path(p.ID), p
}

func path(id int64) string { return patients + "/" + strconv.FormatInt(id, 10) }

func TestCreateAnswers200WithEveryFieldAndNoNull(t *testing.T) {
	a := owner(t).post(patients, ana()).is(ok)
	got := a.object()
	id, isNumber := got["id"].(float64)
	if !isNumber || id < 1 || id >= 1<<53 || id != float64(int64(id)) {
		t.Errorf("id %v is no integer from 1 below 2^53", got["id"])
	}
	delete(got, "id")
	want := map[string]any{
		"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "middleName": "", "gender": "Unknown", "race": "Unknown",
		"ethnicity": "Unknown", "sexAtBirth": "Unknown", "genderIdentity": "", "preferredLanguage": "", "last4Ssn": "", "deceased": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a.header.Get("Location") != path(int64(id)) {
		t.Errorf("Location %q", a.header.Get("Location"))
	}
	a.etag()
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Trace-Id") == "" {
		t.Errorf("headers: %v", a.header)
	}
}

func TestEveryCreateMakesANewPatient(t *testing.T) {
	c := owner(t)
	_, first := stored(c, ana())
	_, second := stored(c, ana())
	if second.ID <= first.ID || second.ID == first.ID+1 {
		t.Errorf("ids %d and %d must differ, grow and not be consecutive", first.ID, second.ID)
	}
}

func TestCreateTakesEveryField(t *testing.T) {
	c := owner(t)
	body := map[string]any{
		"firstName": "  Zoë ", "lastName": "O'Brien-Świątek", "dob": "1800-01-01", "middleName": "李", "gender": "non-BINARY",
		"race": "asian", "ethnicity": "NOT hispanic or latino", "sexAtBirth": "INTERSEX", "genderIdentity": "عابر", "preferredLanguage": "pt-BR",
		"last4Ssn": "0042", "deceased": false, "unknownMember": map[string]any{"a": 1},
	}
	path, created := stored(c, body)
	want := shown{
		ID: created.ID, FirstName: "Zoë", LastName: "O'Brien-Świątek", DOB: "1800-01-01", MiddleName: "李", Gender: "Non-binary", Race: "Asian",
		Ethnicity: "Not Hispanic or Latino", SexAtBirth: "intersex", GenderIdentity: "عابر", PreferredLanguage: "pt-BR", Last4SSN: "***-**-0042",
	}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Error(diff)
	}
	var read shown
	c.get(path).is(ok).into(&read)
	if diff := cmp.Diff(created, read); diff != "" {
		t.Error(diff)
	}
}

func TestTextIsTrimmedAndNormalised(t *testing.T) {
	_, p := stored(owner(t), but(map[string]any{"firstName": "\u2003Zoe\u0308\u00a0", "lastName": strings.Repeat("👩🏽‍⚕", 50)}))
	if p.FirstName != "Zo\u00eb" {
		t.Errorf("first name %q is not trimmed and in NFC", p.FirstName)
	}
}

func TestRefusedBodies(t *testing.T) {
	long := strings.Repeat("é", 201)
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	tests := []struct {
		rule string
		body map[string]any
		want []string
	}{
		{"required fields missing", map[string]any{}, []string{"firstName required", "lastName required", "dob required"}},
		{"null is the same as omitted on create", but(map[string]any{"firstName": nil, "gender": nil}), []string{"firstName required"}},
		{"blank or n/a names", but(map[string]any{"firstName": " \t ", "lastName": "N/a"}), []string{"firstName blank", "lastName blank"}},
		{"names of 200 code points at most", but(map[string]any{"firstName": long, "middleName": long, "lastName": long}), []string{"firstName too_long", "lastName too_long", "middleName too_long"}},
		{"other text of 500 at most", but(map[string]any{"genderIdentity": strings.Repeat("x", 501), "preferredLanguage": strings.Repeat("x", 501)}), []string{"genderIdentity too_long", "preferredLanguage too_long"}},
		{"blank coded values are of no list", but(map[string]any{"gender": "", "race": " ", "ethnicity": "", "sexAtBirth": ""}), []string{"ethnicity invalid_value", "gender invalid_value", "race invalid_value", "sexAtBirth invalid_value"}},
		{"last4Ssn of four digits: none", but(map[string]any{"last4Ssn": ""}), []string{"last4Ssn invalid_last4"}},
		{"names that show nothing are blank", but(map[string]any{"firstName": "\u200b\u2060", "lastName": "\u00ad"}), []string{"firstName blank", "lastName blank"}},
		{"no control characters", but(map[string]any{"firstName": "A\u0000na", "lastName": "Li\nma"}), []string{"firstName control_character", "lastName control_character"}},
		{"dob has its format", but(map[string]any{"dob": "29.02.1980"}), []string{"dob invalid_date"}},
		{"dob is a real date", but(map[string]any{"dob": "1981-02-29"}), []string{"dob invalid_date"}},
		{"dob in 1800 or later", but(map[string]any{"dob": "1799-12-31"}), []string{"dob invalid_date"}},
		{"dob not in the future", but(map[string]any{"dob": tomorrow}), []string{"dob in_future"}},
		{"dob of a wrong type", but(map[string]any{"dob": 19800229}), []string{"dob invalid_type"}},
		{"gender of its list", but(map[string]any{"gender": "Femail"}), []string{"gender invalid_value"}},
		{"race of its list", but(map[string]any{"race": "Human"}), []string{"race invalid_value"}},
		{"ethnicity of its list", but(map[string]any{"ethnicity": "None"}), []string{"ethnicity invalid_value"}},
		{"sexAtBirth of its list", but(map[string]any{"sexAtBirth": "F"}), []string{"sexAtBirth invalid_value"}},
		{"last4Ssn of four digits: three", but(map[string]any{"last4Ssn": "123"}), []string{"last4Ssn invalid_last4"}},
		{"last4Ssn of four digits: nine", but(map[string]any{"last4Ssn": "123-45-6789"}), []string{"last4Ssn invalid_last4"}},
		{"last4Ssn of four digits: letters", but(map[string]any{"last4Ssn": "12a4"}), []string{"last4Ssn invalid_last4"}},
		{"last4Ssn of four digits: a number", but(map[string]any{"last4Ssn": 1234}), []string{"last4Ssn invalid_type"}},
		{"deceased cannot be set", but(map[string]any{"deceased": true}), []string{"deceased read_only"}},
		{
			"wrong types are faults among the others",
			map[string]any{"firstName": 7, "lastName": []any{"x"}, "dob": true, "gender": map[string]any{}, "deceased": "no"},
			[]string{"deceased invalid_type", "dob invalid_type", "firstName invalid_type", "gender invalid_type", "lastName invalid_type"},
		},
	}
	c := owner(t)
	var before, after list
	c.get(patients + "?size=1").is(ok).into(&before)
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			got := owner(t).post(patients, test.body).faults()
			slices.Sort(got)
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	c.get(patients + "?size=1").is(ok).into(&after)
	if before.TotalElements != after.TotalElements {
		t.Errorf("refused bodies stored %d patients", after.TotalElements-before.TotalElements)
	}
}

func TestCreateTakesNAForNotGiven(t *testing.T) {
	_, p := stored(owner(t), but(map[string]any{
		"middleName": "n/a", "gender": "N/A", "race": "n/a", "ethnicity": "n/a", "sexAtBirth": "n/a", "genderIdentity": "n/a",
		"preferredLanguage": "n/a", "last4Ssn": "n/a",
	}))
	want := shown{ID: p.ID, FirstName: "Ana", LastName: "Lima", DOB: "1980-02-29", Gender: "Unknown", Race: "Unknown", Ethnicity: "Unknown", SexAtBirth: "Unknown"}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestReadIsIdempotent(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	first, second := c.get(path).is(ok), c.get(path).is(ok)
	if string(first.raw) != string(second.raw) || first.etag() != second.etag() {
		t.Error("two reads differ")
	}
}

func TestIDsThatAreNone(t *testing.T) {
	for _, id := range []string{"0", "-1", "1", "abc", "9223372036854775808", "9007199254740992", "1.0", "01", "%20", "1e3", "null", "00000000-0000-0000-0000-000000000000", "1%2F2"} {
		c := owner(t)
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if got := c.do(method, patients+"/"+id, nil); got.status != missing {
				t.Errorf("%s of id %q answered %d", method, id, got.status)
			}
		}
		c.patch(patients+"/"+id, map[string]any{}).is(missing)
	}
}

// nextOf is the path of the Link to the next page.
func TestValueSets(t *testing.T) {
	got := owner(t).get(patients + "/value-sets").is(ok).object()
	for set, size := range map[string]int{"gender": 8, "race": 10, "ethnicity": 4, "sexAtBirth": 5} {
		values, _ := got[set].([]any)
		if len(values) != size || values[size-1] != "Unknown" {
			t.Errorf("%s: %v", set, values)
		}
		for _, value := range values {
			body := but(map[string]any{set: strings.ToUpper(fmt.Sprint(value))})
			if back := owner(t).post(patients, body).is(ok).object()[set]; back != value {
				t.Errorf("%s: %v came back as %v", set, value, back)
			}
		}
	}
}
