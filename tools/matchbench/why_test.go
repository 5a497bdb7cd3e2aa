package matchbench_test

import (
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
	"github.com/patient-mesh/patient-mesh/tools/matchbench"
)

func TestWhy(t *testing.T) {
	x := load()
	m := linkage.Default()
	n := 0
	for _, kind := range []string{"all", "names"} {
		n = 0
		for _, d := range x.asked {
			if kind == "names" {
				d = matchbench.Names(d)
			}
			q := index.Query{Person: d, Model: m, Limit: 20, MinScore: .5}
			f := x.index.Find(q)
			if f.Truncated {
				t.Logf("%s %+v\n%s", kind, d, x.index.Why(q))
				n++
				if n > 2 {
					break
				}
			}
		}
	}
}
