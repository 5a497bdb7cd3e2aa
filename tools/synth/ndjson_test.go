package synth

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/civil"
)

// Every line is one that the import takes: what a PatientRequestDTO and its children must have, and nothing they have not.
func TestLinesAreWhatTheImportTakes(t *testing.T) {
	var lines, truth bytes.Buffer
	w, err := NewNDJSON(&lines, &truth, 4)
	if err != nil {
		t.Fatal(err)
	}
	whose := map[string]int64{}
	for r := range with(t, Options{Seed: 4, People: 4000, Duplicated: 1, Copies: 2, Intensity: 4, Original: 1, Complete: true}).Records() {
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
		whose[r.Ref(4)] = r.Person
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	n := 0
	for scanner := bufio.NewScanner(&lines); scanner.Scan(); n++ {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			t.Fatal(err)
		}
		checkLine(t, line)
	}
	told := strings.Split(strings.TrimSpace(truth.String()), "\n")
	if n != len(whose) || told[0] != "ref\tperson" || len(told) != n+1 {
		t.Fatalf("%d lines and %d of truth for %d records", n, len(told), len(whose))
	}
	for _, line := range told[1:] {
		ref, person, _ := strings.Cut(line, "\t")
		if id, err := strconv.ParseInt(person, 10, 64); err != nil || whose[ref] != id {
			t.Fatalf("%q is not the truth", line)
		}
	}
}

func checkLine(t *testing.T, line map[string]any) {
	t.Helper()
	members(t, "patient", line, []string{"ref", "firstName", "lastName", "dob"}, []string{
		"middleName", "gender", "race", "ethnicity", "sexAtBirth", "preferredLanguage", "last4Ssn", "addresses", "aliases", "identifiers", "contacts",
	})
	if day, err := civil.Parse(line["dob"].(string)); err != nil || day.After(Today()) {
		t.Errorf("born %v", line["dob"])
	}
	if ssn, ok := line["last4Ssn"]; ok && !regexp.MustCompile(`^\d{4}$`).MatchString(ssn.(string)) {
		t.Errorf("last4Ssn %v", ssn)
	}
	for kind, c := range map[string]struct{ must, may []string }{
		"addresses":   {[]string{"line1", "city", "state", "postalCode"}, []string{"line2", "country", "use"}},
		"aliases":     {[]string{"type", "lastName"}, []string{"firstName"}},
		"identifiers": {[]string{"type", "value"}, []string{"authorityOrganizationId", "authorityOrganizationName", "sourceName"}},
		"contacts":    {[]string{"system", "value"}, []string{"use"}},
	} {
		list, _ := line[kind].([]any)
		for _, child := range list {
			members(t, kind, child.(map[string]any), c.must, c.may)
			if kind == "contacts" {
				checkContact(t, child.(map[string]any))
			}
		}
	}
}

func members(t *testing.T, what string, object map[string]any, must, may []string) {
	t.Helper()
	for name, value := range object {
		if !slices.Contains(must, name) && !slices.Contains(may, name) {
			t.Errorf("%s has %s", what, name)
		}
		if text, ok := value.(string); ok && (strings.TrimSpace(text) == "" || text != strings.TrimSpace(text) || len(text) > 200) {
			t.Errorf("%s: %s is %q", what, name, text)
		}
	}
	for _, name := range must {
		if object[name] == nil {
			t.Errorf("%s lacks %s", what, name)
		}
	}
}

func checkContact(t *testing.T, contact map[string]any) {
	t.Helper()
	value := contact["value"].(string)
	switch contact["system"] {
	case "phone":
		if !diallable(value) {
			t.Errorf("nobody can dial %s", value)
		}
	case "email":
		if a, err := mail.ParseAddress(value); err != nil || a.Address != value || !strings.Contains(value, ".") {
			t.Errorf("%s is no address: %v", value, err)
		}
	default:
		t.Errorf("contact by %v", contact["system"])
	}
}

func TestCSVHasTheTruth(t *testing.T) {
	var out bytes.Buffer
	w, err := NewCSV(&out, 42)
	if err != nil {
		t.Fatal(err)
	}
	records := collect(with(t, busy()).Records())
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil || len(rows) != len(records)+1 {
		t.Fatalf("%d rows of %d records: %v", len(rows), len(records), err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	for i, r := range records {
		row := rows[i+1]
		for name, want := range map[string]string{
			"ref": r.Ref(42), "person": strconv.FormatInt(r.Person, 10), "copy": strconv.Itoa(r.Copy), "firstName": r.FirstName, "lastName": r.LastName,
			"suffix": r.Suffix, "dob": r.DOB, "phone": r.value(phone), "email": r.value(email), "postalCode": r.value(postalCode),
			"mrn": r.Identifiers[0].Value, "errors": strings.Join(r.Errors, " "), "events": strings.Join(r.Events, " "),
		} {
			if row[column(name)] != want {
				t.Fatalf("%s is %q, want %q", name, row[column(name)], want)
			}
		}
	}
}
