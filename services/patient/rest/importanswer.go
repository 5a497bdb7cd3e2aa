package rest

import (
	"errors"
	"io"
	"sync"
)

// unreadAnswers is how much of the answers may wait for a client that does not read them while it sends.
const unreadAnswers = 4 << 20

// answers is a body that is written while it is read.
type answers struct {
	mu      sync.Mutex
	changed sync.Cond
	waiting []byte
	ended   bool
	closed  bool
	onClose func()
}

func newAnswers(onClose func()) *answers {
	a := &answers{onClose: onClose}
	a.changed.L = &a.mu
	return a
}

var errNobodyReads = errors.New("nobody reads the answer any more")

// Write waits while too much is unread.
func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.closed && len(a.waiting) >= unreadAnswers {
		a.changed.Wait()
	}
	if a.closed {
		return 0, errNobodyReads
	}
	a.waiting = append(a.waiting, p...)
	a.changed.Broadcast()
	return len(p), nil
}

// end says that all has been written.
func (a *answers) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.changed.Broadcast()
}

// Read gives what has been written, once there is anything.
func (a *answers) Read(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for !a.ended && !a.closed && len(a.waiting) == 0 {
		a.changed.Wait()
	}
	if len(a.waiting) == 0 {
		return 0, io.EOF
	}
	n := copy(p, a.waiting)
	if a.waiting = a.waiting[n:]; len(a.waiting) == 0 {
		a.waiting = nil
	}
	a.changed.Broadcast()
	return n, nil
}

// Close says that nobody reads any more.
func (a *answers) Close() error {
	a.mu.Lock()
	a.closed = true
	a.waiting = nil
	a.changed.Broadcast()
	a.mu.Unlock()
	a.onClose()
	return nil
}
