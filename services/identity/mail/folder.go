package mail

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	gomail "github.com/wneessen/go-mail"
)

// Folder is a Sender that writes files, for a machine without a mail server.
type Folder struct{ dir string }

// NewFolder makes the folder.
func NewFolder(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("MAIL_DIR: %w", err)
	}
	return &Folder{dir: dir}, nil
}

// Send writes one file, which appears whole.
func (f *Folder) Send(_ context.Context, id string, m *gomail.Msg) error {
	file, err := os.CreateTemp(f.dir, ".letter-*")
	if err != nil {
		return fmt.Errorf("MAIL_DIR: %w", err)
	}
	_, err = m.WriteTo(file)
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(f.dir, id+".eml"))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("MAIL_DIR: %w", err), os.Remove(file.Name()))
	}
	return nil
}
