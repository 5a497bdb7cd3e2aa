package web

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Content answers with stored bytes by the rules of http.ServeContent: one range, conditions, HEAD. header says what the
// bytes are: Content-Type and ETag at least. Several ranges get the whole. content is closed in any case.
func Content(c *fiber.Ctx, header http.Header, modified time.Time, content io.ReadSeekCloser) error {
	r := &http.Request{Method: c.Method(), Header: http.Header{}}
	for _, name := range []string{
		fiber.HeaderRange, fiber.HeaderIfRange, fiber.HeaderIfMatch, fiber.HeaderIfNoneMatch, fiber.HeaderIfModifiedSince, fiber.HeaderIfUnmodifiedSince,
	} {
		for _, value := range c.Request().Header.PeekAll(name) {
			r.Header.Add(name, string(value))
		}
	}
	if ranges := r.Header.Values(fiber.HeaderRange); len(ranges) > 1 || len(ranges) == 1 && !one(ranges[0]) {
		r.Header.Del(fiber.HeaderRange)
	}
	w := &captured{header: header.Clone(), status: http.StatusOK, body: http.NoBody}
	if w.header == nil {
		w.header = http.Header{}
	}
	http.ServeContent(w, r, "", modified, content)
	if w.status == http.StatusPartialContent && w.header.Get(fiber.HeaderContentLength) == "0" { // no range has no bytes (RFC 9110 §14.1.2)
		size, err := content.Seek(0, io.SeekEnd)
		if err != nil {
			_ = content.Close()
			return err
		}
		w.status = http.StatusRequestedRangeNotSatisfiable
		w.header.Set(fiber.HeaderContentRange, "bytes */"+strconv.FormatInt(size, 10))
	}
	var err error
	switch w.status {
	case http.StatusOK, http.StatusPartialContent, http.StatusNotModified:
		length, err := strconv.ParseInt(w.header.Get(fiber.HeaderContentLength), 10, 64)
		if err != nil {
			length = 0 // of a 304
		}
		body := bufio.NewReaderSize(w.body, 512)
		if _, err := body.Peek(1); err != nil && !errors.Is(err, io.EOF) { // now, while the answer can still be another one
			_ = content.Close()
			return err
		}
		return Answer(c, w.status, w.header, part{body, content}, length)
	case http.StatusPreconditionFailed:
		err = fault.New(fault.PreconditionFailed, "version_mismatch", "The content is another one than the condition asks for.")
	case http.StatusRequestedRangeNotSatisfiable:
		c.Set(fiber.HeaderContentRange, w.header.Get(fiber.HeaderContentRange))
		err = fault.New(fault.RangeNotSatisfiable, "range_not_satisfiable", "The content has no such range.")
	default:
		err = errSeek
	}
	_ = content.Close()
	return err
}

// one reports a range that is a single one of bytes. Other units are to be ignored (RFC 9110 §14.2).
func one(ranges string) bool {
	return strings.HasPrefix(ranges, "bytes=") && !strings.Contains(ranges, ",")
}

var errSeek = errors.New("the stored bytes cannot be served")

// part is what is read of the content, and what is closed.
type part struct {
	io.Reader
	io.Closer
}

// captured takes what http.ServeContent decides, and the reader that it would copy, unread.
type captured struct {
	header http.Header
	status int
	body   io.Reader
}

func (w *captured) Header() http.Header         { return w.header }
func (w *captured) WriteHeader(status int)      { w.status = status }
func (w *captured) Write(p []byte) (int, error) { return len(p), nil } // the text of an error

// ReadFrom is what io.CopyN calls, with an io.LimitedReader.
func (w *captured) ReadFrom(r io.Reader) (int64, error) {
	w.body = r
	if limited, ok := r.(*io.LimitedReader); ok {
		return limited.N, nil
	}
	return 0, nil
}
