package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
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

type list struct {
	Content       []shown
	Page, Size    int
	TotalElements int64
}

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

func TestUpdateAppliesOnlyWhatIsPresentAndNotNull(t *testing.T) {
	c := owner(t)
	path, before := stored(c, but(map[string]any{
		"middleName": "Maria", "gender": "Female", "race": "White", "ethnicity": "Declined", "sexAtBirth": "female",
		"genderIdentity": "woman", "preferredLanguage": "pt", "last4Ssn": "6789",
	}))
	var after shown
	c.patch(path, map[string]any{"firstName": nil, "middleName": nil, "gender": nil, "last4Ssn": nil, "dob": nil, "lastName": "Reis"}).is(ok).into(&after)
	want := before
	want.LastName = "Reis"
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
	c.patch(path, map[string]any{}).is(ok).into(&after)
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateClears(t *testing.T) {
	c := owner(t)
	full := but(map[string]any{
		"middleName": "Maria", "gender": "Female", "race": "White", "ethnicity": "Declined", "sexAtBirth": "female",
		"genderIdentity": "woman", "preferredLanguage": "pt", "last4Ssn": "6789",
	})
	for name, cleared := range map[string]struct {
		value string
		want  string
	}{
		"middleName": {"n/a", ""}, "genderIdentity": {"N/A", ""}, "preferredLanguage": {"n/a", ""},
		"gender": {"n/a", "Unknown"}, "race": {"Unknown", "Unknown"}, "ethnicity": {"unknown", "Unknown"}, "sexAtBirth": {"n/a", "Unknown"},
	} {
		path, _ := stored(c, full)
		if got := c.patch(path, map[string]any{name: cleared.value}).is(ok).object()[name]; got != cleared.want {
			t.Errorf("%s: %q gave %q, want %q", name, cleared.value, got, cleared.want)
		}
	}
	path, before := stored(c, full)
	for name, fault := range map[string]string{"firstName": "blank", "lastName": "blank", "dob": "blank", "last4Ssn": "invalid_last4"} {
		for _, value := range []string{"n/a", ""} {
			if got := c.patch(path, map[string]any{name: value}).faults(); !slices.Equal(got, []string{name + " " + fault}) {
				t.Errorf("%s cannot be cleared by %q: %v", name, value, got)
			}
		}
	}
	var after shown
	c.get(path).into(&after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateRefuses(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	got := c.patch(path, map[string]any{"gender": "x", "race": "x", "ethnicity": "x", "sexAtBirth": "x", "dob": "2999-01-01", "last4Ssn": "12345", "deceased": true}).faults()
	slices.Sort(got)
	want := []string{"deceased read_only", "dob in_future", "ethnicity invalid_value", "gender invalid_value", "last4Ssn invalid_last4", "race invalid_value", "sexAtBirth invalid_value"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := c.patch(patients+"/1", map[string]any{"gender": "x"}).faults(); !slices.Equal(got, []string{"gender invalid_value"}) {
		t.Errorf("a fault of the body goes before a patient that is not there: %v", got)
	}
	c.patch(path, map[string]any{"deceased": false}).is(ok)
}

func TestARecordReadCanBeSentBack(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, but(map[string]any{"last4Ssn": "6789"}))
	read := c.get(path).is(ok)
	again := c.patch(path, read.object()).is(ok)
	if again.etag() != read.etag() || string(again.raw) != string(read.raw) {
		t.Errorf("%s became %s", read.raw, again.raw)
	}
}

func TestIfMatch(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	first := c.get(path).etag()
	second := c.with("If-Match", first).patch(path, map[string]any{"middleName": "M"}).is(ok).etag()
	if first == second {
		t.Error("the tag did not move")
	}
	c.with("If-Match", first).patch(path, map[string]any{"middleName": "N"}).refused(http.StatusPreconditionFailed, "version_mismatch")
	c.with("If-Match", "W/"+second).patch(path, map[string]any{"middleName": "N"}).refused(http.StatusPreconditionFailed, "version_mismatch")
	c.with("If-Match", first).patch(path, map[string]any{"gender": "x"}).refused(bad, "invalid_request")
	c.with("If-Match", first).delete(path).refused(http.StatusPreconditionFailed, "version_mismatch")
	c.with("If-Match", "").patch(path, map[string]any{"middleName": "N"}).is(http.StatusPreconditionFailed)
	for _, a := range []answer{
		c.with("If-Match", first).put(path+"/deceased", map[string]any{}), c.with("If-Match", first).delete(path + "/deceased"),
		c.with("If-Match", first).post(path+"/restore", nil),
	} {
		a.refused(http.StatusPreconditionFailed, "version_mismatch")
	}
	c.with("If-Match", first+", "+second).patch(path, map[string]any{"middleName": "O"}).is(ok)
	c.with("If-Match", "*").delete(path).is(ok)
	c.with("If-Match", "*").delete(path).is(missing)
}

func TestDeleteIsSoftAndRestoreBringsBackWhole(t *testing.T) {
	c := owner(t)
	path, before := stored(c, but(map[string]any{"last4Ssn": "6789", "middleName": "M"}))
	total := func() int64 {
		var l list
		c.get(patients + "?size=1").is(ok).into(&l)
		return l.TotalElements
	}
	with := total()
	if message := c.delete(path).is(ok).object()["message"]; message == "" {
		t.Error("no message")
	}
	if total() != with-1 {
		t.Error("the deleted patient is still counted")
	}
	for _, sub := range []string{"", "/deceased", "/history"} {
		c.get(path+sub).refused(missing, "patient_not_found")
	}
	c.patch(path, map[string]any{"middleName": "x"}).is(missing)
	c.put(path+"/deceased", map[string]any{}).is(missing)
	c.delete(path + "/deceased").is(missing)
	c.delete(path).is(missing)
	var restored, again shown
	c.post(path+"/restore", nil).is(ok).into(&restored)
	if diff := cmp.Diff(before, restored); diff != "" {
		t.Error(diff)
	}
	tag := c.get(path).etag()
	if c.post(path+"/restore", nil).is(ok).etag() != tag {
		t.Error("restoring who is not deleted changed something")
	}
	c.get(path).is(ok).into(&again)
	if total() != with || again != before {
		t.Error("the restored patient is not whole or not counted")
	}
	c.post(patients+"/1/restore", nil).is(missing)
}

func TestDeceased(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	at := path + "/deceased"
	none := map[string]any{"deceased": false, "deceasedDate": "", "source": "", "note": "", "updatedAt": ""}
	if diff := cmp.Diff(none, c.get(at).is(ok).object()); diff != "" {
		t.Error(diff)
	}
	first := c.put(at, map[string]any{"deceasedDate": "2020-05-06", "source": "Certificate", "note": "x"}).is(ok)
	got := first.object()
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(got["updatedAt"])); err != nil {
		t.Error(err)
	}
	delete(got, "updatedAt")
	if diff := cmp.Diff(map[string]any{"deceased": true, "deceasedDate": "2020-05-06", "source": "Certificate", "note": "x"}, got); diff != "" {
		t.Error(diff)
	}
	again := c.put(at, map[string]any{"deceasedDate": "2020-05-06", "source": "Certificate", "note": "x"}).is(ok)
	if string(again.raw) != string(first.raw) || again.etag() != first.etag() {
		t.Error("marking twice is not idempotent")
	}
	if c.get(path).object()["deceased"] != true {
		t.Error("the record does not show it")
	}
	if got := c.put(at, map[string]any{"deceasedDate": "1980-02-28", "source": 7}).faults(); !slices.Equal(got, []string{"source invalid_type", "deceasedDate before_birth"}) && !slices.Equal(got, []string{"source invalid_type"}) {
		t.Error(got)
	}
	for date, fault := range map[string]string{"1980-02-28": "before_birth", "2999-01-01": "in_future", "06.05.2020": "invalid_date"} {
		if got := c.put(at, map[string]any{"deceasedDate": date}).faults(); !slices.Equal(got, []string{"deceasedDate " + fault}) {
			t.Errorf("%s: %v", date, got)
		}
	}
	if c.patch(path, map[string]any{"middleName": "M"}).is(ok).object()["deceased"] != true {
		t.Error("an update changed the mark")
	}
	undone := c.delete(at).is(ok)
	if c.delete(at).is(ok).etag() != undone.etag() || c.get(path).object()["deceased"] != false {
		t.Error("undoing is not idempotent, or not done")
	}
	c.put(at, nil).is(ok)
	if got := c.get(at).object(); got["deceased"] != true || got["deceasedDate"] != "" {
		t.Errorf("a death without a date: %v", got)
	}
}

func TestChangesAtTheSameTimeAllHappen(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	const writers = 40
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			if a := c.patch(path, map[string]any{"middleName": fmt.Sprint("M", i)}); a.status != ok {
				t.Errorf("answered %d: %s", a.status, a.raw)
			}
		})
	}
	all.Wait()
	if got := c.get(path).etag(); got != fmt.Sprintf("%q", fmt.Sprint(writers+1)) {
		t.Errorf("version %s after %d changes", got, writers)
	}
}

