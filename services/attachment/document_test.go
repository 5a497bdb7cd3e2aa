package attachment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/attachment"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 589e6, time.UTC)

func some[T any](v T) *T { return &v }

func codes(faults []fault.Field) []string {
	list := []string{}
	for _, f := range faults {
		list = append(list, f.Field+" "+f.Code)
	}
	return list
}

func TestNewHasDefaults(t *testing.T) {
	d, faults := attachment.New(attachment.Input{}, now)
	if len(faults) != 0 {
		t.Fatal(faults)
	}
	want := attachment.Document{Type: "document", ContentType: "application/pdf", Version: 1, CreatedAt: now, UpdatedAt: now}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if d.SizeShown() != "" || d.HasContent() || !d.Active() {
		t.Error("a new document has a size, content, or is deactivated")
	}
	na, faults := attachment.New(attachment.Input{
		ContentType: some("N/A"), Filename: some("n/a"), Title: some("N/a"), Size: some("n/a"), Payload: []byte(`"N/A"`),
	}, now)
	if diff := cmp.Diff(want, na); diff != "" || len(faults) != 0 {
		t.Error("n/a is a value: ", diff, faults)
	}
}

func TestNewKeepsWhatIsGiven(t *testing.T) {
	d, faults := attachment.New(attachment.Input{
		Type: some("Wearable"), ContentType: some("text/plain; charset=utf-8"), Filename: some("a.txt"), Title: some("A"), Size: some("9007199254740992"),
		Payload: []byte(`{"a": 1.0}`),
	}, now)
	want := attachment.Document{
		Type: "wearable", ContentType: "text/plain; charset=utf-8", Filename: "a.txt", Title: "A", DeclaredSize: some(int64(1 << 53)),
		Payload: []byte(`{"a": 1.0}`), Version: 1, CreatedAt: now, UpdatedAt: now,
	}
	if diff := cmp.Diff(want, d); diff != "" || len(faults) != 0 {
		t.Error(diff, faults)
	}
	if d.SizeShown() != "9007199254740992" {
		t.Error(d.SizeShown())
	}
}

func TestNewTellsEveryRule(t *testing.T) {
	nested := func(depth int) []byte { return []byte(strings.Repeat("[", depth) + strings.Repeat("]", depth)) }
	tests := map[string]struct {
		in   attachment.Input
		want []string
	}{
		"all at once": {
			attachment.Input{Type: some("x"), ContentType: some("x"), Size: some("x"), Payload: nested(101)},
			[]string{"type invalid_value", "contentType invalid_value", "size invalid_size", "payload too_deep"},
		},
		"type of any case":               {attachment.Input{Type: some("STRUCTURED")}, []string{}},
		"type blank":                     {attachment.Input{Type: some("")}, []string{"type blank"}},
		"type n/a":                       {attachment.Input{Type: some("n/A")}, []string{"type blank"}},
		"type any":                       {attachment.Input{Type: some("Any")}, []string{"type invalid_value"}},
		"content type blank":             {attachment.Input{ContentType: some("")}, []string{}},
		"content type without a slash":   {attachment.Input{ContentType: some("pdf")}, []string{"contentType invalid_value"}},
		"content type of two":            {attachment.Input{ContentType: some("a/b, c/d")}, []string{"contentType invalid_value"}},
		"content type with a parameter":  {attachment.Input{ContentType: some(`a/b; c="d e"`)}, []string{}},
		"content type with half of one":  {attachment.Input{ContentType: some("a/b; c")}, []string{"contentType invalid_value"}},
		"content type beyond ASCII":      {attachment.Input{ContentType: some(`a/b; c="ü"`)}, []string{"contentType invalid_value"}},
		"content type with a space":      {attachment.Input{ContentType: some("a /b")}, []string{"contentType invalid_value"}},
		"content type without a subtype": {attachment.Input{ContentType: some("a/")}, []string{"contentType invalid_value"}},
		"size nought":                    {attachment.Input{Size: some("0")}, []string{}},
		"size blank":                     {attachment.Input{Size: some("")}, []string{}},
		"size at its most":               {attachment.Input{Size: some("9007199254740992")}, []string{}},
		"size over it":                   {attachment.Input{Size: some("9007199254740993")}, []string{"size invalid_size"}},
		"size over an int64":             {attachment.Input{Size: some("99999999999999999999")}, []string{"size invalid_size"}},
		"size negative":                  {attachment.Input{Size: some("-1")}, []string{"size invalid_size"}},
		"size with a sign":               {attachment.Input{Size: some("+1")}, []string{"size invalid_size"}},
		"size with leading zeros":        {attachment.Input{Size: some("007")}, []string{"size invalid_size"}},
		"size with a fraction":           {attachment.Input{Size: some("1.0")}, []string{"size invalid_size"}},
		"size in digits of elsewhere":    {attachment.Input{Size: some("١")}, []string{"size invalid_size"}},
		"payload of 100 levels":          {attachment.Input{Payload: nested(100)}, []string{}},
		"payload of 101":                 {attachment.Input{Payload: nested(101)}, []string{"payload too_deep"}},
		"payload of 101 objects": {
			attachment.Input{Payload: []byte(strings.Repeat(`{"a":`, 101) + "1" + strings.Repeat("}", 101))},
			[]string{"payload too_deep"},
		},
		"brackets in a string are no nesting": {attachment.Input{Payload: []byte(`"` + strings.Repeat("[", 101) + `"`)}, []string{}},
		"many beside each other":              {attachment.Input{Payload: []byte("[" + strings.Repeat("[],", 200) + "[]]")}, []string{}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, faults := attachment.New(test.in, now)
			if diff := cmp.Diff(test.want, codes(faults)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.want, codes(test.in.Validate())); diff != "" {
				t.Error("of an update: ", diff)
			}
		})
	}
}

