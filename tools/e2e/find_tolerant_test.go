package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestFindsTolerateErrors asks for one person among others in every way in which people are asked for wrongly.
func TestFindsTolerateErrors(t *testing.T) {
	c := newTenant(t)
	at, p := stored(c, map[string]any{
		"firstName": "Margaret", "middleName": "Eleanor", "lastName": "Thornbury-Vance", "dob": "1974-03-08", "sexAtBirth": "female", "last4Ssn": "4711",
	})
	c.post(at+"/address", map[string]any{"line1": "12 Harbour Street", "city": "Portland", "state": "ME", "postalCode": "04101"}).is(ok)
	c.post(at+"/contact", map[string]any{"value": "(207) 555-0142"}).is(ok)
	c.post(at+"/contact", map[string]any{"system": "email", "value": "maggie@example.org"}).is(ok)
	c.post(at+"/identifier", map[string]any{"type": "MRN", "value": "00412967"}).is(ok)
	c.post(at+"/alias", map[string]any{"type": "maiden", "lastName": "Okonkwo"}).is(ok)
	c.post(at+"/alias", map[string]any{"type": "previous", "fullName": "Greta Quillfeather"}).is(ok)
	for i, name := range []string{"Smith", "Johnson", "Reis", "Castro", "Garcia", "Thorne", "Vance", "Miller", "Davis", "Lopez"} {
		for j, first := range []string{"James", "Mary", "Robert", "Patricia", "Eleanor"} {
			stored(c, map[string]any{"firstName": first, "lastName": name, "dob": fmt.Sprintf("19%d-%02d-%02d", 50+i, j+1, 10+i+j)})
		}
	}
	base := func(changes ...string) question {
		q := question{"firstName": "Margaret", "lastName": "Thornbury-Vance", "dob": "1974-03-08"}
		for i := 0; i < len(changes); i += 2 {
			if q[changes[i]] = changes[i+1]; changes[i+1] == "" {
				delete(q, changes[i])
			}
		}
		return q
	}
	for name, q := range map[string]question{
		"nothing wrong":              base(),
		"a letter too many":          base("lastName", "Thornburry-Vance"),
		"a letter missing":           base("firstName", "Margret"),
		"two letters exchanged":      base("firstName", "Margaert"),
		"a wrong first letter":       base("firstName", "Nargaret"),
		"day and month exchanged":    base("dob", "1974-08-03"),
		"a digit of the date":        base("dob", "1974-03-09"),
		"a digit of the year":        base("dob", "1947-03-08"),
		"names exchanged":            base("firstName", "Thornbury-Vance", "lastName", "Margaret"),
		"a nickname":                 base("firstName", "Peggy"),
		"an initial":                 base("firstName", "M"),
		"the middle name as first":   base("firstName", "Margaret Eleanor"),
		"half of a double name":      base("lastName", "Vance"),
		"a double name without sign": base("lastName", "Thornbury Vance"),
		"a maiden name":              base("lastName", "Okonkwo"),
		"a whole former name":        {"firstName": "Greta", "lastName": "Quillfeather", "dob": "1974-03-08"},
		"no date":                    base("dob", "", "middleName", "Eleanor", "postalCode", "04101"),
		"no first name":              base("firstName", "", "last4Ssn", "4711"),
		"another town":               base("line1", "99 Elm Road", "city", "Boston", "state", "MA", "postalCode", "02108"),
		"an old number":              base("phone", "617 555 0199"),
		"other sounds":               base("firstName", "Margarett", "lastName", "Thornberry-Vance"),
		"capitals and accents":       base("firstName", "MÁRGARET", "lastName", "THORNBURY VANCE"),
		"phone and name alone":       {"phone": "2075550142", "lastName": "Thornbury"},
		"e-mail and date alone":      {"email": "Maggie@Example.org", "dob": "1974-03-08"},
		"identifier alone":           {"identifier": "412967", "lastName": "Thornbury-Vance", "dob": "1974-03-08"},
	} {
		f := c.find(q)
		if len(f.Content) == 0 || f.Content[0].PatientID != p.ID {
			q["minScore"] = "0"
			t.Errorf("%s: %v is found as %+v, of any score %+v", name, q, f, c.find(q))
		}
	}
	if f := c.find(question{"firstName": "Wolfgang", "lastName": "Amadeus", "dob": "1956-01-27"}); f.has(p.ID) {
		t.Errorf("somebody else is found: %+v", f)
	}
}

