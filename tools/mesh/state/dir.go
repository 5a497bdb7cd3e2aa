// Package state is the folder in which a local mesh keeps what must outlive it: secrets, places and progress. It knows
// what a file is and who may read it, and nothing of what the files mean.
package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Dir is a state folder that this process holds alone, until Close.
type Dir struct {
	path string
	lock *os.File
}

// Open makes the folder where it is missing and locks it. Two meshes cannot share a folder: the second gets an error
// that names the first.
func Open(path string) (*Dir, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	// Others may pass through, because the database server can run as another user; each file guards itself.
	if err := os.MkdirAll(path, 0o755); err != nil { //nolint:gosec // see above
		return nil, fmt.Errorf("state folder: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(path, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state folder: %w", err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(lock.Name())
		_ = lock.Close()
		return nil, fmt.Errorf("%s is in use by another mesh (process %s)", path, strings.TrimSpace(string(holder)))
	}
	if err := lock.Truncate(0); err == nil {
		_, _ = fmt.Fprintln(lock, os.Getpid()) // only tells people who holds it; the lock is the kernel's
	}
	return &Dir{path: path, lock: lock}, nil
}

// Close lets go of the folder.
func (d *Dir) Close() error { return d.lock.Close() }

// Path is the absolute path of something in the folder, or of the folder itself.
func (d *Dir) Path(names ...string) string {
	return filepath.Join(append([]string{d.path}, names...)...)
}

// Folder makes a folder inside, for this user only, and gives its path.
func (d *Dir) Folder(name string) (string, error) {
	path := d.Path(name)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", fmt.Errorf("state folder: %w", err)
	}
	return path, nil
}

// Read fills v from the JSON file called name; found is false, and v untouched, where there is none.
func (d *Dir) Read(name string, v any) (found bool, err error) {
	raw, err := os.ReadFile(d.Path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("state folder: %w", err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return false, fmt.Errorf("%s: %w", d.Path(name), err)
	}
	return true, nil
}

// Write puts v into the JSON file called name, readable by this user only. A reader, or a crash, sees the old file or
// the new one, never a part.
func (d *Dir) Write(name string, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	temporary, err := os.CreateTemp(d.path, "."+name+"-*") // made with mode 0600
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	_, err = temporary.Write(append(raw, '\n'))
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), d.Path(name))
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}

// Remove deletes the file called name, if it is there.
func (d *Dir) Remove(name string) error {
	if err := os.Remove(d.Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("state folder: %w", err)
	}
	return nil
}
