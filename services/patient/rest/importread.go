package rest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/patient-mesh/patient-mesh/services/patient"
)

const (
	readBuffer = 64 << 10
	// batchBytes is how much of lines is kept in memory for a batch, or one line more.
	batchBytes = 512 << 10
)

// intake is where the lines that have come wait for somebody who stores them: a batch at a time, what there is of it. Who
// reads waits when there is a whole one.
type intake struct {
	blocks bool // a batch is of one block

	mu      sync.Mutex
	changed sync.Cond
	lines   []importLine
	bytes   int
	ended   bool
	err     error // why there are no more lines; nil: that was all
	stopped bool  // nobody wants any more
}

func newIntake(blocks bool) *intake {
	in := &intake{blocks: blocks}
	in.changed.L = &in.mu
	return in
}

// read reads lines until there are no more. Those of nothing but spaces count, and are left out; one that breaks off with
// the body is none.
func (in *intake) read(body io.Reader) {
	r := bufio.NewReaderSize(body, readBuffer)
	for number := int64(1); ; number++ {
		text, long, err := next(r)
		if err != nil && !errors.Is(err, io.EOF) {
			in.end(err)
			return
		}
		if text = bytes.TrimSpace(text); long || len(text) > 0 {
			l := importLine{number: number}
			if !long {
				l.text = text
			}
			if !in.put(l) {
				return
			}
		}
		if err != nil {
			in.end(nil)
			return
		}
	}
}

// next reads a line, in memory of its own; of one that is too long it keeps nothing.
func next(r *bufio.Reader) (text []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if !long {
			text = append(text, piece...)
		}
		if len(text) > longestLine+1 { // with the line's end
			text, long = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return text, long, err
		}
	}
}

// full reports that a line does not go into the batch that waits.
func (in *intake) full(line int64) bool {
	block := func(line int64) int64 { return (line - 1) / patient.ImportBatch }
	return len(in.lines) == patient.ImportBatch || in.bytes >= batchBytes || in.blocks && len(in.lines) > 0 && block(in.lines[0].number) != block(line)
}

// put adds a line when there is room; false when nobody wants it.
func (in *intake) put(l importLine) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for !in.stopped && !in.ended && in.full(l.number) {
		in.changed.Wait()
	}
	if in.stopped || in.ended {
		return false
	}
	in.lines = append(in.lines, l)
	in.bytes += len(l.text)
	in.changed.Broadcast()
	return true
}

// end says why there are no more lines than there are, if nobody has said so before; nil: that was all.
func (in *intake) end(err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.ended {
		in.ended, in.err = true, err
	}
	in.changed.Broadcast()
}

// stop lets nobody wait any longer.
func (in *intake) stop() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.stopped = true
	in.changed.Broadcast()
}

// take gives the lines that wait, of one block, once there are any, and calls taken while nobody else can take some; none
// when there will be no more.
func (in *intake) take(taken func()) []importLine {
	in.mu.Lock()
	defer in.mu.Unlock()
	for !in.stopped && !in.ended && len(in.lines) == 0 {
		in.changed.Wait()
	}
	if in.stopped || len(in.lines) == 0 {
		return nil
	}
	lines := in.lines
	in.lines, in.bytes = nil, 0
	in.changed.Broadcast()
	taken()
	return lines
}

// why is why there are no more lines.
func (in *intake) why() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.err
}
