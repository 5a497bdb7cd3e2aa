package audit

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// Ledger keeps the entries of reads. A read changes nothing that its entry would have to stand or fall with: it is
// enough that the entry is on disk before the answer leaves. So reads that happen at the same time share one commit,
// which a commit each would make several times as dear. It is safe for concurrent use.
type Ledger struct {
	db      *pg.DB
	mu      sync.Mutex
	waiting []line
	writers int
}

// line is an entry and whoever waits for it.
type line struct {
	entry Entry
	kept  chan<- error
}

const (
	// mostWriters is how many commits are under way at a time: what comes meanwhile is the next one.
	mostWriters = 1
	mostLines   = 100  // in one commit
	mostWaiting = 4096 // at a time; beyond it reads are refused
	writeLimit  = 5 * time.Second
)

// NewLedger makes a ledger on a database that has the queue.
func NewLedger(db *pg.DB) *Ledger { return &Ledger{db: db} }

// Keep returns when the entry is on disk. With an error nobody knows whether it is: what was read is not shown then.
func (l *Ledger) Keep(ctx context.Context, e Entry) error {
	for _, id := range [...]string{e.ID, e.TenantID} { // else it would spoil its neighbours' commit
		if _, err := uuid.Parse(id); err != nil {
			return errors.New("an audit entry without an id or a tenant") //nolint:err113 // a defect of ours
		}
	}
	kept := make(chan error, 1)
	if !l.add(line{e, kept}) {
		return fault.Away(nil, "Too much is being asked at once; try again shortly.")
	}
	select {
	case err := <-kept:
		return err
	case <-ctx.Done():
		return fault.Away(ctx.Err(), "The request took too long; try again shortly.")
	}
}

func (l *Ledger) add(one line) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) >= mostWaiting {
		return false
	}
	l.waiting = append(l.waiting, one)
	if l.writers < mostWriters {
		l.writers++
		go l.write()
	}
	return true
}

// write commits what waits until nothing does.
func (l *Ledger) write() {
	for {
		lines := l.take()
		if lines == nil {
			return
		}
		// Of whoever waits, one may give up: the others do not.
		ctx, cancel := context.WithTimeout(context.Background(), writeLimit)
		b := pg.Global()
		entries := make([]Entry, len(lines))
		for i, one := range lines {
			entries[i] = one.entry
		}
		Keep(b, entries...)
		err := l.db.Send(ctx, b)
		cancel()
		for _, one := range lines {
			one.kept <- err
		}
	}
}

func (l *Ledger) take() []line {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.writers--
		return nil
	}
	n := min(len(l.waiting), mostLines)
	lines := l.waiting[:n:n]
	if l.waiting = l.waiting[n:]; len(l.waiting) == 0 {
		l.waiting = nil
	}
	return lines
}
