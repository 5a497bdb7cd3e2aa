package body_test

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

func TestStructure(t *testing.T) {
	t.Parallel()
	var o body.Object
	o.Read([]byte(`{"a": {"b": [1]}, "n": null, "t": "x", "long": {"b": "0123456789"}}`))
	if m := o.Structure("a", 20); !m.Given() || string(m.Value) != `{"b": [1]}` {
		t.Errorf("%+v", m)
	}
	if o.Structure("n", 20).Given() || o.Structure("absent", 20).Present || o.Err() != nil {
		t.Error("null and absent are not told apart, or are faults")
	}
	if o.Structure("t", 20).Present || o.Structure("long", 10).Present || o.Err() == nil {
		t.Error("a text, or an object that is too long, is taken")
	}
}
