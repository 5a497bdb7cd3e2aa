package e2e

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// wire is a connection to the gateway on which a test writes what it likes.
type wire struct {
	c    *client
	conn *net.TCPConn
	in   *bufio.Reader
}

func (c *client) dial() *wire {
	c.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.base, "http://"))
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second)) // a hang fails the test
	return &wire{c: c, conn: conn.(*net.TCPConn), in: bufio.NewReaderSize(conn, 64<<10)}
}

// ask writes the head of a request, with lines of header, and what there is of its body.
func (w *wire) ask(method, path, lines, body string) *wire {
	w.c.t.Helper()
	head := method + " " + path + " HTTP/1.1\r\nHost: " + strings.TrimPrefix(w.c.base, "http://") + "\r\n"
	for name, values := range w.c.header {
		head += name + ": " + values[0] + "\r\n"
	}
	if lines != "" {
		head += lines + "\r\n"
	}
	if _, err := io.WriteString(w.conn, head+"\r\n"+body); err != nil {
		w.c.t.Fatal(err)
	}
	return w
}

// hears reads an answer, passing over those that only say to go on, and holds it against the document.
func (w *wire) hears(method, path string) answer {
	w.c.t.Helper()
	req, err := http.NewRequestWithContext(w.c.t.Context(), method, w.c.base+path, nil)
	if err != nil {
		w.c.t.Fatal(err)
	}
	for {
		resp, err := http.ReadResponse(w.in, req)
		if err != nil {
			w.c.t.Fatalf("no answer to %s %s: %v", method, path, err)
		}
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			w.c.t.Fatalf("half an answer to %s %s: %v", method, path, err)
		}
		if resp.StatusCode >= ok {
			a := answer{t: w.c.t, status: resp.StatusCode, header: resp.Header, raw: raw}
			a.holdAgainstDocument(req)
			return a
		}
	}
}

// chunk is data as one chunk of a body of unknown length (RFC 9112 §7.1).
func chunk(data []byte) string { return fmt.Sprintf("%x\r\n%s\r\n", len(data), data) }

// pour writes until the other side has had enough, or limit bytes are written, and tells how many were.
func (w *wire) pour(piece string, limit int) (written int, err error) {
	for written < limit && err == nil {
		var n int
		n, err = io.WriteString(w.conn, piece)
		written += n
	}
	return written, err
}

const (
	chunked  = "Transfer-Encoding: chunked"
	measured = "Content-Length: "
)

// An upload that breaks off, wherever it does, leaves no bytes, and is repeated as if it had never been.
func TestUploadsThatBreakOff(t *testing.T) {
	c := newTenant(t)
	patient, _ := stored(c, ana())
	raw := noise(40, 150_000)
	length := measured + fmt.Sprint(len(raw))
	type cut struct{ lines, body string }
	var cuts []cut
	for _, sent := range []int{0, 1, 65_536, 131_072, len(raw) - 1} {
		cuts = append(cuts, cut{length, string(raw[:sent])})
	}
	for _, sent := range []int{1, 65_536, len(raw)} { // without the last chunk
		cuts = append(cuts, cut{chunked, chunk(raw[:sent])}, cut{chunked, strings.TrimSuffix(chunk(raw[:sent]), "\r\n")})
	}
	cuts = append(cuts, cut{chunked, ""}, cut{chunked, chunk(raw) + "0"}, cut{chunked, chunk(raw) + "0\r\n"}, cut{chunked, "249f0\r\n" + string(raw[:70_000])},
		cut{chunked + "\r\nContent-Digest: " + digestOf(raw), chunk(raw[:100_000])})
	endings := map[string]func(*net.TCPConn){
		"ends":   func(conn *net.TCPConn) { _ = conn.CloseWrite() },
		"closes": func(conn *net.TCPConn) { _ = conn.Close() },
		"resets": func(conn *net.TCPConn) { _ = conn.SetLinger(0); _ = conn.Close() },
	}
	var broken []document
	heard := 0 // of how many the service hears in any case: they are passed on from 8 KiB, and a reset can overtake them
	for _, cut := range cuts {
		for name, end := range endings {
			title := fmt.Sprintf("%s after %d bytes (%.20s) that end with %.10q", name, len(cut.body), cut.lines, cut.body[max(0, len(cut.body)-10):])
			d := c.attach(patient, map[string]any{"title": title})
			path := []string{d.at, of2(d.at)}[len(broken)%2] + "/content"
			w := c.dial().ask(http.MethodPut, path, cut.lines, cut.body)
			end(w.conn)
			if name == "ends" {
				if a := w.hears(http.MethodPut, path); a.status != bad || !strings.HasPrefix(a.problem().Code, "malformed_") {
					t.Errorf("%.30q and %d bytes: %d %s", cut.lines, len(cut.body), a.status, a.raw)
				}
			}
			broken = append(broken, d)
			if name != "resets" && (strings.HasPrefix(cut.lines, chunked) || len(cut.body) > 8<<10) {
				heard++
			}
		}
	}
	for i, d := range broken {
		if a := c.get(d.at + "/content"); a.status == ok {
			t.Errorf("the upload that %s left %d bytes", d.Title, len(a.raw))
			continue
		}
		c.empty(d)
		if i%3 == 0 { // while the first one's bytes may not have been given up yet
			c.put(d.at+"/content", raw).is(ok)
		}
	}
	of := trail + "?action=document.upload&size=500"
	eventually(t, 20*time.Second, func() bool { // each has been noticed, and was told of
		failed := 0
		for _, r := range told(recordsAt(c, of)) {
			if r == "document.upload failure" {
				failed++
			}
		}
		return failed >= heard
	})
	for i, d := range broken {
		if i%3 != 0 {
			c.empty(d)
			c.put(d.at+"/content", unmeasured(raw)).is(ok)
		}
		c.holds(d, raw)
		eventually(t, 10*time.Second, func() bool { return len(blobs(t, world.Path("blobs"), d.ID)) == 1 })
	}
}