func TestHistoryTellsNamesOnly(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, but(map[string]any{"middleName": "Gertrudis"}))
	c.patch(path, map[string]any{"middleName": "n/a", "gender": "Female"}).is(ok)
	c.patch(path, map[string]any{}).is(ok)
	c.put(path+"/deceased", map[string]any{"note": "Gertrudis"}).is(ok)
	c.delete(path + "/deceased").is(ok)
	c.delete(path).is(ok)
	c.post(path+"/restore", nil).is(ok)
	var page struct {
		Content []struct {
			Version           int64
			ChangedAt, Change string
			ChangedBy         struct{ Type, ID string }
			Fields            []string
		}
		Page, Size    int
		TotalElements int64
	}
	a := c.get(path + "/history").is(ok)
	a.into(&page)
	var changes []string
	for i, e := range page.Content {
		changes = append(changes, e.Change)
		if e.Version != int64(len(page.Content)-i) || e.ChangedBy.Type != "api_key" || e.ChangedBy.ID == "" {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if diff := cmp.Diff([]string{"restored", "deleted", "deceased_unmarked", "deceased_marked", "updated", "created"}, changes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"middleName", "gender"}, page.Content[4].Fields); diff != "" {
		t.Error(diff)
	}
	if page.TotalElements != 6 || strings.Contains(string(a.raw), "Gertrudis") {
		t.Errorf("history: %s", a.raw)
	}
	first := c.get(path + "/history?size=4").is(ok)
	rest := c.get(nextOf(t, first)).is(ok)
	rest.into(&page)
	if len(page.Content) != 2 || page.Content[1].Change != "created" || rest.header.Get("Link") != "" {
		t.Errorf("the second page: %s", rest.raw)
	}
}

