package gateway

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/gateway/docs"
	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// The table says of every operation what its service's document says, and neither has one that the other lacks.
func TestTableAgreesWithTheDocument(t *testing.T) {
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(docs.OpenAPI, &document); err != nil {
		t.Fatal(err)
	}
	var described, routed []string
	for path, item := range document.Paths {
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			var operation struct {
				Permission string           `json:"x-permission"`
				Public     bool             `json:"x-public"`
				Security   []map[string]any `json:"security"`
			}
			if err := json.Unmarshal(raw, &operation); err != nil {
				t.Fatal(err)
			}
			need := operation.Permission
			if operation.Public {
				need = "public"
			} else if _, known := principal.ParsePermission(need); !known && need != "any" {
				t.Errorf("%s %s: there is no permission %q", method, path, need)
			}
			described = append(described, fmt.Sprint(strings.ToUpper(method), " ", path, " ", need))
		}
	}
	for _, r := range route.Table() {
		need := r.Need.String()
		switch {
		case r.Page:
			continue
		case r.Public:
			need = "public"
		case r.Need == 0:
			need = "any"
		}
		routed = append(routed, fmt.Sprint(r.Method, " ", r.Pattern, " ", need))
	}
	slices.Sort(described)
	slices.Sort(routed)
	if diff := cmp.Diff(described, routed); diff != "" {
		t.Error("document (-) and table (+) disagree:\n", diff)
	}
}
