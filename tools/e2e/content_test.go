package e2e

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// noise is n bytes that nothing compresses, the same for the same seed.
func noise(seed, n int) []byte {
	raw := make([]byte, n)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte(strconv.Itoa(seed)))).Read(raw)
	return raw
}

// tagOf is the entity tag of bytes; digestOf what Content-Digest says of them.
func tagOf[T string | []byte](raw T) string {
	sum := sha256.Sum256([]byte(raw))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func digestOf[T string | []byte](raw T) string {
	sum := sha256.Sum256([]byte(raw))
	return "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
}

// unmeasured is a body whose length is not told beforehand.
func unmeasured(raw []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(raw)} }

// holds fails unless a document has just these bytes.
func (c *client) holds(d document, raw []byte) answer {
	c.t.Helper()
	a := c.get(d.at + "/content").is(ok)
	if !bytes.Equal(a.raw, raw) || a.etag() != tagOf(raw) {
		c.t.Errorf("%d bytes with tag %s instead of %d with %s", len(a.raw), a.etag(), len(raw), tagOf(raw))
	}
	var shown document
	c.get(d.at).is(ok).into(&shown)
	if !shown.HasContent || `"`+shown.SHA256+`"` != tagOf(raw) || shown.Size != strconv.Itoa(len(raw)) {
		c.t.Errorf("shown with content %v of size %q, %s", shown.HasContent, shown.Size, shown.SHA256)
	}
	return a
}

// empty fails unless a document has no bytes.
func (c *client) empty(d document) {
	c.t.Helper()
	c.get(d.at+"/content").refused(missing, "no_content")
	var shown document
	c.get(d.at).is(ok).into(&shown)
	if shown.HasContent || shown.SHA256 != "" {
		c.t.Errorf("shown with content: %+v", shown)
	}
}

