package image

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// parse gives the authorities that an image's etc folder names.
func parse(t *testing.T, file string) []*x509.Certificate {
	t.Helper()
	etc := t.TempDir()
	if err := os.MkdirAll(filepath.Join(etc, "ssl", "certs"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := system(etc, file); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(etc, "ssl", "certs", "ca-certificates.crt"))
	if err != nil {
		t.Fatal(err)
	}
	var list []*x509.Certificate
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, c)
	}
	return list
}

// Whom an image trusts is in the tree's own list, whatever the machine trusts that makes it.
func TestAuthoritiesAreNotTheMachines(t *testing.T) {
	t.Parallel()
	listed := map[string]bool{}
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			listed[string(root.Certificate)] = true
		}
	}
	list := parse(t, "")
	if len(list) != len(listed) || len(list) < 100 {
		t.Errorf("%d authorities, and %d are listed", len(list), len(listed))
	}
	known := false
	for _, c := range list {
		if !c.IsCA || !listed[string(c.Raw)] {
			t.Errorf("%s is no authority of the list", c.Subject)
		}
		known = known || c.Subject.CommonName == "ISRG Root X1"
	}
	if !known {
		t.Error("the authority that most of the web has is not among them")
	}
}

func TestAuthoritiesOfSomebodysOwn(t *testing.T) {
	t.Parallel()
	whole, err := authorities("")
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(whole)
	file := filepath.Join(t.TempDir(), "own.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	if list := parse(t, file); len(list) != 1 || !bytes.Equal(list[0].Raw, block.Bytes) {
		t.Errorf("%d authorities", len(list))
	}
	if err := os.WriteFile(file, []byte("none"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{file, file + ".gone"} {
		if _, err := authorities(bad); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}