// TestRelativesAreNotCertain asks for one of two who share nearly all.
func TestRelativesAreNotCertain(t *testing.T) {
	c := newTenant(t)
	home := map[string]any{"line1": "12 Harbour Street", "city": "Portland", "state": "ME", "postalCode": "04101"}
	live := func(first, last, suffix, dob string) int64 {
		made := c.post("/v2/patient", map[string]any{"firstName": first, "lastName": last, "suffix": suffix, "dob": dob, "sex_at_birth": "male"}).is(created).object()
		at := patients + "/" + fmt.Sprint(made["patientId"])
		c.post(at+"/address", home).is(ok)
		var id int64
		_, _ = fmt.Sscan(fmt.Sprint(made["patientId"]), &id)
		return id
	}
	father, son := live("Robert", "Ellingham", "Sr", "1950-05-05"), live("Robert", "Ellingham", "Jr", "1975-06-06")
	twin := live("Jason", "Marchetti", "", "1990-09-09")
	live("Jordan", "Marchetti", "", "1990-09-09")
	address := question{"line1": "12 Harbour Street", "city": "Portland", "state": "ME", "postalCode": "04101"}
	ask := func(changes ...string) found {
		q := question{"minScore": "0"}
		for name, value := range address {
			q[name] = value
		}
		for i := 0; i < len(changes); i += 2 {
			q[changes[i]] = changes[i+1]
		}
		return c.find(q)
	}
	for name, test := range map[string]struct {
		found found
		first int64 // 0: whoever
	}{
		"a father and his son, whose date is not given": {ask("firstName", "Robert", "lastName", "Ellingham"), 0},
		"the father by the suffix alone":                {ask("firstName", "Robert", "lastName", "Ellingham", "suffix", "Sr"), father},
		"the son's date with the father's suffix":       {ask("firstName", "Robert", "lastName", "Ellingham", "suffix", "Sr", "dob", "1975-06-06"), 0},
		"a third twin": {ask("firstName", "Jeremy", "lastName", "Marchetti", "dob", "1990-09-09"), 0},
		"the twin's brother's name with one letter less": {ask("firstName", "Jon", "lastName", "Marchetti", "dob", "1990-09-09"), 0},
		"a wife of the son": {ask("firstName", "Nora", "lastName", "Ellingham", "sexAtBirth", "female", "dob", "1976-01-02"), 0},
	} {
		for _, m := range test.found.Content {
			if m.Grade == "certain" && m.PatientID != test.first {
				t.Errorf("%s: %d is certain: %+v", name, m.PatientID, m)
			}
		}
		if test.first != 0 && (len(test.found.Content) == 0 || test.found.Content[0].PatientID != test.first) {
			t.Errorf("%s: %v, want %d first", name, test.found.ids(), test.first)
		}
	}
	if f := ask("firstName", "Robert", "lastName", "Ellingham", "dob", "1975-06-06"); len(f.Content) == 0 || f.Content[0].PatientID != son {
		t.Errorf("the son by his date: %+v", f)
	}
	if f := ask("firstName", "Jason", "lastName", "Marchetti", "dob", "1990-09-09"); len(f.Content) == 0 || f.Content[0].PatientID != twin {
		t.Errorf("a twin by his name: %+v", f)
	}
}

// TestNamesOfEveryKindAreFound stores people with names that few programs are made for.
func TestNamesOfEveryKindAreFound(t *testing.T) {
	c := newTenant(t)
	emoji := strings.Repeat("😀👩‍⚕️", 40)
	born := time.Date(1980, 2, 29, 0, 0, 0, 0, time.UTC) // each on a day of their own: a name of signs alone tells nobody from another
	for kind, name := range map[string][2]string{
		"emoji":                    {strings.Repeat("😀", 200), strings.Repeat("🦄", 200)},
		"joined emoji":             {emoji, emoji},
		"right to left":            {"مُحَمَّد", "الْفَارِسِيّ"},
		"Hebrew":                   {"יוֹסֵף", "כֹּהֵן"},
		"Chinese":                  {"小明", "欧阳"},
		"Japanese":                 {"さくら", "ヤマダ"},
		"Korean":                   {"민준", "김"},
		"Thai":                     {"สมชาย", "ใจดี"},
		"Devanagari":               {"राजेश", "कुमार"},
		"Cyrillic":                 {"Юлия", "Щербакова"},
		"Greek":                    {"Ἀλέξανδρος", "Παπαδόπουλος"},
		"combining marks":          {"Zoe\u0308", "S\u0301wia\u0328tek"},
		"many combining marks":     {"Z" + strings.Repeat("\u0301\u0323", 60), "A" + strings.Repeat("\u0308", 60)},
		"one letter":               {"A", "B"},
		"one letter that is a dot": {"A.", "B."},
		"apostrophes":              {"D’Arcy", "O'Brien"},
		"hyphens":                  {"Anne-Marie", "Smith–Jones"},
		"punctuation alone":        {"...", "---"},
		"digits":                   {"1", "2"},
		"the longest":              {strings.Repeat("Ab ", 66) + "Ab", strings.Repeat("x", 200)},
		"particles":                {"Ludwig", "van der Rohe"},
		"percent and plus":         {"100% sure+", "a&b=c"},
	} {
		born = born.AddDate(0, 5, 7)
		dob := born.Format(time.DateOnly)
		_, p := stored(c, map[string]any{"firstName": name[0], "lastName": name[1], "dob": dob})
		for _, exact := range []string{"true", "false"} {
			q := question{"firstName": name[0], "lastName": name[1], "dob": dob, "exact": exact}
			if f := c.find(q); !f.has(p.ID) {
				t.Errorf("%s, exact %s: %+v", kind, exact, f)
			}
		}
		if f := c.find(question{"lastName": name[1], "exact": "true"}); !f.has(p.ID) {
			t.Errorf("%s by the last name alone: %+v", kind, f)
		}
	}
}
