package load

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// source is a CSV file that is read as a stream, as often as needed.
type source struct {
	path string
	own  map[string]string // field to heading
	hash string            // of the content: what makes a second load of the same file a repetition
	rows int64             // about how many, for the progress bar: lines but the first
}

// open looks at the whole file once, to know it again.
func open(path string, own map[string]string) (source, error) {
	s := source{path: path, own: own}
	file, err := os.Open(path)
	if err != nil {
		return s, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	digest := sha256.New()
	lines := &lineCounter{}
	if _, err := io.Copy(io.MultiWriter(digest, lines), file); err != nil {
		return s, err
	}
	s.hash = hex.EncodeToString(digest.Sum(nil)[:16])
	s.rows = lines.count()
	return s, nil
}

// lineCounter counts the lines that have something on them.
type lineCounter struct {
	lines int64
	begun bool
}

func (c *lineCounter) Write(b []byte) (int, error) {
	c.lines += int64(bytes.Count(b, []byte{'\n'}))
	if len(b) > 0 {
		c.begun = b[len(b)-1] != '\n'
	}
	return len(b), nil
}

func (c *lineCounter) count() int64 {
	lines := c.lines
	if c.begun {
		lines++
	}
	return max(0, lines-1)
}

// row is one data row. A row that cannot be read has a reason.
type row struct {
	index  int64 // 0-based, counts data rows
	line   int   // where it begins in the file, the heading on 1
	person Person
	reason string
}

// each calls take for every row in order, until the file ends or take gives an error. It keeps one row in memory.
func (s source) each(take func(row) error) error {
	file, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	in := csv.NewReader(WithoutBOM(file))
	in.TrimLeadingSpace, in.ReuseRecord, in.FieldsPerRecord = true, true, -1
	header, err := in.Read()
	if err != nil {
		return fmt.Errorf("the heading of %s: %w", s.path, err)
	}
	for i := range header {
		header[i] = string(bytes.TrimSpace([]byte(header[i])))
	}
	width := len(header)
	cells, err := mapColumns(header, s.own)
	if err != nil {
		return err
	}
	for index := int64(0); ; index++ {
		r := row{index: index}
		record, err := in.Read()
		var bad *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &bad):
			r.line, r.reason = bad.StartLine, "is no CSV"
		case err != nil:
			return err
		case len(record) != width:
			r.line, _ = in.FieldPos(0)
			r.reason = "has another number of columns than the heading"
		default:
			r.line, _ = in.FieldPos(0)
			r.person = cells.person(record)
		}
		if err := take(r); err != nil {
			return err
		}
	}
}

// WithoutBOM leaves out the mark of UTF-8 at the beginning that some programs write.
func WithoutBOM(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if start, _ := in.Peek(3); bytes.Equal(start, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3)
	}
	return in
}
