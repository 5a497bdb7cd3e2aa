package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"time"
)

// output is the way of a program's words to its journal.
type output struct {
	writer *os.File      // our copy of the end that the program writes to
	done   chan struct{} // closed when everything was read; nil when the program writes to the file itself
}

// attach leads the command's output to the journal: through us when there may be lines to show, else straight into
// the file, which goes on when we are killed.
func (p *Process) attach(cmd *exec.Cmd) (output, error) {
	if !p.program.Speaks {
		cmd.Stdout, cmd.Stderr = p.journal.file, p.journal.file
		return output{}, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return output{}, fmt.Errorf("pipe for %s: %w", p.program.Name, err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	out := output{writer: w, done: make(chan struct{})}
	go func() {
		defer close(out.done)
		defer func() { _ = r.Close() }()
		p.journal.copyFrom(r)
	}()
	return out, nil
}

// release closes our end, so that the reader sees the end of the output when the program ends.
func (o output) release() {
	if o.writer != nil {
		_ = o.writer.Close()
	}
}

// wait lets the last words be written; not for ever, since a grandchild may hold the pipe open.
func (o output) wait() {
	if o.done == nil {
		return
	}
	select {
	case <-o.done:
	case <-time.After(time.Second):
	}
}
