package body_test

import (
	"encoding/json"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

func TestAny(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		`1.0`, `1e400`, `-0`, `true`, `""`, `"\u00e9 é \ud83d\ude00"`, "[ 1,\n2 ]", `{"b":1,"a":2,"b":{"x":1,"x":2}}`,
	} {
		var o body.Object
		o.Read([]byte(`{"before": 1, "a" : ` + value + ` , "after": 2}`))
		if m := o.Any("a"); !m.Given() || string(m.Value) != value || o.Err() != nil {
			t.Errorf("%s: %s, %v", value, m.Value, o.Err())
		}
	}
	var o body.Object
	o.Read([]byte(`{"n": null}`))
	if m := o.Any("n"); m.Given() || !m.Present {
		t.Errorf("null is %+v", m)
	}
	if m := o.Any("absent"); m.Present || o.Err() != nil {
		t.Errorf("what is absent is %+v, %v", m, o.Err())
	}
}

func TestRawIsWhatItSays(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal(map[string]body.Raw{"a": body.Raw(`{"b": 1.0}`)})
	if err != nil || string(raw) != `{"a":{"b":1.0}}` {
		t.Errorf("%s, %v", raw, err)
	}
}

func TestVerbatim(t *testing.T) {
	t.Parallel()
	var o body.Object
	o.Read([]byte(`{"a" : " \u00e9\"\ud83d\ude00\n " , "n": null, "number": 7, "empty": "", "long": "\u00e9\u00e9\u00e9"}`))
	if m := o.Verbatim("a", 6); string(m.Value) != `" \u00e9\"\ud83d\ude00\n "` {
		t.Errorf("%s", m.Value)
	}
	if m := o.Verbatim("empty", 0); string(m.Value) != `""` || o.Verbatim("n", 1).Given() || o.Verbatim("absent", 1).Present || o.Err() != nil {
		t.Errorf("%s, %v", m.Value, o.Err())
	}
	if o.Verbatim("number", 9).Present || o.Verbatim("long", 2).Present || len(fault.Of(o.Err()).Fields) != 2 {
		t.Error("a number, or a text that is too long, is taken")
	}
}
