package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	t.Setenv("SHUTDOWN_LIMIT", "10m")
	got, err := config.Read[settings]()
	if err != nil || got.MeshKey != "k:v" || got.Size != 7 || got.Environment != "demo" || got.ShutdownLimit != 10*time.Minute {
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
		if err := (config.Common{Environment: name, Weight: 1}).Validate(); (err == nil) != ok {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestWeights(t *testing.T) {
	for weight, ok := range map[int]bool{1: true, 65535: true, 0: false, -1: false, 65536: false} {
		if err := (config.Common{Environment: "demo", Weight: weight}).Validate(); (err == nil) != ok {
			t.Errorf("%d: %v", weight, err)
		}
	}
}

// What libraries read by themselves comes from files like everything else, and what is set stays.
func TestReadTakesFilesForLibraries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "value")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("MESH_KEY", "k:v")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS_FILE", file)
	t.Setenv("AWS_SECRET_ACCESS_KEY", "set")
	t.Setenv("AWS_SECRET_ACCESS_KEY_FILE", file)
	if _, err := config.Read[settings](); err != nil {
		t.Fatal(err)
	}
	if got := os.Getenv("OTEL_EXPORTER_OTLP_HEADERS"); got != "from a file" {
		t.Errorf("the headers are %q", got)
	}
	if got := os.Getenv("AWS_SECRET_ACCESS_KEY"); got != "set" {
		t.Errorf("the key is %q", got)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT_FILE", "/nowhere")
	if _, err := config.Read[settings](); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT_FILE") {
		t.Errorf("a missing file: %v", err)
	}
}
