package browser

import (
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// mailFolder is where the mesh writes what it would send.
type mailFolder string

// await waits for the newest message to an address that comes after so many, and whose text has a match of the pattern;
// it gives the match's last group.
func (f mailFolder) await(t *testing.T, to string, after int, pattern string) string {
	t.Helper()
	want := regexp.MustCompile(pattern)
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); <-time.After(20 * time.Millisecond) {
		texts := f.to(t, to)
		for i := len(texts) - 1; i >= after; i-- {
			if found := want.FindStringSubmatch(texts[i]); found != nil {
				return found[len(found)-1]
			}
		}
	}
	t.Fatalf("no mail to %s with %s", to, pattern)
	return ""
}

// to is the text of every message to an address, the oldest first.
func (f mailFolder) to(t *testing.T, address string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(string(f), "*.eml"))
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, name := range names { // named by time
		if text, to := read(t, name); strings.EqualFold(to, address) {
			texts = append(texts, text)
		}
	}
	return texts
}

// read gives the plain text of a message, and whom it is to.
func read(t *testing.T, name string) (text, to string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	message, err := mail.ReadMessage(file)
	if err != nil {
		t.Fatal(err)
	}
	address, err := mail.ParseAddress(message.Header.Get("To"))
	if err != nil {
		t.Fatal(err)
	}
	return plain(t, message.Header.Get("Content-Type"), message.Header.Get("Content-Transfer-Encoding"), message.Body), address.Address
}

func plain(t *testing.T, contentType, encoding string, body io.Reader) string {
	t.Helper()
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(media, "multipart/") {
		part, err := multipart.NewReader(body, params["boundary"]).NextRawPart() // the plain one comes first (RFC 2046 §5.1.4)
		if err != nil {
			t.Fatal(err)
		}
		return plain(t, part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part)
	}
	if strings.EqualFold(encoding, "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	raw, err := io.ReadAll(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