// What can be known before the bytes have come is said then: nobody sends 100 MiB in order to hear that they are not wanted.
// And it is heard, by who goes on sending too.
func TestRefusalsBeforeTheBytes(t *testing.T) {
	c := owner(t)
	patient, _ := stored(c, ana())
	d, sized, full := c.blank(), c.attach(patient, map[string]any{"size": "10"}), c.blank()
	c.put(full.at+"/content", "bytes").is(ok)
	reader := as(t, clerkKey(t, newTenant(t)))
	const large = "52428800"
	const digest, json = "\r\nContent-Digest: ", "\r\nContent-Type: application/json"
	for name, test := range map[string]struct {
		c                   *client
		method, path, lines string
		status              int
		code                string
	}{
		"content over the limit":     {c, "PUT", d.at + "/content", measured + "104857601", http.StatusRequestEntityTooLarge, "content_too_large"},
		"over it by far":             {c, "PUT", of2(d.at) + "/content", measured + "9007199254740993", http.StatusRequestEntityTooLarge, "content_too_large"},
		"a document over the limit":  {c, "POST", patient + "/attach", measured + "8388609" + json, http.StatusRequestEntityTooLarge, "body_too_large"},
		"a change over the limit":    {c, "PATCH", d.at, measured + "8388609" + json, http.StatusRequestEntityTooLarge, "body_too_large"},
		"an endless document":        {c, "POST", of2(patient + "/attach"), chunked + json, http.StatusRequestEntityTooLarge, "body_too_large"},
		"no document":                {c, "PUT", patient + "/attach/x/content", measured + large, missing, "document_not_found"},
		"no patient":                 {c, "PUT", "/v2/patient/1/document/" + d.ID + "/content", chunked, missing, "patient_not_found"},
		"nobody":                     {anyone(t), "PUT", d.at + "/content", measured + large, http.StatusUnauthorized, "unauthenticated"},
		"who may only read":          {reader, "PUT", d.at + "/content", chunked, http.StatusForbidden, "permission_denied"},
		"another size than declared": {c, "PUT", sized.at + "/content", measured + large, bad, "size_mismatch"},
		"more than declared":         {c, "PUT", sized.at + "/content", chunked, bad, "size_mismatch"},
		"other bytes than there are": {c, "PUT", full.at + "/content", measured + large, http.StatusConflict, "content_exists"},
		"another digest":             {c, "PUT", full.at + "/content", chunked + digest + digestOf("other"), http.StatusConflict, "content_exists"},
		"no digest":                  {c, "PUT", d.at + "/content", measured + large + digest + "sha-256=x", bad, "invalid_digest"},
		"compressed":                 {c, "PUT", d.at + "/content", measured + large + "\r\nContent-Encoding: gzip", http.StatusUnsupportedMediaType, "unsupported_encoding"},
		"no such path":               {c, "PUT", d.at + "/contents", measured + large, missing, "not_found"},
		"another method":             {c, "POST", d.at + "/content", measured + large, http.StatusMethodNotAllowed, "method_not_allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			mine := *test.c
			mine.t = t
			piece := strings.Repeat("x", 64<<10)
			if strings.HasPrefix(test.lines, chunked) {
				piece = chunk([]byte(piece))
			}
			w := mine.dial().ask(test.method, test.path, test.lines, piece)
			if !strings.Contains(name, "endless") { // one that waits hears it though it has sent nearly nothing
				w.hears(test.method, test.path).refused(test.status, test.code)
			}
			w = mine.dial().ask(test.method, test.path, test.lines, "")
			sent := make(chan int)
			go func() {
				written, err := w.pour(piece, 32<<20)
				if errors.Is(err, syscall.ECONNRESET) {
					t.Error("the connection was reset after", written)
				}
				_ = w.conn.CloseWrite()
				sent <- written
			}()
			w.hears(test.method, test.path).refused(test.status, test.code)
			if rest, err := io.Copy(io.Discard, w.in); err != nil || rest != 0 {
				t.Errorf("after the answer: %d bytes, %v", rest, err)
			}
			<-sent
		})
	}
	c.empty(d)
	c.empty(sized)
	c.holds(full, []byte("bytes"))
}

