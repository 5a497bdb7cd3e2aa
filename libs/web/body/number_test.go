package body_test

import (
	"math"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

func TestNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{`0`: 0, `-1.5`: -1.5, `2e1`: 20, `1e400`: math.Inf(1), `-1e400`: math.Inf(-1), `1e-400`: 0} {
		var o body.Object
		o.Read([]byte(`{"n": ` + text + `}`))
		if m := o.Number("n"); !m.Given() || m.Value != want || o.Err() != nil || o.Faulty("n") {
			t.Errorf("%s: %+v, %v", text, m, o.Err())
		}
	}
	for _, text := range []string{`"1"`, `true`, `[1]`, `{}`} {
		var o body.Object
		o.Read([]byte(`{"n": ` + text + `}`))
		if m := o.Number("n"); m.Present || o.Err() == nil || !o.Faulty("n") || o.Faulty("m") {
			t.Errorf("%s: %+v, %v", text, m, o.Err())
		}
	}
	var o body.Object
	o.Read([]byte(`{"n": null}`))
	if m := o.Number("n"); m.Given() || !m.Present || o.Number("m").Present || o.Err() != nil {
		t.Errorf("null is %+v", m)
	}
}
