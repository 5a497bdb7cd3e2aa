package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/audit"
)

const (
	findV2 = "/v2/patient/find"
	findV3 = "/v3/patient/find"
)

// found is what a find answers in v3.
type found struct {
	Content          []match
	TotalMatches     int
	Exact, Truncated bool
}

type match struct {
	PatientID int64
	Score     float64
	Grade     string
	Patient   map[string]any
	Evidence  []evidence
}

type evidence struct {
	Field, Level string
	Weight       *float64
}

func (f found) ids() []int64 {
	ids := []int64{}
	for _, m := range f.Content {
		ids = append(ids, m.PatientID)
	}
	return ids
}

// has reports whether a patient is among those found.
func (f found) has(id int64) bool { return slices.Contains(f.ids(), id) }

// question is the parameters of a find as a URL has them.
type question map[string]string

func (q question) query() string {
	values := url.Values{}
	for name, value := range q {
		values.Set(name, value)
	}
	return "?" + values.Encode()
}

// body is the question as JSON, whose truths and numbers are such.
func (q question) body() map[string]any {
	members := map[string]any{}
	for name, value := range q {
		members[name] = value
		if name == "exact" || name == "limit" || name == "minScore" {
			members[name] = json.RawMessage(strings.ToLower(value))
		}
	}
	return members
}

// find asks in all three ways, which must answer the same, and holds what they say against the contract.
func (c *client) find(q question) found {
	c.t.Helper()
	v2, v3, posted := c.get(findV2+q.query()).is(ok), c.get(findV3+q.query()).is(ok), c.post(findV3, q.body()).is(ok)
	if string(v3.raw) != string(posted.raw) {
		c.t.Errorf("by URL and by body: %s", cmp.Diff(v3.object(), posted.object()))
	}
	if diff := cmp.Diff(v3.object(), in3(v2.object())); diff != "" {
		c.t.Errorf("v3 and v2: %s", diff)
	}
	var f found
	v3.into(&f)
	f.hold(c.t)
	return f
}

// in3 is an answer of v2 in the spelling of v3, without what v3 does not show.
func in3(answer map[string]any) map[string]any {
	content, _ := answer["content"].([]any)
	for _, one := range content {
		m := one.(map[string]any)                //nolint:forcetypeassert // the document says so
		patient := m["patient"].(map[string]any) //nolint:forcetypeassert // the document says so
		id, _ := strconv.ParseFloat(fmt.Sprint(m["patientId"]), 64)
		if _, isText := m["patientId"].(string); !isText || patient["patientId"] != m["patientId"] {
			id = -1
		}
		m["patientId"], patient["id"] = id, id
		if patient["sexAtBirth"] = patient["sex_at_birth"]; patient["sexAtBirth"] == "unknown" {
			patient["sexAtBirth"] = "Unknown"
		}
		for _, name := range []string{"patientId", "sex_at_birth", "prefix", "suffix"} {
			delete(patient, name)
		}
	}
	return answer
}

// hold checks what is true of every answer: scores fall, weights sum to the score, grades are as they should be.
func (f found) hold(t *testing.T) {
	t.Helper()
	before := 1.0
	for i, m := range f.Content {
		if m.Score > before || m.Score < 0 || m.Score == 1 != f.Exact {
			t.Errorf("%d scores %v after %v", m.PatientID, m.Score, before)
		}
		before = m.Score
		total := 0.0
		for _, e := range m.Evidence {
			if (e.Weight == nil) != f.Exact || e.Field == "" || e.Level == "" && e.Field != "prior" {
				t.Errorf("evidence %+v", e)
			}
			if e.Weight != nil {
				total += *e.Weight
			}
		}
		if want := 1 / (1 + math.Exp2(-total)); !f.Exact && math.Abs(m.Score-want) > 1.5e-6 {
			t.Errorf("a score of %v by weights that make %v: %+v", m.Score, want, m.Evidence)
		}
		least := map[string]float64{"certain": .999, "probable": .9, "possible": 0}[m.Grade]
		certain := m.Grade == "certain"
		if m.Score < least || m.Grade == "possible" && m.Score >= .9 || certain && (i > 0 || f.Truncated) || len(m.Evidence) == 0 {
			t.Errorf("%d of %d is graded %s with %v", i, len(f.Content), m.Grade, m.Score)
		}
	}
}