// What is left of a body that was refused is never taken for a request.
func TestWhatIsLeftOfABodyIsNoRequest(t *testing.T) {
	c := owner(t)
	d, full := c.blank(), c.blank()
	c.put(full.at+"/content", "other").is(ok)
	smuggled := "GET " + patients + "?size=1 HTTP/1.1\r\nHost: x\r\nAuthorization: " + c.header.Get("Authorization") + "\r\n\r\n"
	for _, size := range []int{1, 3000} {
		body := strings.Repeat(smuggled, size)
		for _, path := range []string{d.at + "x/content", full.at + "/content", "/v2/patient/1/document/" + d.ID + "/content", "/nowhere"} {
			for lines, framed := range map[string]string{measured + fmt.Sprint(len(body)): body, chunked: chunk([]byte(body)) + "0\r\n\r\n"} {
				w := c.dial().ask(http.MethodPut, path, lines, "")
				go func() { // the next request follows at once
					_, _ = io.WriteString(w.conn, framed)
					_, _ = io.WriteString(w.conn, "GET "+full.at+" HTTP/1.1\r\nHost: x\r\nAuthorization: "+c.header.Get("Authorization")+"\r\nConnection: close\r\n\r\n")
					_ = w.conn.CloseWrite()
				}()
				refused := w.hears(http.MethodPut, path)
				if refused.status != missing && refused.status != http.StatusConflict {
					t.Errorf("%s (%.20s, %d bytes) answers %d: %s", path, lines, len(body), refused.status, refused.raw)
				}
				rest, err := io.ReadAll(w.in)
				if err != nil || bytes.Contains(rest, []byte("totalElements")) || bytes.Count(rest, []byte("HTTP/1.1 ")) > 1 ||
					len(rest) > 0 && !bytes.Contains(rest, []byte(full.ID)) {
					t.Errorf("%s, %.20s: %v, then %.300s", path, lines, err, rest)
				}
			}
		}
	}
}

// curl asks before it sends much, and may be told to go on.
func TestUploadsThatAskFirst(t *testing.T) {
	c := owner(t)
	d, raw := c.blank(), noise(41, 100_000)
	w := c.dial().ask(http.MethodPut, d.at+"/content", measured+fmt.Sprint(len(raw))+"\r\nExpect: 100-continue", "")
	status, err := w.in.ReadString('\n')
	if err != nil || !strings.HasPrefix(status, "HTTP/1.1 100 ") {
		t.Fatalf("%q, %v", status, err)
	}
	if _, err := w.in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	_, _ = w.conn.Write(raw)
	w.hears(http.MethodPut, d.at+"/content").is(ok)
	c.holds(d, raw)
	w = c.dial().ask(http.MethodPut, d.at+"/content", measured+"104857601\r\nExpect: 100-continue", string(raw[:10_000]))
	w.hears(http.MethodPut, d.at+"/content").refused(http.StatusRequestEntityTooLarge, "content_too_large")
}

// One connection serves one exchange after the other, streamed or not.
func TestUploadsOnOneConnection(t *testing.T) {
	c := owner(t)
	w := c.dial()
	for i := range 4 {
		d, raw := c.blank(), noise(42+i, 100_000*i)
		if i%2 == 0 {
			w.ask(http.MethodPut, d.at+"/content", chunked, chunk(append(raw, '.'))+"0\r\n\r\n")
		} else {
			w.ask(http.MethodPut, d.at+"/content", measured+fmt.Sprint(len(raw)+1), string(raw)+".")
		}
		w.hears(http.MethodPut, d.at+"/content").is(ok)
		if a := w.ask(http.MethodGet, d.at+"/content", "", "").hears(http.MethodGet, d.at+"/content").is(ok); !bytes.Equal(a.raw, append(raw, '.')) {
			t.Errorf("%d bytes came back of %d", len(a.raw), len(raw)+1)
		}
		w.ask(http.MethodGet, d.at+"/content", "Range: bytes=0-0", "").hears(http.MethodGet, d.at+"/content").is(http.StatusPartialContent)
		w.ask(http.MethodGet, d.at, "", "").hears(http.MethodGet, d.at).is(ok)
	}
}
