package blob

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/sio"
	"gocloud.dev/gcerrors"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// The layout of an encrypted blob: the salt, then the packages.
const (
	saltSize    = 32
	payloadSize = 64 << 10
	packageSize = payloadSize + 32
)

// ErrDamaged is the failure of a blob that is not there any more as it was written: gone, of another size, or changed.
var ErrDamaged = errors.New("the blob is not what was written")

// Read gives what was written under a key. The id of its encryption key and its size are the ones of that time. Nothing
// is fetched before the first Read, and after a Seek only what lies behind it. The context holds as long as it is read.
func (s *Store) Read(ctx context.Context, key, keyID string, size int64) (io.ReadSeekCloser, error) {
	var from source = plain{s, key, size}
	if keyID != "" {
		if _, err := s.keys.master(keyID); err != nil { // told before the first byte is answered
			return nil, err
		}
		from = &sealed{store: s, key: key, keyID: keyID, size: size}
	}
	return &reader{ctx: ctx, from: from, size: size}, nil
}

// source opens a blob at a place in its plain text.
type source interface {
	open(ctx context.Context, offset int64) (io.ReadCloser, error)
}

// reader reads a source from wherever it was sought to.
type reader struct {
	ctx     context.Context //nolint:containedctx // io.Reader takes none
	from    source
	size    int64
	offset  int64
	current io.ReadCloser // stands at offset; nil: to be opened there
	err     error         // what went wrong goes on being wrong
}

func (r *reader) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += r.offset
	case io.SeekEnd:
		offset += r.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the start")
	}
	if offset != r.offset {
		r.drop()
		r.offset = offset
	}
	return offset, nil
}

func (r *reader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	if r.offset >= r.size {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if r.current == nil {
		current, err := r.from.open(r.ctx, r.offset)
		if err != nil {
			r.err = unreadable(err)
			return 0, r.err
		}
		r.current = current
	}
	n, err := r.current.Read(p[:min(int64(len(p)), r.size-r.offset)])
	r.offset += int64(n)
	switch {
	case errors.Is(err, io.EOF) && r.offset < r.size:
		r.err = unreadable(io.ErrUnexpectedEOF)
	case err != nil && !errors.Is(err, io.EOF):
		r.err = unreadable(err)
	}
	return n, r.err
}

// unreadable tells a blob that is damaged from a bucket that cannot be reached.
func unreadable(err error) error {
	var changed sio.Error
	switch {
	case errors.Is(err, ErrDamaged):
		return err
	case errors.As(err, &changed), gcerrors.Code(err) == gcerrors.NotFound:
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fault.Away(err, away)
}

func (r *reader) drop() {
	if r.current != nil {
		_ = r.current.Close() // it was only read
		r.current = nil
	}
}

// Close ends reading.
func (r *reader) Close() error {
	r.drop()
	r.err = errors.New("read after close")
	return nil
}

// plain is a blob that is not encrypted.
type plain struct {
	store *Store
	key   string
	size  int64
}

func (b plain) open(ctx context.Context, offset int64) (io.ReadCloser, error) {
	return b.store.from(ctx, b.key, offset, b.size)
}

// from opens a blob at a place, if it is as long as it must be.
func (s *Store) from(ctx context.Context, key string, offset, size int64) (io.ReadCloser, error) {
	r, err := s.bucket.NewRangeReader(ctx, key, offset, -1, nil)
	if err != nil {
		return nil, err
	}
	if r.Size() != size {
		_ = r.Close()
		return nil, fmt.Errorf("%w: %d bytes instead of %d", ErrDamaged, r.Size(), size)
	}
	return r, nil
}

// sealed is an encrypted blob.
type sealed struct {
	store      *Store
	key, keyID string
	size       int64
	cipher     *sio.Config // nil: the salt was not read yet
}

// stored is how long the blob is.
func (b *sealed) stored() int64 {
	packages := (b.size + payloadSize - 1) / payloadSize
	return saltSize + b.size + packages*(packageSize-payloadSize)
}

// open fetches the packages from the one in which the place lies, and decrypts up to it.
func (b *sealed) open(ctx context.Context, offset int64) (io.ReadCloser, error) {
	first := offset / payloadSize
	start := saltSize + first*packageSize
	if first == 0 && b.cipher == nil {
		start = 0 // the salt stands before it
	}
	if start > 0 && b.cipher == nil {
		if err := b.fetchSalt(ctx); err != nil {
			return nil, err
		}
	}
	raw, err := b.store.from(ctx, b.key, start, b.stored())
	if err != nil {
		return nil, err
	}
	plain, err := b.decrypt(raw, start == 0, first, offset%payloadSize)
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{plain, raw}, nil
}

func (b *sealed) fetchSalt(ctx context.Context) error {
	head, err := b.store.bucket.NewRangeReader(ctx, b.key, 0, saltSize, nil)
	if err != nil {
		return err
	}
	defer head.Close() //nolint:errcheck // it was only read
	return b.salt(head)
}

// salt makes the cipher of the salt that comes first.
func (b *sealed) salt(from io.Reader) error {
	salt := make([]byte, saltSize)
	if _, err := io.ReadFull(from, salt); err != nil {
		return err
	}
	cipher, err := b.store.keys.cipher(b.keyID, b.key, salt)
	b.cipher = &cipher
	return err
}

// decrypt reads packages from one on, and leaves out the bytes before the place.
func (b *sealed) decrypt(raw io.Reader, salted bool, first, skip int64) (io.Reader, error) {
	if salted {
		if err := b.salt(raw); err != nil {
			return nil, err
		}
	}
	cipher := *b.cipher
	cipher.SequenceNumber = uint32(first) //nolint:gosec // 2^32 packages are more than any limit lets in
	plain, err := sio.DecryptReader(raw, cipher)
	if err == nil {
		_, err = io.CopyN(io.Discard, plain, skip)
	}
	return plain, err
}
