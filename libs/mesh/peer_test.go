package mesh

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// backend is a peer's instance on a free port.
type backend struct {
	address string
	calls   atomic.Int64
	stop    func()
}

func serve(t testing.TB, handler fasthttp.RequestHandler) *backend {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &backend{address: ln.Addr().String()}
	server := &fasthttp.Server{CloseOnShutdown: true, StreamRequestBody: true, Handler: func(c *fasthttp.RequestCtx) {
		b.calls.Add(1)
		handler(c)
	}}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(ln)
	}()
	b.stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = server.ShutdownWithContext(ctx)
		_ = ln.Close() // a server that has not begun yet is not told to stop
		<-done
	}
	t.Cleanup(b.stop)
	return b
}

func ok(c *fasthttp.RequestCtx) { c.SetBodyString(c.LocalAddr().String()) }

// closed is an address where nothing listens.
func closed(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}

func peerOf(t testing.TB, o Options, addresses ...string) *Peer {
	t.Helper()
	c, err := New(Static{"patient": addresses}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Peer("patient")
}

type exchange struct {
	req  *fasthttp.Request
	resp *fasthttp.Response
}

func newExchange(method, target string) exchange {
	e := exchange{&fasthttp.Request{}, &fasthttp.Response{}}
	e.req.Header.SetMethod(method)
	e.req.SetRequestURI(target)
	return e
}

func TestDoSendsTargetAsGivenAndTimeLeft(t *testing.T) {
	var target, host, timeout string
	b := serve(t, func(c *fasthttp.RequestCtx) {
		target, host = string(c.Request.Header.RequestURI()), string(c.Host())
		timeout = string(c.Request.Header.Peek(TimeoutHeader))
	})
	p := peerOf(t, Options{}, b.address)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	e := newExchange("GET", "/v3/patient/%41/..;x?b=%20&a=1&")
	if err := p.Do(ctx, e.req, e.resp, RepeatSafe); err != nil {
		t.Fatal(err)
	}
	if target != "/v3/patient/%41/..;x?b=%20&a=1&" || host != "patient" {
		t.Errorf("target %q, host %q", target, host)
	}
	if ms, err := strconv.Atoi(timeout); err != nil || ms <= 0 || ms > 5000 {
		t.Errorf("%s: %q", TimeoutHeader, timeout)
	}
}

func TestDoGoesToAnotherInstance(t *testing.T) {
	unhandled := func(c *fasthttp.RequestCtx) {
		c.SetStatusCode(503)
		c.Response.Header.Set(UnhandledHeader, "1")
	}
	vanish := func(c *fasthttp.RequestCtx) {
		c.Conn().Close()
		c.HijackSetNoResponse(true)
		c.Hijack(func(net.Conn) {})
	}
	tests := []struct {
		name   string
		first  fasthttp.RequestHandler // nil: nothing listens
		method string
		key    string
		repeat Repeat
		want   bool
	}{
		{"GET, no connection", nil, "GET", "", RepeatSafe, true},
		{"POST, no connection: nothing was sent", nil, "POST", "", RepeatSafe, true},
		{"POST, refused unhandled", unhandled, "POST", "", RepeatSafe, true},
		{"GET, connection lost", vanish, "GET", "", RepeatSafe, true},
		{"PUT, connection lost", vanish, "PUT", "", RepeatSafe, true},
		{"POST with key, connection lost", vanish, "POST", "k", RepeatSafe, true},
		{"POST, connection lost", vanish, "POST", "", RepeatSafe, false},
		{"PATCH, connection lost", vanish, "PATCH", "", RepeatSafe, false},
		{"DELETE, connection lost", vanish, "DELETE", "", RepeatSafe, false},
		{"DELETE by flag, connection lost", vanish, "DELETE", "", RepeatAlways, true},
		{"GET by flag, connection lost", vanish, "GET", "", RepeatNever, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			address := closed(t)
			if test.first != nil {
				address = serve(t, test.first).address
			}
			good := serve(t, ok)
			p := peerOf(t, Options{}, address, good.address)
			// the first instance is drawn by chance: make the good one look busy, so that the other is chosen
			list := *p.instances.Load()
			list[slices.IndexFunc(list, func(i *instance) bool { return i.address == good.address })].outstanding.Store(100)
			e := newExchange(test.method, "/")
			if test.key != "" {
				e.req.Header.Set(IdempotencyKeyHeader, test.key)
			}
			err := p.Do(t.Context(), e.req, e.resp, test.repeat)
			if got := err == nil && e.resp.StatusCode() == 200; got != test.want {
				t.Errorf("reached the other: %v, want %v (%v, %d)", got, test.want, err, e.resp.StatusCode())
			}
			if err != nil && !fault.Is(err, fault.Unavailable) {
				t.Errorf("not a fault of kind Unavailable: %v", err)
			}
		})
	}
}

