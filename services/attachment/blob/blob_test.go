package blob_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	_ "gocloud.dev/blob/memblob"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob/blobtest"
)

// open opens a bucket until the test ends.
func open(t testing.TB, url string, keys blob.Keys) *blob.Store {
	t.Helper()
	s, err := blob.Open(t.Context(), url, keys)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	blobtest.Run(t, func(t *testing.T, keys blob.Keys) *blob.Store {
		t.Helper()
		return open(t, "file://"+dir+"/made/for/it", keys)
	})
	if left := files(t, dir, func(path string) bool { return strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, ".attrs") }); len(left) > 0 {
		t.Errorf("files that nobody asked for: %v", left)
	}
}

func TestMemory(t *testing.T) {
	t.Parallel()
	blobtest.Run(t, func(t *testing.T, keys blob.Keys) *blob.Store {
		t.Helper()
		return open(t, "mem://", keys)
	})
}

// files lists the files below a folder that are meant.
func files(t *testing.T, dir string, meant func(path string) bool) (list []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && meant(path) {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func all(string) bool { return true }

// A writer that is killed leaves its unfinished file, which Delete finds by its name.
func TestWhatAKilledWriterLeftIsDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, "file://"+dir, blob.Keys{})
	name := blobtest.Name()
	_, err := s.Write(t.Context(), name, io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("stop"))))
	if err == nil {
		t.Fatal("written whole")
	}
	// What Write cleans up behind itself is put back.
	path := filepath.Join(dir, filepath.FromSlash(name)) + ".18a9f2c4d5e6f708.tmp"
	beside := filepath.Join(filepath.Dir(path), "another")
	for _, left := range []string{path, beside} {
		if err := os.WriteFile(left, []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Delete(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	if left := files(t, dir, all); len(left) != 1 || left[0] != beside {
		t.Errorf("left: %v", left)
	}
}

// The unfinished file has the name that TestWhatAKilledWriterLeftIsDeleted gives it.
func TestWhatIsBeingWrittenLiesBesideItsPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, "file://"+dir+"?metadata=&no_tmp_dir=", blob.Keys{})
	name := blobtest.Name()
	var during []string
	_, err := s.Write(t.Context(), name, look(func() { during = files(t, dir, all) }))
	if err != nil {
		t.Fatal(err)
	}
	if len(during) != 1 || !strings.HasPrefix(during[0], filepath.Join(dir, name)+".") || !strings.HasSuffix(during[0], ".tmp") {
		t.Errorf("while it is written: %v", during)
	}
	if after := files(t, dir, all); len(after) != 1 || after[0] != filepath.Join(dir, name) {
		t.Errorf("afterwards: %v", after)
	}
	folder, err := os.Stat(filepath.Dir(filepath.Join(dir, name)))
	if err != nil || folder.Mode().Perm() != 0o700 {
		t.Errorf("a folder with mode %v, %v", folder.Mode(), err)
	}
}

// look gives nothing, after it has looked.
type look func()

func (l look) Read([]byte) (int, error) {
	l()
	return 0, io.EOF
}

func TestAFolderThatIsGoneIsNotReady(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "blobs")
	s := open(t, "file://"+dir, blob.Keys{})
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err == nil {
		t.Error("ready without its folder")
	}
}

// Slow writers take all the places of a cloud: who comes next is told so before the sender's patience ends.
func TestWhoFindsNoPlaceIsToldInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, "mem://", blob.Keys{})
		r, w := io.Pipe()
		var slow sync.WaitGroup
		for range 16 {
			slow.Go(func() { _, _ = s.Write(t.Context(), blobtest.Name(), r) })
		}
		synctest.Wait()
		begun := time.Now()
		if _, err := s.Write(t.Context(), blobtest.Name(), strings.NewReader("x")); !fault.Is(err, fault.Unavailable) {
			t.Error(err)
		}
		if waited := time.Since(begun); waited > 20*time.Second {
			t.Errorf("after %v", waited)
		}
		_ = w.Close()
		slow.Wait()
		if _, err := s.Write(t.Context(), blobtest.Name(), strings.NewReader("x")); err != nil {
			t.Error(err)
		}
	})
}

func TestURLsThatCannotBe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"", "/var/lib/blobs", ":", "nothing://like/it", "file://" + file, "file://" + file + "/below"} {
		if _, err := blob.Open(t.Context(), url, blob.Keys{}); err == nil {
			t.Errorf("opened %q", url)
		}
	}
}

func TestNothingIsFetchedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	s := open(t, "mem://", blobtest.Keys(t, "k1"))
	r, err := s.Read(t.Context(), "not/there", "k1", 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, whence := range []int{io.SeekEnd, io.SeekStart} {
		if _, err := r.Seek(0, whence); err != nil {
			t.Error(err)
		}
	}
	first, err := r.Read(make([]byte, 1))
	if err == nil {
		t.Errorf("read %d of what is not there", first)
	}
	if _, again := r.Read(make([]byte, 1)); !errors.Is(again, err) {
		t.Errorf("then %v", again)
	}
}

func BenchmarkFolder(b *testing.B) {
	const size = 32 << 20
	content := blobtest.Bytes(size)
	for name, keys := range map[string]blob.Keys{"plain": blobtest.Keys(b), "encrypted": blobtest.Keys(b, "k1")} {
		s := open(b, "file://"+b.TempDir(), keys)
		b.Run(name+"/write", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				if _, err := s.Write(b.Context(), "a/b/c", bytes.NewReader(content)); err != nil {
					b.Fatal(err)
				}
			}
		})
		keyID, err := s.Write(b.Context(), "a/b/c", bytes.NewReader(content))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name+"/read", func(b *testing.B) {
			b.SetBytes(size)
			for b.Loop() {
				r, err := s.Read(b.Context(), "a/b/c", keyID, size)
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, r, make([]byte, 128<<10)); err != nil || n != size {
					b.Fatal(n, err)
				}
				_ = r.Close()
			}
		})
	}
}