// full is a document with everything, and content of 3 bytes.
func full() attachment.Document {
	d, _ := attachment.New(attachment.Input{
		Type: some("observation"), ContentType: some("text/plain"), Filename: some("a.txt"), Title: some("A"), Size: some("3"), Payload: []byte(`{}`),
	}, now)
	d.Content = attachment.Content{BlobKey: some("k"), Size: some(int64(3)), SHA256: []byte{1}, UploadedAt: &now}
	return d
}

func TestWithAppliesWhatIsGiven(t *testing.T) {
	tests := map[string]struct {
		in   attachment.Input
		want func(*attachment.Document)
	}{
		"nothing": {attachment.Input{}, func(*attachment.Document) {}},
		"texts": {attachment.Input{Filename: some("b"), Title: some("B")}, func(d *attachment.Document) {
			d.Filename, d.Title = "b", "B"
		}},
		"n/a clears": {
			attachment.Input{Filename: some("n/a"), Title: some("N/A"), Size: some("n/a"), ContentType: some("n/a"), Payload: []byte(`"n/a"`)},
			func(d *attachment.Document) {
				d.Filename, d.Title, d.DeclaredSize, d.ContentType, d.Payload = "", "", nil, "application/pdf", nil
			},
		},
		"blank clears": {attachment.Input{Filename: some(""), Size: some("")}, func(d *attachment.Document) {
			d.Filename, d.DeclaredSize = "", nil
		}},
		"type":                    {attachment.Input{Type: some("Document")}, func(d *attachment.Document) { d.Type = "document" }},
		"the size of the content": {attachment.Input{Size: some("3")}, func(*attachment.Document) {}},
		"an empty payload is one": {attachment.Input{Payload: []byte(`""`)}, func(d *attachment.Document) { d.Payload = []byte(`""`) }},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			want := full()
			test.want(&want)
			got, faults := full().With(test.in)
			if diff := cmp.Diff(want, got); diff != "" || len(faults) != 0 {
				t.Error(diff, faults)
			}
		})
	}
	if _, faults := full().With(attachment.Input{Size: some("4")}); !cmp.Equal(codes(faults), []string{"size size_mismatch"}) {
		t.Error("another size than the content's: ", faults)
	}
	if cleared, _ := full().With(attachment.Input{Size: some("n/a")}); cleared.SizeShown() != "3" {
		t.Error("the content's size is gone: ", cleared.SizeShown())
	}
}

