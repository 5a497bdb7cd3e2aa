package rest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/attachment"
	"github.com/patient-mesh/patient-mesh/services/attachment/blob/blobtest"
)

func TestWhatIsUploadedIsDownloaded(t *testing.T) {
	t.Parallel()
	h := build(t, oneKey(t), nil)
	for _, size := range []int{0, 1, 70_000, limit} {
		for name, path := range map[string]func(string) string{"v2": v2, "v3": v3} {
			content := blobtest.Bytes(size)
			d := h.document(func(d *attachment.Document) { d.ContentType, d.Filename = "image/png", "x/y.png" })
			for i, body := range []io.Reader{bytes.NewReader(content), chunked(content)} { // the second time it is there
				up := h.ask(http.MethodPut, path(d.ID), body, "Content-Type", "text/html", "Content-Digest", digest(content))
				if up.StatusCode != http.StatusOK || up.Header.Get("ETag") != `"`+hexSum(content)+`"` || h.trail() != "document.upload:success" {
					t.Fatalf("%s, %d bytes, %d: %d %s", name, size, i, up.StatusCode, up.body)
				}
				var shown map[string]any
				if err := json.Unmarshal(up.body, &shown); err != nil {
					t.Fatal(err)
				}
				delete(shown, "createdAt")
				delete(shown, "updatedAt")
				want := map[string]any{
					"id": d.ID, "type": "document", "contentType": "image/png", "filename": "x/y.png", "title": "", "size": strconv.Itoa(size),
					"sha256": hexSum(content), "hasContent": true, "contentUrl": path(d.ID), "active": true,
				}
				if name == "v2" {
					want["patientId"] = "4711"
				}
				if diff := cmp.Diff(want, shown); diff != "" {
					t.Error(diff)
				}
			}
			down := h.ask(http.MethodGet, path(d.ID), nil)
			if down.StatusCode != http.StatusOK || down.err != nil || !bytes.Equal(down.body, content) || h.trail() != "document.download:success" {
				t.Errorf("%s: %d, %d bytes, %v", name, down.StatusCode, len(down.body), down.err)
			}
			for header, want := range map[string]string{
				"Content-Type": "image/png", "ETag": `"` + hexSum(content) + `"`, "Content-Disposition": "attachment; filename=y.png",
				"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'", "Cache-Control": "no-store",
				"Repr-Digest": digest(content), "Accept-Ranges": "bytes", "Content-Length": strconv.Itoa(size),
			} {
				if got := down.Header.Values(header); len(got) != 1 || got[0] != want {
					t.Errorf("%s: %q, want %q", header, got, want)
				}
			}
		}
	}
	h.kept("afterwards", 0, 8)
}