// blobs are the files that a mesh keeps for a document; of all documents when its id is empty.
func blobs(t *testing.T, root, document string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() && strings.Contains(path, document) {
			files = append(files, path)
		}
		if os.IsNotExist(err) {
			return nil // just deleted
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestBytesComeBackAsTheyWent(t *testing.T) {
	const piece = 64 << 10 // what is encrypted, buffered and written at a time
	for seed, size := range []int{0, 1, piece - 1, piece, piece + 1, 5 << 20} {
		for _, framing := range []string{"declared", "chunked"} {
			t.Run(fmt.Sprintf("%d %s", size, framing), func(t *testing.T) {
				c := owner(t)
				d, raw := c.blank(), noise(seed, size)
				at, of, other := d.at, "patientId", of2(d.at)
				if framing == "chunked" {
					at, other = other, at
				}
				c.empty(d)
				var body any = raw
				if framing == "chunked" {
					body = unmeasured(raw)
				}
				put := c.with("Content-Digest", digestOf(raw)).put(at+"/content", body).is(ok)
				shown := put.object()
				if put.etag() != tagOf(raw) || shown["size"] != strconv.Itoa(size) || shown["hasContent"] != true || `"`+fmt.Sprint(shown["sha256"])+`"` != tagOf(raw) ||
					shown["contentUrl"] != at+"/content" || (shown[of] != nil) != (framing == "chunked") {
					t.Errorf("stored %v with %s", shown, put.header.Get("ETag"))
				}
				if read := c.get(at).is(ok); string(read.raw) != string(put.raw) || read.etag() != `"2"` {
					t.Errorf("the upload answers %s, a read %s with %s", put.raw, read.raw, read.etag())
				}
				a := c.holds(d, raw)
				if again := c.get(other + "/content").is(ok); !bytes.Equal(again.raw, raw) {
					t.Error("the other interface has other bytes")
				}
				for name, want := range map[string]string{
					"Content-Type": "application/pdf", "Content-Length": strconv.Itoa(size), "Accept-Ranges": "bytes", "Cache-Control": "no-store",
					"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Repr-Digest": digestOf(raw),
				} {
					if got := a.header.Values(name); len(got) != 1 || got[0] != want {
						t.Errorf("%s: %q, want %q", name, got, want)
					}
				}
				if disposition, _, err := mime.ParseMediaType(a.header.Get("Content-Disposition")); disposition != "attachment" || err != nil {
					t.Errorf("Content-Disposition %q", a.header.Get("Content-Disposition"))
				}
			})
		}
	}
}

// The same bytes again change nothing, however they come; other bytes are refused, and change nothing either.
func TestBytesAreStoredOnce(t *testing.T) {
	inside(t)
	c := owner(t)
	for _, size := range []int{0, 100, 200_000} {
		d, raw := c.blank(), noise(1, size)
		c.put(d.at+"/content", raw).is(ok)
		before := c.get(d.at).is(ok)
		for _, again := range []answer{
			c.put(d.at+"/content", raw), c.put(of2(d.at)+"/content", raw), c.put(d.at+"/content", unmeasured(raw)), c.with("Content-Digest", digestOf(raw)).put(d.at+"/content", unmeasured(raw)),
		} {
			if again.is(ok); again.etag() != tagOf(raw) {
				t.Errorf("again: %s", again.etag())
			}
		}
		others := [][]byte{append(slices.Clone(raw), 1), noise(2, size+7)}
		if size > 0 {
			others = append(others, noise(3, size), raw[:size-1], nil)
		}
		for _, other := range others {
			for _, a := range []answer{
				c.put(d.at+"/content", other), c.put(of2(d.at)+"/content", unmeasured(other)), c.with("Content-Digest", digestOf(other)).put(d.at+"/content", unmeasured(other)),
			} {
				a.refused(http.StatusConflict, "content_exists")
			}
		}
		if after := c.get(d.at).is(ok); string(after.raw) != string(before.raw) || after.etag() != before.etag() {
			t.Errorf("%s became %s", before.raw, after.raw)
		}
		c.holds(d, raw)
		if files := blobs(t, world.Path("blobs"), d.ID); len(files) != 1 {
			t.Errorf("%d blobs", len(files))
		}
		c.delete(d.at).is(ok)
		c.put(d.at+"/content", raw).refused(missing, "document_not_found")
		c.get(d.at+"/content").refused(missing, "document_not_found")
	}
}

func TestContentDigest(t *testing.T) {
	c := owner(t)
	raw := noise(4, 70_000)
	other := "sha-512=:" + base64.StdEncoding.EncodeToString(make([]byte, 64)) + ":" // not what it is of these bytes: nobody looks
	for header, code := range map[string]string{
		digestOf(raw): "", other: "", other + ", " + digestOf(raw): "", digestOf(raw) + ", md5=:AAAA:": "", "unixsum=7": "", digestOf(raw) + ";x=1": "",
		digestOf("other"): "digest_mismatch", other + ", " + digestOf("other"): "digest_mismatch",
		"sha-256=:x:": "invalid_digest", "sha-256=::": "invalid_digest", "sha-256=:AAAA:": "invalid_digest", strings.TrimSuffix(digestOf(raw), ":"): "invalid_digest",
		strings.ReplaceAll(digestOf(raw), ":", `"`): "invalid_digest", "sha-256": "invalid_digest", "sha-256=(:AAAA:)": "invalid_digest", "nonsense;;=": "invalid_digest",
		strings.ReplaceAll(digestOf(raw), ":", ""): "invalid_digest",
	} {
		for _, body := range []any{raw, unmeasured(raw)} {
			d := c.blank()
			a := c.with("Content-Digest", header).put(d.at+"/content", body)
			if code == "" {
				a.is(ok)
				c.holds(d, raw)
				continue
			}
			a.refused(bad, code)
			c.empty(d)
			if files := blobs(t, world.Path("blobs"), d.ID); len(files) != 0 {
				t.Errorf("%s left %v", header, files)
			}
			c.put(d.at+"/content", raw).is(ok) // and nothing is in the way of the right ones
			c.holds(d, raw)
		}
	}
}

func TestDeclaredSize(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	for size, lengths := range map[int][]int{0: {1, 100}, 10: {0, 9, 11, 70_000}, 65_536: {65_535, 65_537, 200_000}} {
		d := c.attach(at, map[string]any{"size": strconv.Itoa(size)})
		for _, length := range lengths {
			raw := noise(5, length)
			c.put(d.at+"/content", raw).refused(bad, "size_mismatch")
			c.put(of2(d.at)+"/content", unmeasured(raw)).refused(bad, "size_mismatch")
			c.empty(d)
		}
		if files := blobs(t, world.Path("blobs"), d.ID); len(files) != 0 {
			t.Errorf("left behind: %v", files)
		}
		raw := noise(6, size)
		c.put(d.at+"/content", unmeasured(raw)).is(ok)
		c.holds(d, raw)
		for _, wrong := range []string{strconv.Itoa(size + 1), "7"} {
			if got := c.patch(d.at, map[string]any{"size": wrong, "title": "x"}).faults(); !slices.Equal(got, []string{"size size_mismatch"}) {
				t.Error(got)
			}
		}
		c.patch(d.at, map[string]any{"size": "n/a"}).is(ok)
		if shown := c.patch(d.at, map[string]any{"size": strconv.Itoa(size)}).is(ok).object(); shown["size"] != strconv.Itoa(size) || shown["title"] != "" {
			t.Errorf("%v", shown)
		}
		c.holds(d, raw)
	}
	// What was read can be sent back: it changes nothing.
	d := c.blank()
	c.put(d.at+"/content", "bytes").is(ok)
	read := c.get(d.at).is(ok)
	if again := c.patch(d.at, read.raw).is(ok); string(again.raw) != string(read.raw) || again.etag() != read.etag() {
		t.Errorf("%s with %s became %s with %s", read.raw, read.etag(), again.raw, again.etag())
	}
}

// Of uploads at once one wins, whole; whoever sent the same is told so, and the others that they came too late.
func TestUploadsAtOnce(t *testing.T) {
	inside(t)
	c := owner(t)
	for round := range 4 {
		d := c.blank()
		bodies := [][]byte{noise(10+round, 300_000), noise(20+round, 300_000), noise(30+round, 299_999)}
		type result struct{ body, status int }
		next := make(chan int, 9)
		for i := range cap(next) {
			next <- i % len(bodies)
		}
		won := map[int]bool{}
		for _, r := range together(cap(next), func() result {
			i := <-next
			return result{i, c.put(d.at+"/content", unmeasured(bodies[i])).status}
		}) {
			switch r.status {
			case ok:
				won[r.body] = true
			case http.StatusConflict:
			default:
				t.Errorf("answered %d", r.status)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%v won", won)
		}
		for i := range won {
			c.holds(d, bodies[i])
		}
		if got := c.get(d.at).etag(); got != `"2"` {
			t.Errorf("version %s", got)
		}
		eventually(t, 10*time.Second, func() bool { return len(blobs(t, world.Path("blobs"), d.ID)) == 1 })
	}
}

// A size that is declared while the bytes come is kept or refused: a document never says another one than it has.
func TestUploadsBesideChanges(t *testing.T) {
	c := owner(t)
	for range 8 {
		d := c.blank()
		turns := make(chan func() answer, 3)
		turns <- func() answer { return c.put(d.at+"/content", noise(7, 100_000)) }
		turns <- func() answer { return c.patch(d.at, map[string]any{"size": "99999"}) }
		turns <- func() answer { return c.patch(d.at, map[string]any{"title": "T", "size": nil}) }
		refused := 0
		for _, a := range together(3, func() answer { return (<-turns)() }) {
			if a.status == bad {
				refused++
			} else {
				a.is(ok)
			}
		}
		var shown document
		c.get(d.at).is(ok).into(&shown)
		if refused != 1 || shown.Title != "T" || shown.HasContent != (shown.Size == "100000") || !shown.HasContent && shown.Size != "99999" {
			t.Errorf("%d were refused, and left %+v", refused, shown)
		}
	}
	for range 4 {
		d := c.blank()
		turns := make(chan func() answer, 2)
		turns <- func() answer { return c.put(d.at+"/content", noise(8, 100_000)) }
		turns <- func() answer { return c.delete(d.at).is(ok) }
		for _, a := range together(2, func() answer { return (<-turns)() }) {
			if a.status != ok {
				a.refused(missing, "document_not_found")
			}
		}
		c.get(d.at+"/content").refused(missing, "document_not_found")
	}
}

func TestContentIsServedAsTheDocumentSays(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	page := []byte("<script>alert(document.cookie)</script>")
	for name, test := range map[string]struct{ said, sent string }{
		"a page said to be one": {"text/html; charset=utf-8", "text/plain"}, "a page said to be a text": {"text/plain", "text/html"},
		"a page said to be a picture": {"image/svg+xml", ""}, "a page said to be JSON": {"application/json", "application/json"}, "no type at all": {"x/y", "nonsense"},
		"a form": {"multipart/form-data; boundary=x", "multipart/form-data; boundary=x"}, "a problem": {"application/problem+json", "application/x-www-form-urlencoded"},
	} {
		d := c.attach(at, map[string]any{"contentType": test.said, "filename": "page.html"})
		sending := c
		if test.sent != "" {
			sending = c.with("Content-Type", test.sent)
		}
		sending.put(d.at+"/content", page).is(ok)
		for _, path := range []string{d.at, of2(d.at)} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base+path+"/content", nil)
			if err != nil {
				t.Fatal(err)
			}
			req.Header = c.header.Clone()
			a, err := c.send(req)
			if err != nil || a.status != ok || !bytes.Equal(a.raw, page) || a.header.Get("Content-Type") != test.said {
				t.Errorf("%s: %v, %d, served as %q", name, err, a.status, a.header.Get("Content-Type"))
			}
			if a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Content-Security-Policy") != "sandbox; default-src 'none'" ||
				!strings.HasPrefix(a.header.Get("Content-Disposition"), "attachment") || a.header.Get("Content-Encoding") != "" {
				t.Errorf("%s: %v", name, a.header)
			}
		}
	}
	d := c.blank()
	c.put(d.at+"/content", page).is(ok)
	c.patch(d.at, map[string]any{"contentType": "text/plain", "filename": "b.txt"}).is(ok)
	if a := c.holds(d, page); a.header.Get("Content-Type") != "text/plain" || !strings.Contains(a.header.Get("Content-Disposition"), "b.txt") {
		t.Errorf("%v", a.header)
	}
}

func TestContentDisposition(t *testing.T) {
	c := owner(t)
	at, _ := stored(c, ana())
	for filename, want := range map[string]string{
		"letter.pdf": "letter.pdf", "../../etc/passwd": "passwd", "/etc/passwd": "passwd", `C:\Windows\system32\cmd.exe`: "cmd.exe", `..\..\x.txt`: "x.txt", `a"b.pdf`: `a"b.pdf`,
		`a\"; filename="evil.exe`: `"; filename="evil.exe`, "x;y=z.txt": "x;y=z.txt", "a b  c.txt": "a b  c.txt", "résumé 李.pdf": "résumé 李.pdf", "%2e%2e%2fx": "%2e%2e%2fx",
		"a\u202egpj.exe": "agpj.exe", "a\u200bb": "ab", "😀.png": "😀.png", "'": "'", "a%00b": "a%00b", ".htaccess": ".htaccess", "x/": "The title", "..": "The title", "/": "The title",
		"": "The title", "a/..": "The title", strings.Repeat("é", 500): strings.Repeat("é", 500),
	} {
		d := c.attach(at, map[string]any{"filename": filename, "title": "The title"})
		c.put(d.at+"/content", "bytes").is(ok)
		a := c.get(d.at + "/content").is(ok)
		header := a.header.Values("Content-Disposition")
		if len(header) != 1 || strings.ContainsFunc(header[0], func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%.40q: %.100q", filename, header)
			continue
		}
		disposition, params, err := mime.ParseMediaType(header[0])
		if err != nil || disposition != "attachment" || params["filename"] != want || len(params) != 1 {
			t.Errorf("%.40q is served as %.100q: %v", filename, header, err)
		}
		if shown := c.get(d.at).object()["filename"]; shown != filename {
			t.Errorf("%.40q is shown as %.40q", filename, shown)
		}
	}
	bare := c.blank()
	c.put(bare.at+"/content", "bytes").is(ok)
	if _, params, err := mime.ParseMediaType(c.get(bare.at + "/content").header.Get("Content-Disposition")); err != nil || params["filename"] != bare.ID {
		t.Errorf("without a name: %v, %v", params, err)
	}
}
