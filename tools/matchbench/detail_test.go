package matchbench_test

import "testing"

func TestDetail(t *testing.T) { x := load(); t.Log(x.index.Breakdown()); t.Log(x.index.Detail()) }