// nextOf is the path of the Link to the next page.
func nextOf(t *testing.T, a answer) string {
	t.Helper()
	link := a.header.Get("Link")
	target, found := strings.CutSuffix(strings.TrimPrefix(link, "<"), `>; rel="next"`)
	if !found {
		t.Fatalf("no Link to the next page: %q", link)
	}
	return target
}

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

func TestListPages(t *testing.T) {
	c := newTenant(t)
	if raw := c.get(patients).is(ok).raw; !json.Valid(raw) || !strings.Contains(string(raw), `"content":[]`) {
		t.Errorf("an empty list is 200 with an empty content: %s", raw)
	}
	var ids []int64
	for range 7 {
		_, p := stored(c, ana())
		ids = append(ids, p.ID)
	}
	deleted, kept := ids[3], slices.Delete(slices.Clone(ids), 3, 4)
	c.delete(path(deleted)).is(ok)
	listed := func(l list) []int64 {
		var got []int64
		for _, p := range l.Content {
			got = append(got, p.ID)
		}
		return got
	}
	var l list
	c.get(patients).is(ok).into(&l)
	if !slices.Equal(listed(l), kept) || l.Page != 0 || l.Size != 50 || l.TotalElements != 6 {
		t.Errorf("the default page: %+v", l)
	}
	c.get(patients + "?page=1&size=4").is(ok).into(&l)
	if !slices.Equal(listed(l), kept[4:]) || l.Page != 1 || l.Size != 4 || l.TotalElements != 6 {
		t.Errorf("the second page: %+v", l)
	}
	c.get(patients + "?page=9&size=4").is(ok).into(&l)
	if len(l.Content) != 0 || l.Page != 9 || l.TotalElements != 6 {
		t.Errorf("a page past the end: %+v", l)
	}
	var walked []int64
	for next := patients + "?size=4"; next != ""; {
		a := c.get(next).is(ok)
		a.into(&l)
		walked = append(walked, listed(l)...)
		if next = ""; a.header.Get("Link") != "" {
			next = nextOf(t, a)
		}
	}
	if !slices.Equal(walked, kept) {
		t.Errorf("following Link gave %v, want %v", walked, kept)
	}
	if a := c.get(patients + "?size=6").is(ok); a.header.Get("Link") != "" {
		t.Error("the last page leads on")
	}
}

func TestListRefusesWhatIsOutOfRange(t *testing.T) {
	c := owner(t)
	for query, want := range map[string]string{
		"page=-1": "page out_of_range", "page=x": "page out_of_range", "page=1.5": "page out_of_range", "page=": "page out_of_range",
		"page=99999999999999999999": "page out_of_range", "size=0": "size out_of_range", "size=501": "size out_of_range", "size=-5": "size out_of_range",
		"after=nonsense": "after invalid_cursor", "after=": "after invalid_cursor",
	} {
		if got := c.get(patients + "?" + query).faults(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", query, got)
		}
	}
	if got := c.get(patients + "?size=0&page=-1").faults(); len(got) != 2 {
		t.Errorf("not all faults at once: %v", got)
	}
	stored(c, ana())
	stored(c, ana())
	next := nextOf(t, c.get(patients+"?size=1").is(ok))
	if got := c.get(next + "&page=0").faults(); !slices.Equal(got, []string{"after conflicting"}) {
		t.Errorf("after with page: %v", got)
	}
}
