package mesh

import (
	"net"
	"sync/atomic"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/valyala/fasthttp"
)

// instance is one process of a service: its connections, how busy we keep it, and whether it is worth calling.
type instance struct {
	address     string
	near        atomic.Bool  // in our own zone
	weight      atomic.Int64 // its share of the calls
	outstanding atomic.Int64
	breaker     *gobreaker.TwoStepCircuitBreaker[struct{}]
	http        *fasthttp.HostClient
}

// What makes a breaker open: so many failures in a row, or this share of enough calls within the window.
const (
	tripInARow  = 5
	tripCalls   = 20
	tripWindow  = 10 * time.Second
	probesAtOne = 3 // calls let through at once to find out whether an instance is back
)

func newInstance(address string, o Options) *instance {
	i := &instance{address: address}
	i.breaker = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Name: address, MaxRequests: probesAtOne, Interval: tripWindow, Timeout: o.BreakerOpen,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.ConsecutiveFailures >= tripInARow || (c.Requests >= tripCalls && c.TotalFailures*2 >= c.Requests)
		},
		IsSuccessful: func(err error) bool { return !isFailure(err) },
		IsExcluded:   isExcluded,
	})
	i.http = &fasthttp.HostClient{
		Addr:                          address,
		DialTimeout:                   dialer(o.DialTimeout),
		MaxConns:                      o.MaxConns,
		MaxConnWaitTimeout:            o.MaxConnWait,
		MaxIdleConnDuration:           o.MaxIdle,
		MaxResponseBodySize:           o.MaxResponseBody,
		MaxIdemponentCallAttempts:     1, // repeated in one place: peer.go
		RetryIfErr:                    func(*fasthttp.Request, int, error) (bool, bool) { return false, false },
		ReadBufferSize:                16 << 10, // headers and small bodies in one read
		WriteBufferSize:               8 << 10,
		NoDefaultUserAgentHeader:      true,
		DisablePathNormalizing:        true, // what was signed is what is sent
		DisableHeaderNamesNormalizing: false,
		SecureErrorLogMessage:         true, // errors do not quote what was received
	}
	return i
}

// dialer keeps to its own timeout and the request's, whichever is shorter.
func dialer(limit time.Duration) fasthttp.DialFuncWithTimeout {
	return func(address string, timeout time.Duration) (net.Conn, error) {
		if timeout <= 0 || timeout > limit {
			timeout = limit
		}
		conn, err := net.DialTimeout("tcp", address, timeout) //nolint:noctx // fasthttp dials with a timeout, not with a context
		if err != nil {
			return nil, &dialError{err}
		}
		return conn, nil
	}
}

// dialError is a connection that was never made: nothing was sent, so anything may be sent again.
type dialError struct{ cause error }

func (e *dialError) Error() string { return "connect: " + e.cause.Error() }
func (e *dialError) Unwrap() error { return e.cause }