func TestRanges(t *testing.T) {
	t.Parallel()
	h := build(t, oneKey(t), nil)
	const size = 150_000
	content := blobtest.Bytes(size)
	d := h.filled(content)
	tag, past, future := `"`+hexSum(content)+`"`, "Mon, 02 Jan 2006 15:04:05 GMT", "Fri, 02 Jan 2099 15:04:05 GMT"
	modified := h.ask(http.MethodGet, v3(d.ID), nil).Header.Get("Last-Modified")
	h.trail()
	for _, c := range []struct {
		name       string
		header     []string
		status     int
		from, past int // of the content
	}{
		{"whole", nil, 200, 0, size},
		{"first byte", []string{"Range", "bytes=0-0"}, 206, 0, 1},
		{"across a boundary", []string{"Range", "bytes=65530-65549"}, 206, 65530, 65550},
		{"from a boundary", []string{"Range", "bytes=65536-65536"}, 206, 65536, 65537},
		{"open", []string{"Range", "bytes=149990-"}, 206, 149990, size},
		{"suffix", []string{"Range", "bytes=-5"}, 206, size - 5, size},
		{"longer than it is", []string{"Range", "bytes=149999-999999"}, 206, size - 1, size},
		{"suffix longer than it is", []string{"Range", "bytes=-999999"}, 206, 0, size},
		{"all", []string{"Range", "bytes=0-149999"}, 206, 0, size},
		{"past the end", []string{"Range", "bytes=150000-"}, 416, 0, 0},
		{"upside down", []string{"Range", "bytes=9-3"}, 416, 0, 0},
		{"no number", []string{"Range", "bytes=a-b"}, 416, 0, 0},
		{"several", []string{"Range", "bytes=0-1,5-6"}, 200, 0, size},
		{"several headers", []string{"Range", "bytes=0-1", "Range", "bytes=5-6"}, 200, 0, size},
		{"If-Range holds", []string{"Range", "bytes=1-2", "If-Range", tag}, 206, 1, 3},
		{"If-Range another", []string{"Range", "bytes=1-2", "If-Range", `"another"`}, 200, 0, size},
		{"If-Range weak", []string{"Range", "bytes=1-2", "If-Range", "W/" + tag}, 200, 0, size},
		{"If-Range date", []string{"Range", "bytes=1-2", "If-Range", modified}, 206, 1, 3},
		{"If-Range other date", []string{"Range", "bytes=1-2", "If-Range", past}, 200, 0, size},
		{"If-None-Match", []string{"If-None-Match", tag}, 304, 0, 0},
		{"If-None-Match weak", []string{"If-None-Match", `"x", W/` + tag}, 304, 0, 0},
		{"If-None-Match any", []string{"If-None-Match", "*"}, 304, 0, 0},
		{"If-None-Match another", []string{"If-None-Match", `"another"`}, 200, 0, size},
		{"If-None-Match before the range", []string{"If-None-Match", tag, "Range", "bytes=1-2"}, 304, 0, 0},
		{"If-Match", []string{"If-Match", tag}, 200, 0, size},
		{"If-Match any", []string{"If-Match", "*", "Range", "bytes=1-2"}, 206, 1, 3},
		{"If-Match another", []string{"If-Match", `"another"`}, 412, 0, 0},
		{"If-Match weak", []string{"If-Match", "W/" + tag}, 412, 0, 0},
		{"If-Modified-Since", []string{"If-Modified-Since", future}, 304, 0, 0},
		{"If-Modified-Since long ago", []string{"If-Modified-Since", past}, 200, 0, size},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			a := h.ask(method, v3(d.ID), nil, c.header...)
			want := content[c.from:c.past]
			if method == http.MethodHead || c.status >= 300 {
				want = nil
			}
			got := a.body
			if c.status >= 400 {
				got = nil
			}
			if a.StatusCode != c.status || a.err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s %s: %d, %d bytes, %v", method, c.name, a.StatusCode, len(a.body), a.err)
			}
			contentRange := ""
			switch {
			case c.status == 206:
				contentRange = fmt.Sprintf("bytes %d-%d/%d", c.from, c.past-1, size)
			case c.name == "past the end":
				contentRange = fmt.Sprintf("bytes */%d", size)
			}
			if got := a.Header.Get("Content-Range"); contentRange != "" && got != contentRange || c.status == 200 && got != "" {
				t.Errorf("%s %s: Content-Range %q", method, c.name, got)
			}
			if c.status < 300 && a.ContentLength != int64(c.past-c.from) {
				t.Errorf("%s %s: Content-Length %d", method, c.name, a.ContentLength)
			}
			if c.status < 400 && a.Header.Get("ETag") != tag {
				t.Errorf("%s %s: ETag %q", method, c.name, a.Header.Get("ETag"))
			}
			if trail := h.trail(); trail != "document.download:success" {
				t.Errorf("%s %s: trail %q", method, c.name, trail)
			}
		}
	}
}

// What is refused whatever the bytes are is answered while they are still coming; the first few KiB of a body are read
// along with its header.
func TestRefusedBeforeTheFirstByte(t *testing.T) {
	t.Parallel()
	h := build(t, noKeys(t), nil)
	const size = 300_000
	other, content := int64(size-1), blobtest.Bytes(size)
	empty, declared := h.document(nil), h.document(func(d *attachment.Document) { d.DeclaredSize = &other })
	full := h.filled(content)
	deactivated := h.document(nil)
	h.exec(`UPDATE document SET deactivated_at = now() WHERE id = $1`, deactivated.ID)
	for _, c := range []struct {
		name, path string
		length     int
		header     string
		status     int
		code       string
		trail      string
	}{
		{"no permission", v3(empty.ID), size, "Test-Reader: 1", 403, "permission_denied", ""},
		{"over the limit", v3(empty.ID), limit + 1, "", 413, "content_too_large", ""},
		{"over the limit, of nobody", v3(uuid.NewString()), limit + 1, "Content-Digest: x=:", 413, "content_too_large", ""},
		{"malformed digest", v3(uuid.NewString()), size, "Content-Digest: sha-256=abc", 400, "invalid_digest", ""},
		{"no such patient", "/v3/patient/4712/attach/" + empty.ID + "/content", size, "", 404, "patient_not_found", "document.upload:failure"},
		{"no patient's id", "/v2/patient/x/document/" + empty.ID + "/content", size, "", 404, "patient_not_found", "document.upload:failure"},
		{"no such document", v2(uuid.NewString()), size, "", 404, "document_not_found", "document.upload:failure"},
		{"no document's id", v2("x"), size, "", 404, "document_not_found", "document.upload:failure"},
		{"an id in capitals", v2(strings.ToUpper(empty.ID)), size, "", 404, "document_not_found", "document.upload:failure"},
		{"deactivated", v2(deactivated.ID), size, "", 404, "document_not_found", "document.upload:failure"},
		{"not of the declared size", v3(declared.ID), size, "", 400, "size_mismatch", "document.upload:failure"},
		{"longer than the content", v3(full.ID), size + 1, "", 409, "content_exists", "document.upload:failure"},
		{"another digest than the content's", v3(full.ID), size, "Content-Digest: " + digest(content[1:]), 409, "content_exists", "document.upload:failure"},
	} {
		conn, err := net.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		header := c.header
		if header != "" {
			header += "\r\n"
		}
		_, _ = fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n%s\r\n%s", c.path, c.length, header, content[:9000])
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		body, _ := io.ReadAll(response.Body)
		_ = conn.Close()
		if a := (answer{Response: response, body: body}); a.StatusCode != c.status || a.code() != c.code {
			t.Errorf("%s: %d %s", c.name, a.StatusCode, a.body)
		}
		if trail := h.trail(); trail != c.trail {
			t.Errorf("%s: trail %q", c.name, trail)
		}
	}
	h.kept("afterwards", 0, 1)
}

