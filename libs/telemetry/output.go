package telemetry

import (
	"bufio"
	"context"
	"io"
	"sync"
	"time"
)

// output gathers log lines, so that a line a request costs no write of its own. What is a warning or worse is written
// at once, with all before it; the rest within flushEvery. A killed program loses that much of its log at the most.
type output struct {
	mu      sync.Mutex
	lines   *bufio.Writer
	stop    chan struct{}
	stopped sync.WaitGroup
}

const (
	flushEvery = 100 * time.Millisecond
	outputSize = 32 << 10
)

func newOutput(to io.Writer) *output {
	o := &output{lines: bufio.NewWriterSize(to, outputSize), stop: make(chan struct{})}
	o.stopped.Go(o.run)
	return o
}

// Write takes one line in.
func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.lines.Write(line)
}

func (o *output) run() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			o.flush()
		case <-o.stop:
			return
		}
	}
}

func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	_ = o.lines.Flush() // there is nowhere to complain about a log that cannot be written
}

func (o *output) close(context.Context) error {
	close(o.stop)
	o.stopped.Wait()
	o.flush()
	return nil
}
