package body_test

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

// told is the members of an object as a decoder that knows nothing of ours tells them: the last of each name, and which
// names come twice.
func told(data []byte) (members map[string]string, twice []string, err error) {
	decoder := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	if opening, err := decoder.ReadToken(); err != nil || opening.Kind() != '{' {
		return nil, nil, errors.Join(err, errors.New("no object"))
	}
	members = map[string]string{}
	for decoder.PeekKind() != '}' {
		name, err := decoder.ReadToken()
		if err != nil {
			return nil, nil, err
		}
		key := name.String()
		value, err := decoder.ReadValue()
		if err != nil {
			return nil, nil, err
		}
		if _, again := members[key]; again {
			twice = append(twice, key)
		}
		members[key] = string(value)
	}
	if _, err := decoder.ReadToken(); err != nil {
		return nil, nil, err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("more than one value")
	}
	return members, twice, nil
}

func agree(t *testing.T, data []byte) {
	t.Helper()
	o := &body.Object{}
	o.Read(data)
	var refused []string
	refusal := o.Err()
	if refusal != nil && fault.Of(refusal).Code == "invalid_request" {
		for _, f := range fault.Of(refusal).Fields {
			refused = append(refused, f.Field)
		}
		refusal = nil
	}
	members, twice, err := told(data)
	if (err != nil) != (refusal != nil) {
		t.Fatalf("%q: %v, and the decoder says %v", data, refusal, err)
	}
	seen := map[string]bool{}
	var names []string
	for _, name := range twice {
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	if diff := cmp.Diff(names, refused); diff != "" {
		t.Fatalf("%q: %s", data, diff)
	}
	for name, value := range members {
		m := o.Any(name)
		if value == "null" {
			value = ""
		}
		if string(m.Value) != value || !m.Present {
			t.Fatalf("%q: %q is %q, want %q", data, name, m.Value, value)
		}
	}
	if o.Any("\x00no such name").Present {
		t.Fatalf("%q has what it has not", data)
	}
}

func objects() []string {
	var many strings.Builder
	many.WriteString(`{"x":0`)
	for n := range 60 {
		many.WriteString(`,"n` + strconv.Itoa(n%50) + `": ` + strconv.Itoa(n))
	}
	return []string{
		`{}`, " {\t} \n", `{"a":1}`, ` { "a" : 1 , "b" : [ ] , "c" : { } } `, `{"a":"}","b":"\"","c":"\\","d":"\\\"]","e":["\"]",{"x":"}"}]}`,
		`{"a":-1.5e+10,"b":true,"c":false,"d":null}`, `{"a":[1,[2,[3,{"a":[]}]]],"":""}`, `{"\u0061":1,"a":2,"\"":3}`, `{"a":1 }`, "{\"a\":1\n,\"b\":2\r}",
		many.String() + `}`, many.String(), `{"a":1}}`, `[{}]`, `{"a"}`, `{"a":}`, `{,}`, `{"a":1,}`, `{"é\u00e9":"\ud83d\ude00"}`, `{"\ud83d\ude00":{"\\":1}}`, "\u00a0{}", `"{}"`, `1`, ``,
	}
}

func TestMembersAreWhatADecoderTells(t *testing.T) {
	t.Parallel()
	for _, text := range objects() {
		agree(t, []byte(text))
	}
}

func FuzzMembers(f *testing.F) {
	for _, text := range objects() {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}

func TestObjects(t *testing.T) {
	t.Parallel()
	o := read(`{"list": [ {"a": "x"} , {"b":1,"b":2}, 7, {} ], "none": [], "null": null, "text": "x", "long": [{},{},{}]}`)
	list := o.Objects("list", 4)
	if len(list) != 4 || list[2] != nil || list[0].Text("a", 9).Value != "x" || string(list[0].Raw()) != `{"a": "x"}` {
		t.Fatalf("%+v", list)
	}
	if o.Objects("none", 0) != nil || o.Objects("null", 0) != nil || o.Objects("absent", 0) != nil {
		t.Error("an empty list, null or nothing is some")
	}
	o.Objects("text", 9)
	o.Objects("long", 2)
	list[0].Text("a", 0)
	o.Within("list", 0, list[0], []fault.Field{{Field: "a", Code: "rule"}, {Field: "c", Code: "required", Message: "is required"}})
	o.Within("list", 1, list[1], nil)
	o.Within("list", 3, list[3], nil)
	var got []string
	for _, f := range fault.Of(o.Err()).Fields {
		got = append(got, f.Field+" "+f.Code)
	}
	want := []string{"list[2] invalid_type", "text invalid_type", "long too_many", "list[0].a too_long", "list[0].c required", "list[1].b duplicate_member"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
