// Package mailbox reads the folder that a local mesh writes its mail to. It knows nothing of what the messages are about.
package mailbox

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Folder is the path of a folder with one *.eml a message, named by time.
type Folder string

// Of is the mail folder of a state folder.
func Of(meshDir string) Folder { return Folder(filepath.Join(meshDir, "mail")) }

const pause = 20 * time.Millisecond // between two looks: a folder cannot be waited on portably

// Await waits for the first message to an address, after so many, whose text the pattern matches. It gives the match with
// its groups.
func (f Folder) Await(ctx context.Context, to string, after int, pattern *regexp.Regexp) ([]string, error) {
	for {
		texts, err := f.To(to)
		if err != nil {
			return nil, err
		}
		for i := after; i < len(texts); i++ {
			if found := pattern.FindStringSubmatch(texts[i]); found != nil {
				return found, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("no such mail came: %w", ctx.Err())
		case <-time.After(pause):
		}
	}
}

// To is the plain text of every message to an address, the oldest first.
func (f Folder) To(address string) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(string(f), "*.eml"))
	if err != nil {
		return nil, err
	}
	var texts []string
	for _, name := range names {
		text, to, err := read(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if strings.EqualFold(to, address) {
			texts = append(texts, text)
		}
	}
	return texts, nil
}

func read(name string) (text, to string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return "", "", err
	}
	defer file.Close() //nolint:errcheck // only read
	message, err := mail.ReadMessage(file)
	if err != nil {
		return "", "", err
	}
	address, err := mail.ParseAddress(message.Header.Get("To"))
	if err != nil {
		return "", "", err
	}
	text, err = plain(message.Header.Get("Content-Type"), message.Header.Get("Content-Transfer-Encoding"), message.Body)
	return text, address.Address, err
}

func plain(contentType, encoding string, body io.Reader) (string, error) {
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(media, "multipart/") {
		part, err := multipart.NewReader(body, params["boundary"]).NextRawPart() // the plain one comes first (RFC 2046 §5.1.4)
		if err != nil {
			return "", err
		}
		return plain(part.Header.Get("Content-Type"), part.Header.Get("Content-Transfer-Encoding"), part)
	}
	if strings.EqualFold(encoding, "quoted-printable") {
		body = quotedprintable.NewReader(body)
	}
	raw, err := io.ReadAll(body)
	return string(raw), err
}