// fasthttp by itself would send what it takes to be safe up to five times, to the same instance.
func TestNothingIsRepeatedBehindOurBack(t *testing.T) {
	for _, method := range []string{"GET", "HEAD", "PUT", "OPTIONS", "POST"} {
		for _, warm := range []bool{false, true} { // on a connection of its own, and on one that was kept
			alive := warm
			b := serve(t, func(c *fasthttp.RequestCtx) {
				if alive {
					alive = false
					return
				}
				c.Conn().Close()
				c.HijackSetNoResponse(true)
				c.Hijack(func(net.Conn) {})
			})
			p, want := peerOf(t, Options{}, b.address), int64(1)
			if warm {
				want++
				if e := newExchange("GET", "/"); p.Do(t.Context(), e.req, e.resp, RepeatNever) != nil {
					t.Fatal("the first call fails")
				}
			}
			e := newExchange(method, "/")
			if err := p.Do(t.Context(), e.req, e.resp, RepeatNever); !fault.Is(err, fault.Unavailable) {
				t.Errorf("%s: %v", method, err)
			}
			if got := b.calls.Load(); got != want {
				t.Errorf("%s, on a kept connection %v: the instance was called %d times, want %d", method, warm, got, want)
			}
		}
	}
}

func TestHandled503IsAnAnswer(t *testing.T) {
	b := serve(t, func(c *fasthttp.RequestCtx) { c.SetStatusCode(503) })
	p := peerOf(t, Options{}, b.address)
	e := newExchange("GET", "/")
	if err := p.Do(t.Context(), e.req, e.resp, RepeatSafe); err != nil || e.resp.StatusCode() != 503 || b.calls.Load() != 1 {
		t.Errorf("%v, status %d, calls %d", err, e.resp.StatusCode(), b.calls.Load())
	}
}

func TestDoSurvivesARestart(t *testing.T) {
	b := serve(t, ok)
	p := peerOf(t, Options{}, b.address)
	e := newExchange("GET", "/")
	if err := p.Do(t.Context(), e.req, e.resp, RepeatSafe); err != nil {
		t.Fatal(err)
	}
	b.stop()
	ln, err := net.Listen("tcp", b.address)
	if err != nil {
		t.Skip("the port was taken:", err)
	}
	server := &fasthttp.Server{Handler: ok}
	go func() { _ = server.Serve(ln) }()
	defer server.Shutdown()
	if err := p.Do(t.Context(), e.req, e.resp, RepeatSafe); err != nil {
		t.Errorf("after the restart: %v", err)
	}
}

