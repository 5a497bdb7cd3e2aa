package rest

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// flow is one import: lines come in, are stored in batches, some at a time, and are answered in their order.
type flow struct {
	*Imports

	ctx    context.Context //nolint:containedctx // the import outlives the handler
	run    *patient.Import
	lines  *lineReader
	trace  string
	in     *intake
	out    *answers
	turns  chan chan batch // of what is under way, in the order of the lines
	places chan struct{}   // taken by batches that are not answered
	done   chan struct{}   // closed when no batch is under way any more
}

// batch is what became of some lines.
type batch struct {
	answer          []byte
	created, failed int64
	err             error // nothing is known of them
}

// answer writes what became of each line, and at the end of all; where it cannot be told, why. After a batch of which nothing is
// known those that were under way with it are told still: they are stored, and whoever imports the rest must know them.
func (f *flow) answer() {
	go f.work()
	var created, failed int64
	var err, gone error
	for turn := range f.turns {
		b := <-turn
		created, failed = created+b.created, failed+b.failed
		switch {
		case b.err == nil && gone == nil:
			_, gone = f.out.Write(b.answer)
		case b.err != nil && err == nil && gone == nil:
			err = b.err
			f.tell(err)
		}
		if err != nil || gone != nil {
			f.in.stop()
		}
		<-f.places
	}
	if err == nil {
		err = gone
	}
	if end := f.run.End(); end != nil { // whoever repeats it waits a little longer
		f.Logger.WarnContext(f.ctx, "an import's key is not free yet", "error", end.Error())
	}
	if err == nil {
		err = f.in.why()
	}
	last := fmt.Appendf(nil, `{"created":%d,"failed":%d}`, created, failed)
	if err != nil { // without a total, so that nobody takes it for whole
		_, document := web.Problem(err, f.trace)
		last = fmt.Appendf(nil, `{"problem":%s}`, document)
	}
	_, _ = f.out.Write(append(last, '\n')) // who has left does not miss it
	f.out.end()
}

// tell tells the log why an import failed that its sender is not to blame for.
func (f *flow) tell(err error) {
	switch fault.Of(err).Kind {
	case fault.Internal:
		f.Logger.ErrorContext(f.ctx, "import failed", "error", err.Error())
	case fault.Unavailable:
		f.Logger.WarnContext(f.ctx, "import unavailable", "error", err.Error())
	default:
	}
}

// work stores batches until there are no more.
func (f *flow) work() {
	workers := batchesUnderWay
	if f.run.Limited() {
		workers = 1
	}
	var working sync.WaitGroup
	for range workers {
		working.Go(func() {
			for f.one() {
			}
		})
	}
	working.Wait()
	close(f.done)
	close(f.turns)
}

// one stores a batch; false when there is none.
func (f *flow) one() bool {
	f.places <- struct{}{}
	turn := make(chan batch, 1)
	lines := f.in.take(func() { f.turns <- turn })
	if lines == nil {
		<-f.places
		return false
	}
	var b batch
	err := run.Safely(func() (err error) {
		b, err = f.store(lines)
		return err
	})
	b.err = err
	turn <- b
	return true
}

// store stores lines and tells what became of each.
func (f *flow) store(lines []importLine) (batch, error) {
	done, err := f.run.Store(f.ctx, len(lines), func(n int) patient.Draft { return f.lines.draft(&lines[n]) })
	if err != nil {
		return batch{}, err
	}
	var b batch
	for n, l := range lines {
		b.answer = strconv.AppendInt(append(b.answer, `{"line":`...), l.number, 10)
		if l.ref != nil {
			b.answer = append(append(b.answer, `,"ref":`...), l.ref...)
		}
		if done[n].Err == nil {
			b.created++
			b.answer = strconv.AppendInt(append(b.answer, `,"id":`...), done[n].ID, 10)
		} else {
			b.failed++
			_, document := web.Problem(done[n].Err, f.trace)
			b.answer = append(append(b.answer, `,"problem":`...), document...)
		}
		b.answer = append(b.answer, "}\n"...)
	}
	return b, nil
}
