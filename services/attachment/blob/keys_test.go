package blob_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/services/attachment/blob"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob/blobtest"
)

func TestKeysThatAreNone(t *testing.T) {
	t.Parallel()
	good := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))
	for name, text := range map[string]string{
		"no id": good, "empty id": ":" + good, "strange id": "a b:" + good, "no key": "a:", "not base64": "a:" + strings.Repeat("!", 44),
		"too short": "a:" + base64.StdEncoding.EncodeToString(make([]byte, 31)), "too long": "a:" + base64.StdEncoding.EncodeToString(make([]byte, 33)),
		"trailing bits": "a:" + strings.Replace(good, "c=", "d=", 1), "twice": "a:" + good + ",a:" + good, "nothing after a comma": "a:" + good + ",",
	} {
		_, err := blob.ParseKeys(text)
		if err == nil {
			t.Errorf("%s: taken", name)
		} else if strings.Contains(err.Error(), good[:8]) || strings.Contains(err.Error(), "!!!") {
			t.Errorf("%s: %v tells the key", name, err)
		}
	}
	for _, text := range []string{"", " \n", "a:" + good, " a:" + good + ", 2026-10.b_c:" + good + "\n"} {
		if _, err := blob.ParseKeys(text); err != nil {
			t.Errorf("refused: %v", err)
		}
	}
}

func TestRotation(t *testing.T) {
	t.Parallel()
	dir, content := "file://"+t.TempDir(), blobtest.Bytes(70_000)
	plain, plainID := blobtest.Write(t, open(t, dir, blob.Keys{}), content)
	old, oldID := blobtest.Write(t, open(t, dir, blobtest.Keys(t, "old")), content)
	both := open(t, dir, blobtest.Keys(t, "new", "old"))
	fresh, freshID := blobtest.Write(t, both, content)
	if plainID != "" || oldID != "old" || freshID != "new" {
		t.Errorf("key ids %q, %q, %q", plainID, oldID, freshID)
	}
	for name, id := range map[string]string{plain: "", old: "old", fresh: "new"} {
		if got, err := blobtest.Read(t, both, name, id, len(content)); err != nil || !bytes.Equal(got, content) {
			t.Errorf("under %q: %d bytes, %v", id, len(got), err)
		}
	}
	var unknown *blob.UnknownKeyError
	_, err := blobtest.Read(t, open(t, dir, blobtest.Keys(t, "new")), old, "old", len(content))
	if !errors.As(err, &unknown) || unknown.ID != "old" {
		t.Errorf("without the key: %v", err)
	}
}

// A cipher that is changed in any region is not read, not even up to the place of the change but for packages before it.
func TestTampering(t *testing.T) {
	t.Parallel()
	const pack, stored = 64 << 10, 64<<10 + 32
	dir := t.TempDir()
	s := open(t, "file://"+dir, blobtest.Keys(t, "k1", "k2"))
	content := blobtest.Bytes(2*pack + 1000)
	name, keyID := blobtest.Write(t, s, content)
	other, _ := blobtest.Write(t, s, content)
	path := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	whole, err := os.ReadFile(path(name))
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(whole, content[:16]) {
		t.Fatal("the content stands in the file")
	}
	first, second, last := whole[32:32+stored], whole[32+stored:32+2*stored], whole[32+2*stored:]
	flip := func(at int) []byte {
		out := bytes.Clone(whole)
		out[at] ^= 1
		return out
	}
	foreign, err := os.ReadFile(path(other))
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{
		"salt": flip(0), "salt's end": flip(31), "version": flip(32), "cipher": flip(33), "length": flip(34), "final flag": flip(36), "nonce": flip(40),
		"ciphertext": flip(32 + 16), "middle": flip(32 + 16 + pack/2), "tag": flip(32 + stored - 1), "second header": flip(32 + stored),
		"second": flip(32 + stored + 100), "last header": flip(32 + 2*stored + 4), "last": flip(32 + 2*stored + 20), "last tag": flip(len(whole) - 1),
		"cut in a package": whole[:len(whole)-1], "cut at a boundary": whole[:32+2*stored], "cut to one": whole[:32+stored], "only the salt": whole[:32],
		"nothing": {}, "more": append(bytes.Clone(whole), 0), "reordered": bytes.Join([][]byte{whole[:32], second, first, last}, nil),
		"repeated": bytes.Join([][]byte{whole[:32], first, first, last}, nil), "another's": foreign,
		"another's package": bytes.Join([][]byte{whole[:32], first, foreign[32+stored : 32+2*stored], last}, nil),
	}
	for what, tampered := range cases {
		if err := os.WriteFile(path(name), tampered, 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := blobtest.Read(t, s, name, keyID, len(content))
		if !errors.Is(err, blob.ErrDamaged) {
			t.Errorf("%s: read %d bytes, %v", what, len(got), err)
		}
		if !bytes.HasPrefix(content, got) || len(got)%pack != 0 {
			t.Errorf("%s: %d bytes that are not the content's first packages", what, len(got))
		}
	}
	if err := os.WriteFile(path(name), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := blobtest.Read(t, s, name, "k2", len(content)); err == nil {
		t.Errorf("under another key: %d bytes", len(got))
	}
	if got, err := blobtest.Read(t, s, name, keyID, len(content)); err != nil || !bytes.Equal(got, content) {
		t.Errorf("untouched: %d bytes, %v", len(got), err)
	}
}

// Whatever is sought and read, in whatever order, is what bytes.Reader gives.
func TestRangesAreTheContents(t *testing.T) {
	t.Parallel()
	stores := []*blob.Store{open(t, "mem://", blob.Keys{}), open(t, "mem://", blobtest.Keys(t, "k1"))}
	rapid.Check(t, func(r *rapid.T) {
		content := blobtest.Bytes(rapid.IntRange(0, 4*64<<10).Draw(r, "size"))
		s := rapid.SampledFrom(stores).Draw(r, "store")
		name, keyID := blobtest.Write(t, s, content)
		got, err := s.Read(t.Context(), name, keyID, int64(len(content)))
		if err != nil {
			r.Fatal(err)
		}
		defer got.Close()
		want := bytes.NewReader(content)
		for range rapid.IntRange(1, 6).Draw(r, "steps") {
			offset := rapid.Int64Range(0, int64(len(content))+3).Draw(r, "offset")
			length := rapid.Int64Range(0, 100_000).Draw(r, "length")
			_, _ = want.Seek(offset, io.SeekStart)
			if _, err := got.Seek(offset, io.SeekStart); err != nil {
				r.Fatal(err)
			}
			expected, _ := io.ReadAll(io.LimitReader(want, length))
			actual, err := io.ReadAll(io.LimitReader(got, length))
			if err != nil || !bytes.Equal(actual, expected) {
				r.Fatalf("%d from %d of %d: %d bytes, %v", length, offset, len(content), len(actual), err)
			}
		}
	})
}
