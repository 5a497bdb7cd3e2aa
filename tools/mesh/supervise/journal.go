package supervise

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	rotateAt   = 16 << 20 // bytes; a log over it is put aside at the next start, one generation
	shownAtOne = 10       // lines of one program shown in shownWithin; the rest is only in its log
)

const shownWithin = time.Minute

// journal writes what a program says to its log file and shows the lines that somebody should see.
type journal struct {
	name string
	file *os.File
	show func(line string)
	now  func() time.Time

	mu    sync.Mutex
	since time.Time
	shown int
}

func openJournal(name, path string, show func(string), now func() time.Time) (*journal, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > rotateAt {
		_ = os.Rename(path, path+".1")
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log of %s: %w", name, err)
	}
	return &journal{name: name, file: file, show: show, now: now}, nil
}

// copyFrom takes what r gives until it ends, in the pieces in which it comes, and looks at each line of it.
func (j *journal) copyFrom(r io.Reader) {
	piece := make([]byte, 64<<10)
	var rest []byte // of a line that has not ended yet
	for {
		n, err := r.Read(piece)
		_, _ = j.file.Write(piece[:n]) // a full disk must not stop the program
		rest = append(rest, piece[:n]...)
		lines := rest
		for {
			line, after, whole := bytes.Cut(lines, []byte{'\n'})
			if !whole {
				break
			}
			j.look(line)
			lines = after
		}
		if rest = append(rest[:0], lines...); len(rest) > longestLine {
			rest = rest[:0]
		}
		if err != nil {
			return
		}
	}
}

// longestLine is what is kept of a line that does not end, in bytes.
const longestLine = 1 << 20

// look shows a line that is a warning or worse. Most are not, and are told by their level without being parsed.
func (j *journal) look(line []byte) {
	if !bytes.HasPrefix(line, []byte{'{'}) || !bytes.Contains(line, []byte(`"level":"WARN"`)) && !bytes.Contains(line, []byte(`"level":"ERROR"`)) {
		return
	}
	var entry struct {
		Level string `json:"level"`
		Msg   string `json:"msg"`
		Error string `json:"error"`
	}
	if json.Unmarshal(line, &entry) != nil || (entry.Level != "WARN" && entry.Level != "ERROR") {
		return
	}
	text := entry.Msg
	if entry.Error != "" {
		text += ": " + entry.Error
	}
	j.say(strings.ToLower(entry.Level) + ": " + text)
}

// say shows a line, unless the program has filled its share of the terminal.
func (j *journal) say(text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if now := j.now(); now.Sub(j.since) > shownWithin {
		j.since, j.shown = now, 0
	}
	j.shown++
	switch {
	case j.shown < shownAtOne:
		j.show(j.name + " " + text)
	case j.shown == shownAtOne:
		j.show(j.name + " " + text + " (more in " + j.file.Name() + ")")
	}
}

// tail is the last n lines of the log.
func (j *journal) tail(n int) string {
	const window = 16 << 10
	info, err := j.file.Stat()
	if err != nil {
		return ""
	}
	raw, _ := io.ReadAll(io.NewSectionReader(j.file, max(0, info.Size()-window), window))
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
