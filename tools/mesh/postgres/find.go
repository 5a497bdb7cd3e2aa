// Package postgres makes and runs a private PostgreSQL server: it finds one on the machine, or gets one there, makes a
// cluster that only we know the password of, and hands out the program to supervise. It knows nothing of what is in it.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/patient-mesh/patient-mesh/tools/mesh/debian"
)

// oldest is the lowest major version that the services' SQL runs on.
const oldest = 15

// Binaries is a folder with initdb and postgres of one version.
type Binaries struct {
	Folder string
	Major  int
}

// errNone is what the user reads when every way to a server has failed.
var errNone = errors.New("no PostgreSQL 15 or newer was found and none could be installed: " +
	"install one (Debian and Ubuntu: apt-get install postgresql; macOS: brew install postgresql@17), or name a server's superuser in DATABASE_URL")

// Find looks for the newest usable server on this machine, and gets one where there is none: Debian's package, when we
// may install it, else a download that only this user sees. A cluster that exists can be opened by its own major version
// only: that one is looked for when major is not 0. Progress goes to say.
func Find(ctx context.Context, major int, say func(string)) (Binaries, error) {
	if found, ok := installed(ctx, major); ok {
		return found, nil
	}
	if major != 0 {
		return Binaries{}, fmt.Errorf("the private database was made by PostgreSQL %d, which is no longer on this machine: install it again, or move the state folder away to begin anew", major)
	}
	debianErr := debian.Install(ctx, "PostgreSQL", debianScript, say)
	if found, ok := installed(ctx, major); ok {
		return found, nil
	}
	found, downloadErr := download(ctx, say)
	if downloadErr != nil {
		return Binaries{}, errors.Join(errNone, debianErr, downloadErr)
	}
	return found, nil
}

// installed looks in PATH and in the places where distributions put servers, and takes the newest, or the one wanted.
func installed(ctx context.Context, want int) (best Binaries, ok bool) {
	patterns := []string{
		"/usr/lib/postgresql/*/bin",                          // Debian, Ubuntu
		"/usr/pgsql-*/bin",                                   // PGDG's packages for Red Hat
		"/usr/libexec/postgresql*",                           // Alpine
		"/opt/homebrew/opt/postgresql*/bin",                  // macOS on ARM
		"/usr/local/opt/postgresql*/bin",                     // macOS on Intel
		"/Applications/Postgres.app/Contents/Versions/*/bin", // Postgres.app
		filepath.Join(downloadFolder(), "*", "bin"),          // what download got before
	}
	var folders []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			folders = append(folders, filepath.Dir(path))
		}
	}
	for _, pattern := range patterns {
		matches, _ := filepath.Glob(pattern)
		folders = append(folders, matches...)
	}
	for _, folder := range folders {
		if major := versionOf(ctx, folder); major >= oldest && major > best.Major && (want == 0 || major == want) {
			best = Binaries{Folder: folder, Major: major}
		}
	}
	return best, best.Major > 0
}

var versionText = regexp.MustCompile(`\(PostgreSQL\) (\d+)`)

// versionOf is the major version of the server in a folder; 0 when it is not whole.
func versionOf(ctx context.Context, folder string) int {
	if info, err := os.Stat(filepath.Join(folder, "initdb")); err != nil || info.IsDir() {
		return 0
	}
	out, err := exec.CommandContext(ctx, filepath.Join(folder, "postgres"), "--version").Output()
	if err != nil {
		return 0
	}
	m := versionText.FindSubmatch(out)
	if m == nil {
		return 0
	}
	major, err := strconv.Atoi(string(m[1]))
	if err != nil {
		return 0
	}
	return major
}

func (b Binaries) tool(name string) string { return filepath.Join(b.Folder, name) }

func (b Binaries) String() string { return fmt.Sprintf("PostgreSQL %d (%s)", b.Major, b.Folder) }
