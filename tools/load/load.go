package load

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"time"
)

// Load is one file being put into one mesh.
type Load struct {
	options Options
	source  source
	gateway *gateway
	ledger  *ledger
	report  *Report
}

// New looks at the file. Close the load when it is no longer needed.
func New(o Options) (*Load, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s, err := open(o.File, o.Columns)
	if err != nil {
		return nil, err
	}
	ids, err := newLedger()
	if err != nil {
		return nil, err
	}
	r := newReport()
	return &Load{options: o, source: s, gateway: newGateway(o, r.retry), ledger: ids, report: r}, nil
}

// Close forgets the ids.
func (l *Load) Close() error { return l.ledger.close() }

// Report is what happened so far.
func (l *Load) Report() *Report { return l.report }

// key is the same whenever this row of this file is sent, so that a load that was broken off can simply be run again.
func (l *Load) key(line int) string {
	key := "load-" + l.source.hash + "-" + strconv.Itoa(line)
	if l.options.Label != "" {
		key += "-" + l.options.Label
	}
	return key
}

// Send creates a patient of each row. It stops early only when the answer to one row would be the answer to all. What
// became of the rows is in the report.
func (l *Load) Send(ctx context.Context) error {
	l.options.Begin("loading", l.source.rows)
	began := time.Now()
	err := l.parallel(ctx, l.send)
	l.report.took(time.Since(began))
	return err
}

func (l *Load) send(ctx context.Context, r row) error {
	if r.reason == "" {
		r.reason = l.options.complete(&r.person)
	}
	if r.reason != "" {
		l.report.skip(r.line, r.reason)
		return nil
	}
	c, err := l.gateway.create(ctx, r.person, l.key(r.line))
	switch {
	case err == nil:
		l.report.create(c)
		return l.ledger.put(r.index, c.id)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case hopeless(err):
		return fmt.Errorf("line %d: %w: so it would be for every row", r.line, err)
	case invalid(err):
		l.report.refuse(r.line, err.Error())
		return nil
	default:
		l.report.fail(r.line, err.Error())
		return nil
	}
}

// Verify reads every patient that Send created, and compares all that it knows of it. What differs is in the report.
func (l *Load) Verify(ctx context.Context) error {
	l.options.Begin("reading back", l.source.rows)
	return l.parallel(ctx, l.verify)
}

func (l *Load) verify(ctx context.Context, r row) error {
	id := l.ledger.get(r.index)
	if id == 0 {
		return nil
	}
	_ = l.options.complete(&r.person) // it was complete, or it would have no id
	found, err := l.gateway.read(ctx, id)
	switch {
	case err == nil:
		l.report.compare(r.line, r.person.Stored(id).Differences(found))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		l.report.compare(r.line, []string{"it cannot be read: " + err.Error()})
	}
	return nil
}

// parallel gives the rows to workers. Rows wait in no queue: one is read when a worker is free for it.
func (l *Load) parallel(ctx context.Context, do func(context.Context, row) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	rows := make(chan row)
	var workers sync.WaitGroup
	for range l.options.Workers {
		workers.Go(func() {
			for r := range rows {
				if err := do(ctx, r); err != nil {
					cancel(err)
				}
				l.options.Progress()
			}
		})
	}
	err := l.source.each(func(r row) error {
		select {
		case rows <- r:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(rows)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}