func TestPayloadsAreOfOneMebibyteAtMost(t *testing.T) {
	for name, test := range map[string]struct {
		payload string
		over    bool
	}{
		"none":                           {"", false},
		"a string at its longest":        {`"` + strings.Repeat("a", 1<<20) + `"`, false},
		"a string of one more":           {`"` + strings.Repeat("a", 1<<20+1) + `"`, true},
		"an escaped string at it":        {`"` + strings.Repeat(`\u0041`, 1<<20) + `"`, false},
		"an escaped string of one more":  {`"` + strings.Repeat(`\u0041`, 1<<20+1) + `"`, true},
		"half a mebibyte of two bytes":   {`"` + strings.Repeat("é", 1<<19) + `"`, false},
		"and one more":                   {`"` + strings.Repeat("é", 1<<19) + `a"`, true},
		"a quarter of surrogates":        {`"` + strings.Repeat(`\ud83d\ude00`, 1<<18) + `"`, false},
		"and one more ":                  {`"` + strings.Repeat(`\ud83d\ude00`, 1<<18) + `a"`, true},
		"a list at its longest":          {"[" + strings.Repeat(" ", 1<<20-2) + "]", false},
		"a list of one more":             {"[" + strings.Repeat(" ", 1<<20-1) + "]", true},
		"a number of one more":           {strings.Repeat("1", 1<<20+1), true},
		"escapes in a list are its text": {`["` + strings.Repeat(`\u0041`, 1<<18) + `"]`, true},
	} {
		err := attachment.Input{Payload: []byte(test.payload)}.Oversized()
		if over := fault.Is(err, fault.TooLarge); over != test.over || !over && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if test.over && fault.Of(err).Code != "payload_too_large" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAQuestionTellsEveryRule(t *testing.T) {
	tests := map[string]struct {
		q    attachment.Question
		want attachment.Filter
		told []string
	}{
		"nothing":       {attachment.Question{}, attachment.Filter{}, []string{}},
		"any":           {attachment.Question{Type: some("ANY")}, attachment.Filter{}, []string{}},
		"a type":        {attachment.Question{Type: some("Observation")}, attachment.Filter{Type: "observation"}, []string{}},
		"a date":        {attachment.Question{CreatedAfter: some("2026-01-31")}, attachment.Filter{CreatedAfter: time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC)}, []string{}},
		"an instant":    {attachment.Question{CreatedAfter: some("2026-01-31T01:30:00.25+02:00")}, attachment.Filter{CreatedAfter: time.Date(2026, 1, 30, 23, 30, 0, 25e7, time.UTC)}, []string{}},
		"a text":        {attachment.Question{Filename: some("STRASSE ẞ Ärger")}, attachment.Filter{Text: "strasse ss ärger"}, []string{}},
		"active false":  {attachment.Question{Active: some("False")}, attachment.Filter{Which: attachment.InactiveOnly}, []string{}},
		"active true":   {attachment.Question{Active: some("true")}, attachment.Filter{}, []string{}},
		"active all":    {attachment.Question{Active: some("ALL")}, attachment.Filter{Which: attachment.All}, []string{}},
		"a blank type":  {attachment.Question{Type: some("")}, attachment.Filter{}, []string{"type blank"}},
		"no day":        {attachment.Question{CreatedAfter: some("2026-02-30")}, attachment.Filter{}, []string{"createdAfter invalid_date"}},
		"no instant":    {attachment.Question{CreatedAfter: some("2026-02-20T10:00:00")}, attachment.Filter{}, []string{"createdAfter invalid_date"}},
		"all at once":   {attachment.Question{Type: some("x"), CreatedAfter: some("x"), Active: some("x")}, attachment.Filter{}, []string{"type invalid_value", "createdAfter invalid_date", "active invalid_value"}},
		"active blank":  {attachment.Question{Active: some("")}, attachment.Filter{}, []string{"active invalid_value"}},
		"a blank text":  {attachment.Question{Filename: some("")}, attachment.Filter{}, []string{}},
		"a date 1799":   {attachment.Question{CreatedAfter: some("1799-12-31")}, attachment.Filter{}, []string{"createdAfter invalid_date"}},
		"a blank after": {attachment.Question{CreatedAfter: some("")}, attachment.Filter{}, []string{"createdAfter invalid_date"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := test.q.Filter()
			if diff := cmp.Diff(test.told, codes(faults)); diff != "" {
				t.Error(diff)
			}
			if len(test.told) == 0 && !cmp.Equal(test.want, got) {
				t.Error(cmp.Diff(test.want, got))
			}
		})
	}
}

// Whatever case a text is written in, what it is compared as is the same.
func TestFoldingKnowsNoCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-ZäöüÄÖÜéÉßñÑçÇøØåÅжЖλΛσΣς%_ .0-9]{0,20}`).Draw(t, "text")
		plain, _ := attachment.New(attachment.Input{Title: &text}, now)
		upper, _ := attachment.New(attachment.Input{Title: some(strings.ToUpper(text))}, now)
		if plain.Folded() != upper.Folded() {
			t.Fatalf("%q is not found as %q", plain.Folded(), upper.Folded())
		}
	})
}
