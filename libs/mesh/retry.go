package mesh

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/valyala/fasthttp"
	"golang.org/x/time/rate"
)

// Repeat says whether a request may be sent a second time when it is not known what became of the first.
type Repeat int

// The ways to decide. Whatever is chosen, a request that certainly was not handled may go to another instance.
const (
	// RepeatSafe repeats GET and HEAD, PUT, and a POST that bears an Idempotency-Key. Not DELETE, whose second answer
	// would be 404 where the first, lost, was 200; and not PATCH.
	RepeatSafe Repeat = iota
	// RepeatAlways is for operations known to answer the same twice.
	RepeatAlways
	// RepeatNever is for operations that must not be sent twice.
	RepeatNever
)

// allows decides for one request.
func (r Repeat) allows(h *fasthttp.RequestHeader) bool {
	switch r {
	case RepeatAlways:
		return true
	case RepeatNever:
		return false
	default:
		return h.IsGet() || h.IsHead() || h.IsPut() || (h.IsPost() && len(h.Peek(IdempotencyKeyHeader)) > 0)
	}
}

// notSent reports an error before the first byte of the request left.
func notSent(err error) bool {
	var dial *dialError
	return errors.As(err, &dial) || errors.Is(err, fasthttp.ErrNoFreeConns)
}

// errCallersFault is a call that failed because the caller's own body could not be read.
var errCallersFault = errors.New("the request's body broke off")

// isExcluded names the failures that say nothing about the instance: its connections were all in use by us, it had
// closed an idle connection (a restart closes all of them at once), or the caller's body broke off.
func isExcluded(err error) bool {
	return errors.Is(err, fasthttp.ErrNoFreeConns) || errors.Is(err, fasthttp.ErrConnectionClosed) ||
		errors.Is(err, io.EOF) || errors.Is(err, errCallersFault)
}

func isFailure(err error) bool {
	return err != nil && !errors.Is(err, fasthttp.ErrBodyTooLarge)
}

// budget bounds what is repeated to a share of what is called, so that a service in trouble is not called twice as
// often for it. A little is always there, for callers that call seldom. It is safe for concurrent use.
type budget struct {
	tenths atomic.Int64
	floor  *rate.Limiter
}

// Each call earns a tenth of a repetition; this many can be saved up.
const savedRepeats = 100

func newBudget() *budget { return &budget{floor: rate.NewLimiter(1, 10)} }

func (b *budget) earn() {
	if b.tenths.Load() < savedRepeats*10 {
		b.tenths.Add(1)
	}
}

func (b *budget) spend() bool {
	for {
		have := b.tenths.Load()
		if have < 10 {
			return b.floor.Allow()
		}
		if b.tenths.CompareAndSwap(have, have-10) {
			return true
		}
	}
}
