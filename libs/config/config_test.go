package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/config"
)

type settings struct {
	config.Common
	Size int `env:"SIZE" envDefault:"7"`
}

func TestReadTakesValuesAndFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte("k:v\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MESH_KEY", "")
	t.Setenv("MESH_KEY_FILE", file)
	t.Setenv("SOMETHING_ELSE_FILE", "/nowhere") // nobody asked for it
	got, err := config.Read[settings]()
	if err != nil || got.MeshKey != "k:v" || got.Size != 7 || got.Environment != "demo" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestReadTellsAllThatIsWrong(t *testing.T) {
	t.Setenv("MESH_KEY", "")
	t.Setenv("SIZE", "many")
	t.Setenv("REDIS_URL_FILE", "/nowhere")
	_, err := config.Read[settings]()
	for _, name := range []string{"MESH_KEY", "Size", "REDIS_URL_FILE"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not told: %v", name, err)
		}
	}
}

func TestEnvironments(t *testing.T) {
	for name, ok := range map[string]bool{"demo": true, "production": true, "prod": false, "": false} {
		if err := (config.Common{Environment: name}).Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}
