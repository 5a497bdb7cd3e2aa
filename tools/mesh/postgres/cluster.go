package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/patient-mesh/patient-mesh/tools/mesh/supervise"
)

const (
	superuser      = "mesh"
	maxConnections = 300 // six programs with a pool each, or many tests at once
)

// Cluster is a private PostgreSQL server: its data and how it runs.
type Cluster struct {
	Binaries Binaries
	Root     string // data/ is inside
	Port     int    // on 127.0.0.1
	Password string // the superuser's

	// Throwaway trades safety for speed: a crash of the machine loses the cluster. For tests.
	Throwaway bool
}

func (c Cluster) data() string { return filepath.Join(c.Root, "data") }

// Exists reports whether the cluster has been made.
func (c Cluster) Exists() bool {
	_, err := os.Stat(filepath.Join(c.data(), "PG_VERSION"))
	return err == nil
}

// MajorAt is the version that the cluster in a folder was made by; 0 when there is none.
func MajorAt(root string) int {
	raw, err := os.ReadFile(filepath.Join(root, "data", "PG_VERSION"))
	if err != nil {
		return 0
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return major
}

// URL is the superuser's connection to a database.
func (c Cluster) URL(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(superuser, c.Password),
		Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)), Path: "/" + database, RawQuery: "sslmode=disable",
	}
	return u.String()
}

// Make runs initdb. What an earlier, broken-off Make left is cleared away first.
func (c Cluster) Make(ctx context.Context) error {
	owner, err := account()
	if err != nil {
		return err
	}
	partial, password := filepath.Join(c.Root, "partial"), filepath.Join(c.Root, "password")
	if err := errors.Join(folderFor(c.Root, owner), os.RemoveAll(partial), os.RemoveAll(password), folderFor(partial, owner)); err != nil {
		return fmt.Errorf("make the PostgreSQL cluster: %w", err)
	}
	defer func() { _ = os.Remove(password) }()
	if err := os.WriteFile(password, []byte(c.Password+"\n"), 0o600); err != nil {
		return fmt.Errorf("make the PostgreSQL cluster: %w", err)
	}
	if owner != nil {
		if err := os.Chown(password, int(owner.Uid), int(owner.Gid)); err != nil {
			return fmt.Errorf("make the PostgreSQL cluster: %w", err)
		}
	}
	// C.UTF-8 sorts by code point, the same everywhere, and still knows the case of every letter. Where the system
	// lacks it, plain C sorts the same.
	if err = c.initdb(ctx, partial, password, owner, "--locale=C.UTF-8"); err != nil {
		if err = c.initdb(ctx, partial, password, owner, "--no-locale"); err != nil {
			return err
		}
	}
	if err := os.Rename(partial, c.data()); err != nil {
		return fmt.Errorf("make the PostgreSQL cluster: %w", err)
	}
	return nil
}

func (c Cluster) initdb(ctx context.Context, data, password string, owner *syscall.Credential, locale string) error {
	args := []string{"-D", data, "-U", superuser, "--auth=scram-sha-256", "--pwfile=" + password, "--encoding=UTF8", locale}
	if c.Throwaway {
		args = append(args, "--no-sync")
	}
	cmd := exec.CommandContext(ctx, c.Binaries.tool("initdb"), args...)
	cmd.Dir, cmd.Env = c.Root, environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: owner, Setpgid: true}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("initdb: %w: %s", err, strings.TrimSpace(out.String()))
	}
	return nil
}

// Program is the server, ready to be supervised.
func (c Cluster) Program() (supervise.Program, error) {
	owner, err := account()
	if err != nil {
		return supervise.Program{}, err
	}
	settings := []string{
		"listen_addresses=127.0.0.1", "port=" + strconv.Itoa(c.Port), "unix_socket_directories=",
		"max_connections=" + strconv.Itoa(maxConnections), "password_encryption=scram-sha-256",
		"log_min_error_statement=panic", // statements carry patients' data: they stay out of the log
		"log_error_verbosity=terse",     // and so does DETAIL, which shows rows
	}
	death := syscall.SIGINT
	if c.Throwaway {
		settings = append(settings, "fsync=off", "full_page_writes=off", "synchronous_commit=off", "wal_level=minimal", "max_wal_senders=0")
		death = syscall.SIGQUIT
	}
	args := []string{"-D", c.data()}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	return supervise.Program{
		Name: "postgres", Path: c.Binaries.tool("postgres"), Args: args, Env: environment(), Dir: c.Root, Account: owner,
		StopSignal:  syscall.SIGINT, // "fast": sessions are ended, the cluster is closed cleanly
		DeathSignal: death, StopTimeout: 30 * time.Second,
		Before: c.Recover,
	}, nil
}

// Recover stops a server that an earlier mesh left on this cluster, and clears its lock file when no such server is
// there (its process number may belong to somebody else by now).
func (c Cluster) Recover(ctx context.Context) error {
	lock := filepath.Join(c.data(), "postmaster.pid")
	raw, err := os.ReadFile(lock)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("recover the PostgreSQL cluster: %w", err)
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err == nil && filepath.Base(supervise.CommandOf(ctx, pid)) == "postgres" && c.serves(pid) {
		_ = syscall.Kill(pid, syscall.SIGINT)
		if !supervise.Gone(ctx, pid, 20*time.Second) {
			return fmt.Errorf("an earlier PostgreSQL (process %d) does not stop", pid)
		}
	}
	if err := os.Remove(lock); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("recover the PostgreSQL cluster: %w", err)
	}
	return nil
}

// serves reports whether the process is the server of this cluster. Where there is no /proc to ask, the name must do.
func (c Cluster) serves(pid int) bool {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return err != nil || bytes.Contains(raw, []byte(c.data()))
}

// Await returns when the server answers, or with the last error when ctx ends.
func Await(ctx context.Context, adminURL string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := pgx.Connect(ctx, adminURL)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("PostgreSQL does not answer: %w", err)
		case <-tick.C:
		}
	}
}

func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "TZ=UTC", "PGTZ=UTC"}
}
