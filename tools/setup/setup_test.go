package setup

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(folder, path)
		found[name] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// Secrets are made once, and each program is given its own: nobody who serves gets an owner's password.
func TestSecretsStay(t *testing.T) {
	t.Parallel()
	s := Setup{State: t.TempDir(), Secrets: t.TempDir(), Postgres: "postgres:5432", Redis: "redis:6379"}
	if err := s.Secret(); err != nil {
		t.Fatal(err)
	}
	before := contents(t, s.Secrets)
	if err := s.Secret(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, contents(t, s.Secrets)); diff != "" {
		t.Error("secrets change with each start")
	}
	seen := map[string]string{}
	for name, value := range before {
		if value == "" {
			t.Errorf("%s is empty", name)
		}
		if strings.Contains(value, "_owner:") && !strings.HasPrefix(name, "owner/") {
			t.Errorf("%s tells of an owner", name)
		}
		if strings.HasSuffix(name, "/database_url") || strings.HasPrefix(name, "owner/") {
			if other := seen[value]; other != "" {
				t.Errorf("%s is %s", name, other)
			}
			seen[value] = name
		}
	}
	if before["gateway/mesh_key"] != before["matching/mesh_key"] || before["gateway/database_url"] != "" || before["patient/redis_url"] != "" {
		t.Error("programs have what they do not need, or lack what they share")
	}
}

// A start that was ended while it wrote leaves half a file that nobody may write. The next one does not open it: root, whom
// a mode does not stop here, would write into what bears another name, too.
func TestHalfAFileIsInNobodysWay(t *testing.T) {
	t.Parallel()
	s := Setup{Secrets: t.TempDir()}
	other, left := filepath.Join(s.Secrets, "other"), filepath.Join(s.Secrets, "key.new")
	if err := errors.Join(os.WriteFile(other, []byte("half"), 0o444), os.Link(other, left)); err != nil {
		t.Fatal(err)
	}
	if err := s.lay(map[string]string{"key": "whole"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"key": "whole", "other": "half"}, contents(t, s.Secrets)); diff != "" {
		t.Error(diff)
	}
}

// Whoever trusts the certificate can speak TLS with who has the key, under that name only.
func TestAuthority(t *testing.T) {
	t.Parallel()
	a, err := newAuthority("mailpit", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair([]byte(a.Certificate), []byte(a.Key))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(a.Certificate))
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "mailpit"}); err != nil {
		t.Error(err)
	}
	var wrong x509.HostnameError
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "other"}); !errors.As(err, &wrong) {
		t.Errorf("another name: %v", err)
	}
}