func TestBreakerOpensAndTriesAgain(t *testing.T) {
	address := closed(t)
	p := peerOf(t, Options{BreakerOpen: 10 * time.Millisecond}, address)
	e := newExchange("POST", "/")
	for range 20 {
		if err := p.Do(t.Context(), e.req, e.resp, RepeatSafe); err == nil {
			t.Fatal("nothing listens there")
		}
	}
	i := (*p.instances.Load())[0]
	if breakerState(i) == 0 {
		t.Fatal("the breaker is closed after 20 failures")
	}
	ln, err := net.Listen("tcp", address)
	if err != nil {
		t.Skip("the port was taken:", err)
	}
	server := &fasthttp.Server{Handler: ok}
	go func() { _ = server.Serve(ln) }()
	defer server.Shutdown()
	for {
		err := p.Do(t.Context(), e.req, e.resp, RepeatSafe)
		if err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal(err)
		}
	}
}

func TestDeadlineBoundsTheCall(t *testing.T) {
	release := make(chan struct{})
	b := serve(t, func(*fasthttp.RequestCtx) { <-release })
	defer close(release)
	p := peerOf(t, Options{}, b.address)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	e := newExchange("GET", "/")
	err := p.Do(ctx, e.req, e.resp, RepeatSafe)
	if !fault.Is(err, fault.Unavailable) || !errors.Is(err, fasthttp.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if b.calls.Load() != 1 {
		t.Errorf("called %d times: a timeout is not repeated", b.calls.Load())
	}
}

func TestNoInstance(t *testing.T) {
	p := peerOf(t, Options{})
	e := newExchange("GET", "/")
	if err := p.Do(t.Context(), e.req, e.resp, RepeatSafe); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
}

func TestBudgetBoundsRepetitions(t *testing.T) {
	b := newBudget()
	b.floor.SetBurst(0)
	for range 105 {
		b.earn()
	}
	spent := 0
	for b.spend() {
		spent++
	}
	if spent != 10 {
		t.Errorf("105 calls allow %d repetitions", spent)
	}
	for range 10_000 {
		b.earn()
	}
	for spent = 0; b.spend(); {
		spent++
	}
	if spent != savedRepeats {
		t.Errorf("saved up %d", spent)
	}
}

func TestUpdateKeepsInstancesThatStay(t *testing.T) {
	p := peerOf(t, Options{}, "127.0.0.1:1", "127.0.0.1:2")
	before := (*p.instances.Load())[1]
	p.update(alike("127.0.0.1:2", "127.0.0.1:3"))
	after := *p.instances.Load()
	if after[0] != before || !slices.Equal(p.Instances(), []string{"127.0.0.1:2", "127.0.0.1:3"}) {
		t.Errorf("instances %v", p.Instances())
	}
}

func TestPickPrefersTheLessBusy(t *testing.T) {
	p := peerOf(t, Options{}, "127.0.0.1:1", "127.0.0.1:2")
	(*p.instances.Load())[0].outstanding.Store(3)
	for range 50 {
		i, done := p.pick(nil)
		done(nil)
		if i.address != "127.0.0.1:2" {
			t.Fatal("picked the busy one")
		}
	}
}

// Calls stay in the own zone as long as an instance there takes them.
func TestPickStaysInItsZone(t *testing.T) {
	p := peerOf(t, Options{Zone: "east", BreakerOpen: time.Hour})
	p.update([]Endpoint{{Address: "a:1", Zone: "west"}, {Address: "b:1", Zone: "east"}, {Address: "c:1", Zone: "east"}, {Address: "d:1"}})
	picked := func(avoid *instance) string {
		i, done := p.pick(avoid)
		done(nil)
		return i.address
	}
	near := map[string]bool{}
	for range 100 {
		near[picked(nil)] = true
	}
	if len(near) != 2 || !near["b:1"] || !near["c:1"] {
		t.Errorf("picked %v", near)
	}
	list := *p.instances.Load()
	if list[0].address != "b:1" || list[1].address != "c:1" {
		t.Fatalf("instances %v", p.Instances())
	}
	for range tripInARow { // b fails its calls
		done, err := list[0].breaker.Allow()
		if err != nil {
			t.Fatal(err)
		}
		done(errors.New("away"))
	}
	for range 20 {
		if got := picked(nil); got != "c:1" {
			t.Fatalf("picked %s while c is there", got)
		}
		if got := picked(list[1]); got != "a:1" && got != "d:1" {
			t.Fatalf("picked %s where nobody else is left in the zone", got)
		}
	}
}

// One instance that is left of a zone shares what it cannot do alone, and no more than that.
func TestPickSpillsOver(t *testing.T) {
	p := peerOf(t, Options{Zone: "east", BreakerOpen: time.Hour})
	p.update([]Endpoint{
		{Address: "a:1", Zone: "east", Weight: 2}, {Address: "b:1", Zone: "east"}, {Address: "c:1", Zone: "west"}, {Address: "d:1", Zone: "west"},
	})
	list := *p.instances.Load()
	open := func(i *instance) {
		for range tripInARow {
			if done, err := i.breaker.Allow(); err == nil {
				done(errors.New("away"))
			}
		}
	}
	picked := func() (near, far int) {
		for range 100 {
			i, done := p.pick(nil)
			done(nil)
			if i.near.Load() {
				near++
			} else {
				far++
			}
		}
		return near, far
	}
	busy := func(calls ...int64) {
		for n, c := range calls {
			list[n].outstanding.Store(c)
		}
	}
	open(list[1])
	for name, c := range map[string]struct {
		busy []int64 // a, b, c, d
		far  bool
	}{
		"few calls":                   {[]int64{spillFrom - 1, 0, 0, 0}, false},
		"as much as its weight":       {[]int64{8, 0, 0, 0}, false}, // four for each share, and one more elsewhere
		"much":                        {[]int64{9, 0, 0, 0}, true},
		"much, and elsewhere alike":   {[]int64{80, 0, 10, 10}, false},
		"much, and elsewhere less so": {[]int64{80, 0, 8, 8}, true},
	} {
		busy(c.busy...)
		if near, far := picked(); (far > 0) != c.far || (near > 0) == c.far {
			t.Errorf("%s: %d calls stayed in the zone, %d left it", name, near, far)
		}
	}
	busy(1000, 0, 0, 0)
	open(list[2])
	open(list[3])
	if near, far := picked(); near != 100 || far != 0 {
		t.Errorf("nobody is left elsewhere: %d calls stayed, %d left", near, far)
	}
}

func TestPickKeepsToWeights(t *testing.T) {
	p := peerOf(t, Options{})
	p.update([]Endpoint{{Address: "a:1", Weight: 9}, {Address: "b:1"}})
	heavy := 0
	for range 2000 {
		i, done := p.pick(nil)
		done(nil)
		if i.address == "a:1" {
			heavy++
		}
	}
	if heavy < 1700 || heavy > 1900 { // 1800, and more than seven standard deviations
		t.Errorf("%d of 2000 calls went to the one that takes nine of ten", heavy)
	}
	(*p.instances.Load())[0].outstanding.Store(18) // 2 for each share
	(*p.instances.Load())[1].outstanding.Store(3)
	if i, done := p.pick(nil); i.address != "a:1" {
		t.Errorf("picked %s, which is busier for its weight", i.address)
	} else {
		done(nil)
	}
}

func BenchmarkDo(b *testing.B) {
	p := peerOf(b, Options{}, serve(b, ok).address)
	e := newExchange("GET", "/v3/patient/1")
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Do(b.Context(), e.req, e.resp, RepeatSafe); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBare is BenchmarkDo without us: the difference is our overhead.
func BenchmarkBare(b *testing.B) {
	hc := newInstance(serve(b, ok).address, Options{}.withDefaults()).http
	e := newExchange("GET", "/v3/patient/1")
	e.req.SetHost("patient")
	b.ReportAllocs()
	for b.Loop() {
		if err := hc.Do(e.req, e.resp); err != nil {
			b.Fatal(err)
		}
	}
}
