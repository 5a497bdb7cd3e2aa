// Package blobtest is what every bucket must do, whoever keeps it. It is imported by tests only.
package blobtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"
	"gocloud.dev/gcerrors"

	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
)

// Open opens the bucket under test with keys; every time it is the same bucket.
type Open func(t *testing.T, keys blob.Keys) *blob.Store

// Keys makes keys of ids; equal ids give equal keys.
func Keys(t testing.TB, ids ...string) blob.Keys {
	t.Helper()
	pairs := make([]string, len(ids))
	for i, id := range ids {
		sum := sha256.Sum256([]byte(id))
		pairs[i] = id + ":" + base64.StdEncoding.EncodeToString(sum[:])
	}
	keys, err := blob.ParseKeys(strings.Join(pairs, ","))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// Name makes a key such as documents have.
func Name() string { return uuid.NewString() + "/" + uuid.NewString() + "/" + uuid.NewString() }

// Bytes makes as many bytes, which look like chance and are the same each time.
func Bytes(n int) []byte {
	out := make([]byte, n)
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(out)
	return out
}

// Write writes content and gives its name and the id of its key.
func Write(t testing.TB, s *blob.Store, content []byte) (name, keyID string) {
	t.Helper()
	name = Name()
	keyID, err := s.Write(t.Context(), name, bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	return name, keyID
}

// Read reads all of a blob.
func Read(t testing.TB, s *blob.Store, name, keyID string, size int) ([]byte, error) {
	t.Helper()
	r, err := s.Read(t.Context(), name, keyID, int64(size))
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	return io.ReadAll(r)
}

// Run holds a bucket to all of it, with and without encryption.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, keys := range map[string]blob.Keys{"plain": Keys(t), "encrypted": Keys(t, "k1")} {
		t.Run(name, func(t *testing.T) {
			s := open(t, keys)
			t.Run("what is written reads back", func(t *testing.T) { readsBack(t, s) })
			t.Run("from any place", func(t *testing.T) { seeks(t, s) })
			t.Run("nothing broken off is kept", func(t *testing.T) { brokenOff(t, s) })
			t.Run("nothing unfinished is read", func(t *testing.T) { unfinished(t, s) })
			t.Run("what is deleted is gone", func(t *testing.T) { deletes(t, s) })
			t.Run("many at once", func(t *testing.T) { manyAtOnce(t, s) })
			t.Run("ready", func(t *testing.T) {
				if err := s.Ready(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

const pack = 64 << 10

func readsBack(t *testing.T, s *blob.Store) {
	t.Helper()
	for _, size := range []int{0, 1, 31, 32, 33, pack - 1, pack, pack + 1, 3*pack - 1, 3 * pack, 20<<20 + 7} {
		want := Bytes(size)
		name, keyID := Write(t, s, want)
		got, err := Read(t, s, name, keyID, size)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: read %d, equal %v, %v", size, len(got), bytes.Equal(got, want), err)
		}
	}
}

// seeks reads a little from each side of every boundary between packages.
func seeks(t *testing.T, s *blob.Store) {
	t.Helper()
	want := Bytes(3*pack + 100)
	name, keyID := Write(t, s, want)
	r, err := s.Read(t.Context(), name, keyID, int64(len(want)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, boundary := range []int{len(want), 3 * pack, 2 * pack, pack, 0, pack, 2*pack + 5, len(want) - 1} {
		for from := max(0, boundary-2); from <= min(len(want), boundary+2); from++ {
			for _, length := range []int{1, 3, pack, pack + 3} {
				if _, err := r.Seek(int64(from), io.SeekStart); err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(io.LimitReader(r, int64(length)))
				if err != nil || !bytes.Equal(got, want[from:min(len(want), from+length)]) {
					t.Errorf("%d from %d: read %d, %v", length, from, len(got), err)
				}
			}
		}
	}
	if end, err := r.Seek(-4, io.SeekEnd); err != nil || end != int64(len(want)-4) {
		t.Errorf("seek to the end: %d, %v", end, err)
	}
	if at, err := r.Seek(2, io.SeekCurrent); err != nil || at != int64(len(want)-2) {
		t.Errorf("seek onward: %d, %v", at, err)
	}
	if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(rest, want[len(want)-2:]) {
		t.Errorf("read %x, %v", rest, err)
	}
	if _, err := r.Seek(-1, io.SeekStart); err == nil {
		t.Error("sought to before the start")
	}
	if _, err := Read(t, s, Name(), keyID, 5); err == nil {
		t.Error("read what is not there")
	}
	if _, err := Read(t, s, name, keyID, len(want)-1); !errors.Is(err, blob.ErrDamaged) {
		t.Errorf("another size: %v", err)
	}
}

var errBroken = errors.New("broken off")

func brokenOff(t *testing.T, s *blob.Store) {
	t.Helper()
	for _, size := range []int{0, 1, pack, 20 << 20} { // S3's driver sends parts from 16 MiB on
		name := Name()
		_, err := s.Write(t.Context(), name, io.MultiReader(bytes.NewReader(Bytes(size)), iotest.ErrReader(errBroken)))
		if !errors.Is(err, errBroken) {
			t.Errorf("after %d bytes: %v", size, err)
		}
		absent(t, s, name)

		ctx, cancel := context.WithCancel(t.Context())
		_, err = s.Write(ctx, name, io.MultiReader(bytes.NewReader(Bytes(size)), readerFunc(func([]byte) (int, error) {
			cancel()
			return 0, io.EOF
		})))
		if err == nil {
			t.Errorf("kept what was cancelled after %d bytes", size)
		}
		absent(t, s, name)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// absent fails if anything at all can be read under a name.
func absent(t *testing.T, s *blob.Store, name string) {
	t.Helper()
	r, err := s.Read(t.Context(), name, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	if _, err := r.Read(make([]byte, 1)); gcerrors.Code(err) != gcerrors.NotFound {
		t.Errorf("there is something to read: %v", err)
	}
}

func unfinished(t *testing.T, s *blob.Store) {
	t.Helper()
	name, content := Name(), Bytes(20<<20)
	sent, written := make(chan struct{}), make(chan error, 1)
	end := make(chan struct{})
	go func() {
		_, err := s.Write(t.Context(), name, io.MultiReader(bytes.NewReader(content), readerFunc(func([]byte) (int, error) {
			close(sent)
			<-end
			return 0, io.EOF
		})))
		written <- err
	}()
	<-sent
	absent(t, s, name)
	close(end)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

func deletes(t *testing.T, s *blob.Store) {
	t.Helper()
	name, _ := Write(t, s, Bytes(100))
	other, keyID := Write(t, s, Bytes(100))
	for range 2 { // the second time nothing is there
		if err := s.Delete(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	absent(t, s, name)
	if _, err := Read(t, s, other, keyID, 100); err != nil {
		t.Errorf("another blob: %v", err)
	}
}

func manyAtOnce(t *testing.T, s *blob.Store) {
	t.Helper()
	var all sync.WaitGroup
	failed := make(chan error, 16)
	for i := range cap(failed) {
		all.Go(func() { failed <- roundTrip(t.Context(), s, Bytes(i*pack+i)) })
	}
	all.Wait()
	close(failed)
	for err := range failed {
		if err != nil {
			t.Error(err)
		}
	}
}

func roundTrip(ctx context.Context, s *blob.Store, content []byte) error {
	name := Name()
	keyID, err := s.Write(ctx, name, bytes.NewReader(content))
	if err != nil {
		return err
	}
	r, err := s.Read(ctx, name, keyID, int64(len(content)))
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	got, err := io.ReadAll(r)
	if err == nil && !bytes.Equal(got, content) {
		err = fmt.Errorf("%d bytes came back as %d others", len(content), len(got))
	}
	return err
}
