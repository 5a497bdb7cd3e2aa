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
	"time"

	"github.com/minio/sio"
	gocloud "gocloud.dev/blob"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// What a cloud's driver buffers of one write: parts of S3's smallest size, and up to 16 MiB before S3 is told of parts
// at all. Who comes while so many are under way waits a little, and so does what it sends.
const (
	partSize        = 5 << 20
	partsUnderWay   = 2
	writesUnderWay  = 16
	copyBufferSize  = 4 * packageSize
	octets          = "application/octet-stream" // what it really is, the document knows
	longestAbortion = 10 * time.Second
	longestWait     = 10 * time.Second // less than a sender waits for somebody who takes nothing
)

// Write keeps what content gives until io.EOF, and tells the id of the key that it is encrypted under; empty is none.
// With any other error of content's, or of its own, it keeps nothing. A file that it has written outlives a loss of
// power.
func (s *Store) Write(ctx context.Context, key string, content io.Reader) (keyID string, err error) {
	stored, err := s.seal(key, content)
	if err != nil {
		return "", err
	}
	switch s.scheme {
	case folder:
		err = s.toFile(ctx, key, stored)
	case s3:
		err = s.toS3(ctx, key, stored)
	default:
		err = s.toCloud(ctx, key, stored)
	}
	if err != nil {
		return "", fault.Away(err, away)
	}
	return s.keys.first, nil
}

// toFile has the bytes on the disk before they get their name, and the name before it returns.
func (s *Store) toFile(ctx context.Context, key string, content io.Reader) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var file *os.File
	w, err := s.bucket.NewWriter(ctx, key, &gocloud.WriterOptions{ContentType: octets, BeforeWrite: func(as func(any) bool) error {
		if !as(&file) {
			return errors.New("the driver shows no file")
		}
		return nil
	}})
	if err != nil {
		return err
	}
	if err = copyAll(w, content); err == nil {
		err = file.Sync()
	}
	if err != nil {
		cancel() // so that closing gives up what was written
		_ = w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return syncFolders(file.Name(), strings.Count(key, "/")+1)
}

func (s *Store) toCloud(ctx context.Context, key string, content io.Reader) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.bucket.NewWriter(ctx, key, buffered())
	if err != nil {
		return err
	}
	if err := copyAll(w, content); err != nil {
		cancel() // so that closing gives up what was written
		_ = w.Close()
		return err
	}
	return w.Close()
}

// toS3 lets the content break off rather than the context: then the driver takes back the parts that it has sent, which
// nobody would see and everybody pay for.
func (s *Store) toS3(ctx context.Context, key string, content io.Reader) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.leave()
	live, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(longestAbortion, cancel) })()
	return s.bucket.Upload(live, key, bound{ctx, content}, buffered())
}

func buffered() *gocloud.WriterOptions {
	return &gocloud.WriterOptions{ContentType: octets, BufferSize: partSize, MaxConcurrency: partsUnderWay}
}

// bound is a reader that breaks off when its context has ended.
type bound struct {
	ctx     context.Context //nolint:containedctx // io.Reader takes none
	content io.Reader
}

func (b bound) Read(p []byte) (int, error) {
	n, err := b.content.Read(p)
	if b.ctx.Err() != nil {
		return 0, b.ctx.Err()
	}
	return n, err
}

var errFull = errors.New("too many writes are under way")

// take waits for one of the places of writes to a cloud. It gives up before whoever sends the bytes does, who would hold
// the silence against this service.
func (s *Store) take(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, longestWait, errFull)
	defer cancel()
	select {
	case s.writing <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Store) leave() { <-s.writing }

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