func TestRefusedForItsBytes(t *testing.T) {
	t.Parallel()
	h := build(t, oneKey(t), nil)
	five := int64(5)
	full, declared := h.filled([]byte("hello")), func(d *attachment.Document) { d.DeclaredSize = &five }
	for _, c := range []struct {
		name   string
		change func(*attachment.Document) // nil: of the one with content
		body   []byte
		digest string
		status int
		code   string
	}{
		{"another digest", func(*attachment.Document) {}, []byte("hello"), digest([]byte("HELLO")), 400, "digest_mismatch"},
		{"longer than declared", declared, []byte("hello!"), "", 400, "size_mismatch"},
		{"shorter than declared", declared, []byte("hell"), "", 400, "size_mismatch"},
		{"nothing at all", declared, nil, "", 400, "size_mismatch"},
		{"over the limit", func(*attachment.Document) {}, blobtest.Bytes(limit + 1), "", 413, "content_too_large"},
		{"far over the limit", func(*attachment.Document) {}, blobtest.Bytes(3 * limit), "", 413, "content_too_large"},
		{"other bytes of the same length", nil, []byte("HELLO"), "", 409, "content_exists"},
		{"other bytes", nil, []byte("hello, you"), "", 409, "content_exists"},
		{"other bytes than their digest's", nil, []byte("HELLO"), digest([]byte("hello")), 400, "digest_mismatch"},
		{"over the limit again", nil, blobtest.Bytes(limit + 1), "", 413, "content_too_large"},
	} {
		d := full
		if c.change != nil {
			d = h.document(c.change)
		}
		var header []string
		if c.digest != "" {
			header = []string{"Content-Digest", c.digest}
		}
		a := h.ask(http.MethodPut, v2(d.ID), chunked(c.body), header...)
		if a.StatusCode != c.status || a.code() != c.code || bytes.Contains(a.body, []byte("HELLO")) {
			t.Errorf("%s: %d %s", c.name, a.StatusCode, a.body)
		}
		if trail := h.trail(); trail != "document.upload:failure" {
			t.Errorf("%s: trail %q", c.name, trail)
		}
		h.kept(c.name, 0, 1)
		if c.change == nil {
			continue
		}
		if a := h.ask(http.MethodGet, v2(d.ID), nil); a.StatusCode != http.StatusNotFound || a.code() != "no_content" || h.trail() != "document.download:failure" {
			t.Errorf("%s: then %d %s", c.name, a.StatusCode, a.body)
		}
	}
	if a := h.ask(http.MethodGet, v3(full.ID), nil); string(a.body) != "hello" {
		t.Errorf("the content now is %q", a.body)
	}
}

