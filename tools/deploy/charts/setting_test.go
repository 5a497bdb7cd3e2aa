package charts

import (
	"os"
	"path/filepath"
	"testing"
)

// What stands in a file of values reaches a program as it was written: there, numbers are floats, which --set does not show.
func TestSettingsAreAsWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "values.yaml")
	values := `{patient: {user: 1000660000, env: {CONTENT_LIMIT: 209715200, A_WORD: x, A_TEMPLATE: "{{ .Release.Name }}", A_TEXT: "1e3", A_TRUTH: true, ZERO: 0}},
		global: {env: {LARGE: 9007199254740991, BELOW: -5}}}`
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	list := render(t, example("production", "--values", file)...)
	data := one(t, list, "ConfigMap", "mesh-patient").at("data")
	for name, want := range map[string]string{
		"CONTENT_LIMIT": "209715200", "A_WORD": "x", "A_TEMPLATE": "mesh", "A_TEXT": "1e3", "A_TRUTH": "true", "ZERO": "0",
		"LARGE": "9007199254740991", "BELOW": "-5",
	} {
		if got := members(data)[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if user := one(t, list, "Deployment", "mesh-patient").at("spec", "template", "spec", "securityContext", "runAsUser"); user != 1000660000 {
		t.Errorf("runs as user %v", user)
	}
}
