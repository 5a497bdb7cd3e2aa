package linkage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

func TestTheDefaultModelIsSound(t *testing.T) {
	if faults := linkage.Default().Validate(); len(faults) > 0 {
		t.Fatal(cmp.Diff(nil, faults))
	}
}