func TestAFindShowsThePersonAndWhy(t *testing.T) {
	c := newTenant(t)
	_, p := stored(c, but(map[string]any{"middleName": "Maria", "gender": "female", "sexAtBirth": "female", "last4Ssn": "6789", "preferredLanguage": "pt"}))
	stored(c, map[string]any{"firstName": "Bruno", "lastName": "Reis", "dob": "1971-06-02"})

	a := c.get(findV3 + "?firstName=Ana&lastName=Lima&dob=1980-02-29").is(ok)
	if a.header.Get("Cache-Control") != "no-store" || a.header.Get("Link") != "" || a.header.Get("Trace-Id") == "" {
		t.Errorf("headers %v", a.header)
	}
	f := c.find(question{"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "sexAtBirth": "Female"})
	if !slices.Equal(f.ids(), []int64{p.ID}) || f.TotalMatches != 1 || f.Exact || f.Truncated || f.Content[0].Grade == "possible" {
		t.Fatalf("%+v", f)
	}
	want := map[string]any{
		"id": float64(p.ID), "firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "middleName": "Maria", "gender": "Female", "race": "Unknown",
		"ethnicity": "Unknown", "sexAtBirth": "female", "genderIdentity": "", "preferredLanguage": "pt", "last4Ssn": "***-**-6789", "deceased": false,
	}
	if diff := cmp.Diff(want, f.Content[0].Patient); diff != "" {
		t.Error(diff)
	}
	levels := map[string]string{}
	for _, e := range f.Content[0].Evidence {
		levels[e.Field] = e.Level
	}
	for _, field := range []string{"firstName", "lastName", "dob", "sexAtBirth"} {
		if levels[field] != "exact" {
			t.Errorf("%s agrees %q", field, levels[field])
		}
	}
	if _, prior := levels["prior"]; !prior {
		t.Errorf("no prior: %v", levels)
	}
	if f := c.find(question{"firstName": "Ana", "lastName": "Lima", "dob": "1980-02-29", "minScore": "1"}); len(f.Content) != 0 || f.TotalMatches != 0 {
		t.Errorf("nothing is sure: %+v", f)
	}
	e := c.find(question{"firstName": "Ana", "lastName": "Lima", "exact": "TRUE"})
	if !slices.Equal(e.ids(), []int64{p.ID}) || e.TotalMatches != 1 || !e.Exact || e.Content[0].Grade != "certain" || len(e.Content[0].Evidence) != 2 {
		t.Errorf("%+v", e)
	}
}

func TestNobodyIsFoundAmongNobody(t *testing.T) {
	c := newTenant(t)
	for _, exact := range []string{"true", "false"} {
		a := c.get(findV3 + "?lastName=Lima&exact=" + exact).is(ok)
		if want := `{"content":[],"totalMatches":0,"exact":` + exact + `}`; string(a.raw) != want {
			t.Errorf("%s, want %s", a.raw, want)
		}
		c.find(question{"firstName": "Ana", "lastName": "Lima", "exact": exact})
	}
}

func TestWhatAFindRefuses(t *testing.T) {
	c := owner(t)
	tomorrow := time.Now().UTC().AddDate(0, 0, 1).Format(time.DateOnly)
	long, longer := strings.Repeat("x", 201), strings.Repeat("x", 501)
	for name, test := range map[string]struct {
		asked question
		want  []string
	}{
		"nothing":          {question{}, []string{"request no_demographic"}},
		"what says naught": {question{"firstName": " ", "dob": "N/A", "phone": "", "last4Ssn": "n/a", "limit": "5"}, []string{"request no_demographic"}},
		"bounds alone":     {question{"exact": "true", "limit": "5"}, []string{"request no_demographic"}},
		"another name":     {question{"sex_at_birth": "female"}, []string{"request no_demographic"}},
		"no date":          {question{"dob": "1980-02-30"}, []string{"dob invalid_date"}},
		"no ISO date":      {question{"dob": "29.02.1980"}, []string{"dob invalid_date"}},
		"tomorrow":         {question{"dob": tomorrow}, []string{"dob in_future"}},
		"nine digits":      {question{"last4Ssn": "123456789"}, []string{"last4Ssn invalid_last4"}},
		"no sex":           {question{"sexAtBirth": "f"}, []string{"sexAtBirth invalid_value"}},
		"long":             {question{"firstName": long, "suffix": long, "city": longer}, []string{"city too_long", "firstName too_long", "suffix too_long"}},
		"control":          {question{"lastName": "Li\u0007ma"}, []string{"lastName control_character"}},
		"exact and score":  {question{"lastName": "Lima", "exact": "true", "minScore": "0.5"}, []string{"minScore conflicting"}},
		"no cursor":        {question{"after": "x"}, []string{"after invalid_cursor"}},
		"bounds": {
			question{"lastName": "Lima", "limit": "0", "minScore": "1.01"}, []string{"limit out_of_range", "minScore out_of_range"},
		},
		"over": {
			question{"lastName": "Lima", "limit": "101", "minScore": "-0.01"}, []string{"limit out_of_range", "minScore out_of_range"},
		},
		"all at once": {
			question{"firstName": long, "dob": "x", "sexAtBirth": "x", "last4Ssn": "x", "limit": "0", "minScore": "2", "line1": longer, "after": "x"},
			[]string{
				"after invalid_cursor", "dob invalid_date", "firstName too_long", "last4Ssn invalid_last4", "limit out_of_range", "line1 too_long",
				"minScore out_of_range", "sexAtBirth invalid_value",
			},
		},
	} {
		for way, a := range map[string]answer{
			"v2": c.get(findV2 + test.asked.query()), "v3": c.get(findV3 + test.asked.query()), "POST": c.post(findV3, test.asked.body()),
		} {
			got := a.faults()
			if slices.Sort(got); !slices.Equal(got, test.want) {
				t.Errorf("%s by %s: %v, want %v", name, way, got, test.want)
			}
		}
	}
	for query, want := range map[string]string{
		"exact=maybe": "exact invalid_value", "exact=1": "exact invalid_value", "limit=x": "limit out_of_range", "limit=1.5": "limit out_of_range",
		"minScore=NaN": "minScore out_of_range", "minScore=x": "minScore out_of_range", "minScore=Inf": "minScore out_of_range",
		"limit=99999999999999999999": "limit out_of_range",
	} {
		for _, path := range []string{findV2, findV3} {
			if got := c.get(path + "?lastName=Lima&" + query).faults(); !slices.Equal(got, []string{want}) {
				t.Errorf("%s: %v, want %v", query, got, want)
			}
		}
	}
	for body, want := range map[string]string{
		`"exact":"true"`: "exact invalid_type", `"limit":"5"`: "limit invalid_type", `"minScore":"0.5"`: "minScore invalid_type", `"limit":1.5`: "limit out_of_range",
		`"limit":1e400`: "limit out_of_range", `"minScore":-1e400`: "minScore out_of_range", `"firstName":7`: "firstName invalid_type", `"after":7`: "after invalid_type",
		`"dob":{}`: "dob invalid_type", `"lastName":"Reis"`: "lastName duplicate_member",
	} {
		if got := c.post(findV3, `{"lastName":"Lima",`+body+`}`).faults(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v, want %v", body, got, want)
		}
	}
	c.post(findV3, `{"lastName":"Lima","exact":null,"limit":null,"minScore":null,"firstName":null,"after":null,"whatever":{}}`).is(ok)
	c.get(findV3 + "?lastName=Lima&exact=&limit=&minScore=&dob=&whatever=x").is(ok)
	c.get(findV3 + "?lastName=Lima&lastName=Reis").is(bad)
	c.get(findV3 + "?lastName=%zz").is(bad)
	c.post(findV3, `[]`).refused(bad, "not_an_object")
	c.post(findV3, ``).refused(bad, "body_required")
}

// TestTheOrderInWhichAFindRefuses sends what is wrong in several ways.
func TestTheOrderInWhichAFindRefuses(t *testing.T) {
	c := owner(t)
	reader := c.mint("Records Reader")
	huge := `{"firstName":"` + strings.Repeat("x", 70<<10)
	anyone(t).get(findV3 + "?dob=x").is(unauthorized)
	anyone(t).post(findV3, huge).is(unauthorized)
	for _, path := range []string{findV2, findV3} {
		reader.get(path+"?dob=x").refused(http.StatusForbidden, "permission_denied")
		if allow := c.put(path, "x").refused(http.StatusMethodNotAllowed, "method_not_allowed"); allow.Code == "" {
			t.Error("no code")
		}
		if a := c.do(http.MethodHead, path+"?lastName=Lima", nil).is(ok); len(a.raw) != 0 {
			t.Errorf("HEAD answers %s", a.raw)
		}
	}
	reader.post(findV3, huge).refused(http.StatusForbidden, "permission_denied")
	c.post(findV2, map[string]any{"lastName": "Lima"}).refused(http.StatusMethodNotAllowed, "method_not_allowed")
	if got := c.delete(findV3).header.Get("Allow"); got != "GET, HEAD, POST" {
		t.Errorf("Allow: %q", got)
	}
	c.with("Content-Type", "text/plain").post(findV3, `{"dob":"x"}`).refused(http.StatusUnsupportedMediaType, "unsupported_media_type")
	c.post(findV3, huge).refused(http.StatusRequestEntityTooLarge, "body_too_large")
	everything := map[string]any{}
	for _, name := range []string{"line1", "city", "state", "postalCode", "phone", "email", "identifier"} {
		everything[name] = strings.Repeat("😀", 500)
	}
	c.post(findV3, everything).refused(http.StatusRequestEntityTooLarge, "question_too_large")
	c.mint("Matcher").get(findV3 + "?lastName=Lima").is(ok)
}

func TestExactFindsFold(t *testing.T) {
	c := newTenant(t)
	at, p := stored(c, map[string]any{
		"firstName": "Zoë Ann", "middleName": "D'Arcy", "lastName": "O’Brien-Świątek", "dob": "1980-02-29", "sexAtBirth": "intersex", "last4Ssn": "0042",
	})
	c.post(at+"/address", map[string]any{"line1": "12 Harbour St.", "city": "St. John's", "state": "ME", "postalCode": "04101-1234"}).is(ok)
	c.post(at+"/address", map[string]any{"line1": "9 Elm Road", "city": "Orono", "state": "ME", "postalCode": "04473"}).is(ok)
	c.post(at+"/contact", map[string]any{"value": "(207) 555-0142"}).is(ok)
	c.post(at+"/contact", map[string]any{"system": "email", "value": "Zoe.OBrien@Example.org"}).is(ok)
	c.post(at+"/identifier", map[string]any{"type": "MRN", "value": "AB-0042/7"}).is(ok)
	c.post(at+"/alias", map[string]any{"type": "maiden", "lastName": "Kowalska"}).is(ok)
	stored(c, ana())
	all := question{
		"firstName": "zoe ann", "middleName": "darcy", "lastName": "OBRIEN SWIATEK", "dob": "1980-02-29", "sexAtBirth": "INTERSEX", "last4Ssn": "0042",
		"line1": "12 harbour st", "city": "st johns", "state": "me", "postalCode": "041011234", "phone": "+1 207 555 0142", "email": "zoe.obrien@example.ORG",
		"identifier": "ab00427", "exact": "true",
	}
	if f := c.find(all); !slices.Equal(f.ids(), []int64{p.ID}) || f.Content[0].Grade != "certain" || len(f.Content[0].Evidence) != len(all)-1 {
		t.Errorf("all folded: %+v", f)
	}
	for name, value := range all {
		if name == "exact" {
			continue
		}
		if f := c.find(question{name: value, "exact": "true"}); !f.has(p.ID) {
			t.Errorf("%s %q alone finds %v", name, value, f.ids())
		}
	}
	for name, value := range map[string]string{
		"firstName": "Zoe", "middleName": "Darcey", "lastName": "OBrien", "dob": "1980-02-28", "sexAtBirth": "other", "last4Ssn": "0043", "line1": "12 harbor st",
		"city": "Orono", "state": "MA", "postalCode": "04101", "phone": "207 555 0143", "email": "zoe@example.org", "identifier": "ab0042", "suffix": "Jr",
	} {
		q := maps.Clone(all)
		q[name] = value
		if f := c.find(q); len(f.Content) != 0 || f.TotalMatches != 0 {
			t.Errorf("%s %q is not what the record says, and finds %+v", name, value, f)
		}
	}
	for name, q := range map[string]question{
		"an alias is no name": {"lastName": "Kowalska"}, "names the other way round": {"firstName": "O’Brien-Świątek", "lastName": "Zoë Ann"},
		"two addresses in one": {"line1": "9 Elm Road", "city": "St. John's"},
	} {
		q["exact"] = "true"
		if f := c.find(q); len(f.Content) != 0 {
			t.Errorf("%s: %v", name, f.ids())
		}
	}
	if f := c.find(question{"line1": "9 Elm Road", "postalCode": "04473", "exact": "true"}); !slices.Equal(f.ids(), []int64{p.ID}) {
		t.Errorf("one address of two: %v", f.ids())
	}
	if f := c.find(question{"sexAtBirth": "unknown", "exact": "true"}); len(f.Content) != 1 || f.has(p.ID) {
		t.Errorf("of unknown sex: %v", f.ids())
	}
}

// TestExactFindsPage follows Link to the end, which shows nothing of the question in its URL.
func TestExactFindsPage(t *testing.T) {
	c := newTenant(t)
	var all []int64
	for i := range 7 {
		_, p := stored(c, but(map[string]any{"firstName": fmt.Sprintf("Ana%d", i)}))
		all = append(all, p.ID)
	}
	stored(c, but(map[string]any{"lastName": "Reis"}))
	q := question{"lastName": "lima", "dob": "1980-02-29", "exact": "true", "limit": "3"}
	for way, first := range map[string]answer{
		"v2": c.get(findV2 + q.query()), "v3": c.get(findV3 + q.query()), "POST": c.post(findV3, q.body()),
	} {
		var got []int64
		for a := first.is(ok); ; {
			var f found
			if way == "v2" {
				raw, err := json.Marshal(in3(a.object()))
				if err != nil {
					t.Fatal(err)
				}
				a.raw = raw
			}
			a.into(&f)
			f.hold(t)
			if got = append(got, f.ids()...); f.TotalMatches != len(all) || !f.Exact || len(f.Content) > 3 || f.Content[0].Grade != "probable" {
				t.Errorf("%s: %+v", way, f)
			}
			if a.header.Get("Link") == "" {
				break
			}
			next := nextOf(t, a)
			if lower := strings.ToLower(next); strings.Contains(lower, "lima") || strings.Contains(lower, "1980") || !strings.Contains(next, "limit=3&") {
				t.Errorf("%s goes on at %s", way, next)
			}
			a = c.get(next).is(ok)
		}
		if !slices.Equal(got, all) {
			t.Errorf("%s walks %v of %v", way, got, all)
		}
	}
	next := nextOf(t, c.get(findV3+q.query()).is(ok))
	at, err := url.Parse(next)
	if err != nil {
		t.Fatal(err)
	}
	after := at.Query().Get("after")
	var f found
	c.post(findV3, map[string]any{"after": after}).is(ok).into(&f)
	if !slices.Equal(f.ids(), all[3:]) {
		t.Errorf("the cursor in a body, with another limit: %v", f.ids())
	}
	c.get(next + "&lastName=lima&dob=1980-02-29&exact=true").is(ok)
	for _, other := range []string{"&lastName=Reis", "&exact=false", "&firstName=Ana1"} {
		if got := c.get(next + other).faults(); !slices.Equal(got, []string{"after invalid_cursor"}) {
			t.Errorf("with another question %s: %v", other, got)
		}
	}
	if got := c.get(next + "&minScore=0.5").faults(); !slices.Equal(got, []string{"minScore conflicting"}) {
		t.Error(got)
	}
	if got := newTenant(t).get(next).faults(); !slices.Equal(got, []string{"after invalid_cursor"}) {
		t.Errorf("another tenant's cursor: %v", got)
	}
	c.delete(path(all[4])).is(ok)
	c.get(next).is(ok).into(&f)
	if !slices.Equal(f.ids(), []int64{all[3], all[5], all[6]}) || f.TotalMatches != 6 {
		t.Errorf("after a delete: %v of %d", f.ids(), f.TotalMatches)
	}
}

func TestAFindSeesItsTenantAlone(t *testing.T) {
	mine, theirs := newTenant(t), newTenant(t)
	body := map[string]any{"firstName": "Quill", "lastName": "Zvonimirović", "dob": "1961-11-30"}
	_, p := stored(mine, body)
	_, q := stored(theirs, body)
	for _, exact := range []string{"true", "false"} {
		asked := question{"firstName": "Quill", "lastName": "Zvonimirović", "dob": "1961-11-30", "exact": exact}
		if got := mine.find(asked).ids(); !slices.Equal(got, []int64{p.ID}) {
			t.Errorf("mine: %v", got)
		}
		if got := theirs.find(asked).ids(); !slices.Equal(got, []int64{q.ID}) {
			t.Errorf("theirs: %v", got)
		}
	}
}

func TestAFindIsInTheTrailOnceWithoutItsQuestion(t *testing.T) {
	c := newTenant(t)
	stored(c, ana())
	shown := c.get(findV2 + "?lastName=Lima").is(ok).header.Get("Trace-Id")
	c.post(findV3, map[string]any{"lastName": "Nobody", "exact": true}).is(ok)
	c.get(findV3).is(bad)
	c.mint("Records Reader").get(findV3 + "?lastName=Lima").is(http.StatusForbidden)
	var told []string
	eventually(t, 10*time.Second, func() bool {
		var page struct{ Content []audit.Record } // whose number is not that of its total while records come
		c.get(trail + "?action=patient.find").is(ok).into(&page)
		told = nil
		for _, r := range page.Content {
			told = append(told, fmt.Sprint(r.Action, " ", r.Outcome, " ", r.PatientID == nil, " ", r.TraceID == shown))
		}
		return len(told) >= 2
	})
	if want := []string{"patient.find success true true", "patient.find success true false"}; !slices.Equal(told, want) {
		t.Errorf("%v", told)
	}
	if raw := c.get(trail + "?action=patient.find").is(ok).raw; strings.Contains(string(raw), "Lima") || strings.Contains(string(raw), "Nobody") {
		t.Errorf("the trail tells who was sought: %s", raw)
	}
}

func TestFindsAreCountedByModeAndOutcome(t *testing.T) {
	c := newTenant(t)
	stored(c, ana())
	for _, exact := range []string{"true", "false"} {
		c.find(question{"firstName": "Ana", "lastName": "Lima", "exact": exact})
		c.find(question{"lastName": "Nobody", "exact": exact})
	}
	text := scrape(t, "matching")
	for _, mode := range []string{"exact", "probabilistic"} {
		for _, outcome := range []string{"found", "nobody"} {
			for _, name := range []string{"matching_find_duration_seconds_count", "matching_find_candidates_count"} {
				if !regexp.MustCompile(name + `\{mode="` + mode + `",[^}]*outcome="` + outcome + `"[^}]*\} [1-9]`).MatchString(text) {
					t.Errorf("the metrics of matching lack %s of %s, %s", name, mode, outcome)
				}
			}
		}
	}
}
