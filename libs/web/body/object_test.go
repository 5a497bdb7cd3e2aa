package body_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

func read(text string) *body.Object {
	o := &body.Object{}
	o.Read([]byte(text))
	return o
}

func code(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	return f.Code
}

func TestBrokenBodies(t *testing.T) {
	for text, want := range map[string]string{
		"": "body_required", " ": "body_required", "{": "malformed_json", "[]": "not_an_object", "null": "not_an_object", `"x"`: "not_an_object",
		`{} x`: "malformed_json", `{}{}`: "malformed_json", `{"a":1,"a":2}`: "invalid_request", `{"a":1,"\u0061":2}`: "invalid_request",
		"{\"a\":\"\xff\"}": "malformed_json", `{"a":"\ud800"}`: "malformed_json", "{\"a\":\"\x00\"}": "malformed_json", `{"a":01}`: "malformed_json",
		`{"a":{"b":1,"b":2}}`: "", `{"a":1,}`: "malformed_json", "{} ": "", "\t{}\n": "",
	} {
		if got := code(read(text).Err()); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestMembers(t *testing.T) {
	o := read(`{"text":"  Zoe\u0308 ","null":null,"number":7,"control":"a\u0007b","long":"ééé","yes":true,"list":["a"," b "],"mixed":["a",1],"nested":[["a"]]}`)
	if got := o.Text("text", 10); !got.Given() || got.Value != "Zoë" {
		t.Errorf("text: %+v", got)
	}
	if got := o.Text("absent", 10); got.Present {
		t.Errorf("absent: %+v", got)
	}
	if got := o.Text("null", 10); !got.Present || !got.Null || got.Pointer() != nil {
		t.Errorf("null: %+v", got)
	}
	if got := o.Text("long", 3); got.Value != "ééé" {
		t.Errorf("three code points are not over three: %+v", got)
	}
	if got := o.Bool("yes"); !got.Given() || !got.Value {
		t.Errorf("yes: %+v", got)
	}
	if got := o.Texts("list", 2, 10); !cmp.Equal(got.Value, []string{"a", "b"}) {
		t.Errorf("list: %+v", got)
	}
	if err := o.Err(); err != nil {
		t.Error(err)
	}
	o.Text("number", 10)
	o.Text("control", 10)
	o.Text("long", 2)
	o.Bool("text")
	o.Texts("mixed", 9, 9)
	o.Texts("nested", 9, 9)
	o.Texts("list", 1, 9)
	var f *fault.Error
	if !errors.As(o.Err(fault.Field{Field: "number", Code: "second"}, fault.Field{Field: "rule", Code: "broken"}), &f) {
		t.Fatal("no fault")
	}
	var got []string
	for _, field := range f.Fields {
		got = append(got, field.Field+" "+field.Code)
	}
	want := []string{
		"number invalid_type", "control control_character", "long too_long", "text invalid_type", "mixed invalid_type",
		"nested invalid_type", "list too_many", "rule broken",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever comes in, nothing panics, and what is kept is clean.
func TestAnyBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`\{"name":"[^"]*"\}`)).Draw(t, "body")
		o := read(text)
		if m := o.Text("name", body.NameLength); m.Given() && m.Value != strings.TrimSpace(m.Value) {
			t.Fatalf("%q is not trimmed", m.Value)
		}
		_ = o.Err()
	})
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"name":"Ana"}`))
	f.Add([]byte("{\"name\":\"\xff\"}"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		o := &body.Object{}
		o.Read(data)
		o.Text("name", body.NameLength)
		o.Texts("name", 3, 3)
		_ = o.Err()
	})
}
