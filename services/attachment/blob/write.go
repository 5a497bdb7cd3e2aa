package blob

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/sio"
	gocloud "gocloud.dev/blob"
)

// What clouds buffer of one upload: parts of S3's smallest size, two under way at a time.
const (
	partSize       = 5 << 20
	partsUnderWay  = 2
	copyBufferSize = 4 * packageSize
)

// Write keeps what content gives until io.EOF, and tells the id of the key that it is encrypted under; empty is none.
// With any other error of content's, or of its own, it keeps nothing. A file that it has written outlives a loss of
// power.
func (s *Store) Write(ctx context.Context, key string, content io.Reader) (keyID string, err error) {
	stored, err := s.seal(key, content)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var file *os.File
	w, err := s.bucket.NewWriter(ctx, key, &gocloud.WriterOptions{
		ContentType: "application/octet-stream", BufferSize: partSize, MaxConcurrency: partsUnderWay,
		BeforeWrite: func(as func(any) bool) error {
			if s.local && !as(&file) {
				return errors.New("the driver shows no file")
			}
			return nil
		},
	})
	if err != nil {
		return "", fmt.Errorf("open blob: %w", err)
	}
	if err = copyAll(w, stored); err == nil && s.local {
		err = file.Sync()
	}
	if err != nil {
		cancel() // so that closing gives up what was written
		_ = w.Close()
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("finish blob: %w", err)
	}
	if s.local {
		err = syncFolders(file.Name(), strings.Count(key, "/")+1)
	}
	return s.keys.first, err
}

// seal puts a new salt before the ciphertext.
func (s *Store) seal(key string, content io.Reader) (io.Reader, error) {
	if s.keys.first == "" {
		return content, nil
	}
	salt := make([]byte, saltSize)
	_, _ = rand.Read(salt)
	cipher, err := s.keys.cipher(s.keys.first, key, salt)
	if err != nil {
		return nil, err
	}
	sealed, err := sio.EncryptReader(content, cipher)
	if err != nil {
		return nil, fmt.Errorf("encrypt blob: %w", err)
	}
	return io.MultiReader(bytes.NewReader(salt), sealed), nil
}

// copyAll copies with a buffer of its own: what the two ends would choose is a MiB.
func copyAll(to io.Writer, from io.Reader) error {
	buffer := make([]byte, copyBufferSize)
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, buffer)
	return err
}

// syncFolders makes the names on the way to a file last: its folder's, and those above that may be as new.
func syncFolders(path string, levels int) error {
	for range levels {
		path = filepath.Dir(path)
		folder, err := os.Open(path) //nolint:gosec // the operator's folder, and keys that we made
		if err != nil {
			return err
		}
		err = folder.Sync()
		_ = folder.Close()
		if err != nil {
			return err
		}
	}
	return nil
}
