package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/run"
)

func TestSafely(t *testing.T) {
	t.Parallel()
	plain := errors.New("plain")
	for name, test := range map[string]struct {
		do   func() error
		want string // what the error begins with
	}{
		"nothing":         {func() error { return nil }, ""},
		"an error":        {func() error { return plain }, "plain"},
		"a panic":         {func() error { panic("a name") }, "panic: string at "},
		"a runtime error": {func() error { return errors.New(nth(nil, 1)) }, "panic: runtime.boundsError at "},
	} {
		err := run.Safely(test.do)
		if (err == nil) != (test.want == "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "a name") {
			t.Errorf("%s: the error shows the panic's value: %v", name, err)
		}
	}
	if err := run.Safely(func() error { panic("x") }); !strings.Contains(err.Error(), "safely_test.go") {
		t.Errorf("nobody can tell where: %v", err)
	}
}

func nth(list []string, n int) string { return list[n] }
