package seal_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/patient-mesh/patient-mesh/services/identity/seal"
)

func sealer(t *testing.T, fill byte) *seal.Sealer {
	t.Helper()
	s, err := seal.New(bytes.Repeat([]byte{fill}, 32), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSealedOpensAgain(t *testing.T) {
	t.Parallel()
	s := sealer(t, 1)
	sealed, err := s.Seal([]byte("secret"), "table/1")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, []byte("secret")) {
		t.Error("the secret shows")
	}
	if plain, err := s.Open(sealed, "table/1"); err != nil || string(plain) != "secret" {
		t.Errorf("opened %q, %v", plain, err)
	}
	again, err := s.Seal([]byte("secret"), "table/1")
	if err != nil || bytes.Equal(again, sealed) {
		t.Errorf("sealed alike twice, %v", err)
	}
}

func TestWhatDoesNotOpen(t *testing.T) {
	t.Parallel()
	s := sealer(t, 1)
	sealed, err := s.Seal([]byte("secret"), "table/1")
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"another row":     func() ([]byte, error) { return s.Open(sealed, "table/2") },
		"another key":     func() ([]byte, error) { return sealer(t, 2).Open(sealed, "table/1") },
		"a changed byte":  func() ([]byte, error) { return s.Open(changed, "table/1") },
		"half of it":      func() ([]byte, error) { return s.Open(sealed[:10], "table/1") },
		"nothing":         func() ([]byte, error) { return s.Open(nil, "table/1") },
		"another version": func() ([]byte, error) { return s.Open(append([]byte{9}, sealed[1:]...), "table/1") },
	} {
		if plain, err := open(); !errors.Is(err, seal.ErrSealed) || plain != nil {
			t.Errorf("%s: %q, %v", name, plain, err)
		}
	}
}
