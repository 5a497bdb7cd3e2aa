package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// systemFolder is where root keeps what the server's user must reach when the state folder is out of its reach.
const systemFolder = "/var/lib/patient-mesh"

// account is the user that the server runs as. PostgreSQL refuses to run as root, so root lends it another: postgres
// where there is one, else nobody. nil is this process's own user.
func account() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil //nolint:nilnil // nil is the credential that changes nothing
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL does not run as root, and this system has neither a user postgres nor nobody")
}

// Place chooses the folder for a cluster of this name: beside the state where the server's user can get there, else,
// for root, under /var/lib, by a name that is always the same for the same state folder.
func Place(ctx context.Context, stateFolder string) (string, error) {
	owner, err := account()
	if err != nil {
		return "", err
	}
	beside := filepath.Join(stateFolder, "postgres")
	if owner == nil || reaches(ctx, owner, stateFolder) {
		return beside, nil
	}
	sum := sha256.Sum256([]byte(stateFolder))
	return filepath.Join(systemFolder, hex.EncodeToString(sum[:8])), nil
}

// reaches asks the kernel, by trying, whether a user may pass through a folder.
func reaches(ctx context.Context, who *syscall.Credential, folder string) bool {
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", `cd "$1"`, "sh", folder)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	return cmd.Run() == nil
}

// folderFor makes a folder that only the server's user can read.
func folderFor(path string, owner *syscall.Credential) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // the server's user passes through
		return err
	}
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	if owner == nil {
		return nil
	}
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}