func TestDownloadsRefused(t *testing.T) {
	t.Parallel()
	h := build(t, noKeys(t), nil)
	full := h.filled([]byte("hello"))
	for path, code := range map[string]string{
		v3(uuid.NewString()): "document_not_found", v2("x"): "document_not_found",
		"/v3/patient/4712/attach/" + full.ID + "/content": "patient_not_found", v2(h.document(nil).ID): "no_content",
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			a := h.ask(method, path, nil)
			if a.StatusCode != http.StatusNotFound || method == http.MethodGet && a.code() != code || h.trail() != "document.download:failure" {
				t.Errorf("%s %s: %d %s", method, path, a.StatusCode, a.body)
			}
		}
	}
	stranger := *h
	h.by.TenantID = uuid.NewString()
	if a := h.ask(http.MethodGet, v3(full.ID), nil); a.StatusCode != http.StatusNotFound {
		t.Errorf("another tenant: %d", a.StatusCode)
	}
	h.by = stranger.by
	h.by.Permissions = principal.DocumentWrite
	if a := h.ask(http.MethodGet, v3(full.ID), nil); a.StatusCode != http.StatusForbidden {
		t.Errorf("without permission: %d", a.StatusCode)
	}
}

// An upload that breaks off leaves nothing, and can be repeated.
func TestBrokenOff(t *testing.T) {
	t.Parallel()
	h := build(t, noKeys(t), nil)
	content, before := blobtest.Bytes(600_000), 0
	for name, head := range map[string]string{
		"declared": "Content-Length: 600000\r\n\r\n" + string(content[:300_000]), "chunked": "Transfer-Encoding: chunked\r\n\r\n493E0\r\n" + string(content[:300_000]) + "\r\n",
		"in a chunk": "Transfer-Encoding: chunked\r\n\r\n493E0\r\n" + string(content[:200_000]),
	} {
		d := h.document(nil)
		conn, err := net.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\n%s", v3(d.ID), head); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
		trail := ""
		for start := time.Now(); trail == "" && time.Since(start) < 20*time.Second; { // nobody answers who has left
			trail = h.trail()
		}
		if trail != "document.upload:failure" {
			t.Errorf("%s: trail %q", name, trail)
		}
		h.kept(name, 0, before)
		if a := h.ask(http.MethodGet, v3(d.ID), nil); a.code() != "no_content" {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
		if a := h.put(v3(d.ID), content); a.StatusCode != http.StatusOK {
			t.Errorf("%s: repeated: %d %s", name, a.StatusCode, a.body)
		}
		h.trail()
		before++
	}
}

func TestRaces(t *testing.T) {
	t.Parallel()
	h := build(t, oneKey(t), nil)
	const racers = 6
	for name, bytesOf := range map[string]func(i int) []byte{
		"the same bytes":  func(int) []byte { return blobtest.Bytes(200_000) },
		"different bytes": func(i int) []byte { return append(blobtest.Bytes(200_000), byte(i)) },
	} {
		d := h.document(nil)
		before := h.files()
		statuses := map[int]int{}
		winner := -1
		var lock sync.Mutex
		var race sync.WaitGroup
		for i := range racers {
			race.Go(func() {
				a := h.ask(http.MethodPut, v3(d.ID), chunked(bytesOf(i)))
				lock.Lock()
				defer lock.Unlock()
				statuses[a.StatusCode]++
				if a.StatusCode == http.StatusOK {
					winner = i
				}
			})
		}
		race.Wait()
		want := map[int]int{200: 1, 409: racers - 1}
		if name == "the same bytes" {
			want = map[int]int{200: racers}
		}
		if !maps.Equal(statuses, want) {
			t.Errorf("%s: %v", name, statuses)
		}
		h.kept(name, 0, before+1)
		if n := len(strings.Fields(h.trail())); n != racers {
			t.Errorf("%s: %d entries", name, n)
		}
		if a := h.ask(http.MethodGet, v3(d.ID), nil); winner < 0 || !bytes.Equal(a.body, bytesOf(winner)) {
			t.Errorf("%s: not the winner's", name)
		}
		h.trail()
	}
}

func TestNamesOfDownloads(t *testing.T) {
	t.Parallel()
	h := build(t, noKeys(t), nil)
	for filename, want := range map[string]string{
		"../../etc/passwd": "attachment; filename=passwd", `a\b "c".pdf`: `attachment; filename="b \"c\".pdf"`,
		"Müller.pdf": "attachment; filename*=utf-8''M%C3%BCller.pdf", "a\r\nX-Evil: 1": `attachment; filename="aX-Evil: 1"`, "": `attachment; filename="A title"`,
	} {
		d := h.document(func(d *attachment.Document) { d.Filename, d.Title = filename, "A title" })
		h.put(v2(d.ID), []byte("hello"))
		a := h.ask(http.MethodGet, v2(d.ID), nil)
		if got := a.Header.Get("Content-Disposition"); got != want || a.Header.Get("X-Evil") != "" {
			t.Errorf("%q: %s, want %s", filename, got, want)
		}
	}
}
