// Package traffic asks one server as fast as it answers, over a fixed number of connections, and tells how long answers
// took. The loop is closed: a connection sends its next request when it has the answer to the last one. It knows HTTP
// and assertions, and nothing of what is measured.
package traffic

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// Plan is what to ask.
type Plan struct {
	Address     string // host:port
	Connections int
	Warmup      time.Duration // asked before anything is counted
	Duration    time.Duration
	Method      string
	Targets     []string // taken in turn
	Header      map[string]string
	Body        string
	Bodies      []string // in place of Body: one for each connection, by turns
	Turns       bool     // Bodies are taken in turn as Targets are: each request sends another one
	Chain       *Chain
	Good        int   // the status of a success; 0 is any of 2xx
	Sign        *Sign // for a service that is asked without a gateway
}

// Chain makes each request of a connection carry what the answer before it gave, as a refresh token is carried.
type Chain struct {
	Prefix string   // of the body; what is carried follows it
	Member string   // of the JSON answer
	First  []string // for each connection
}

// body is what a connection sends next.
func (c *Chain) body(carried string) string { return c.Prefix + url.QueryEscape(carried) }

// next is what an answer gives to carry on.
func (c *Chain) next(raw []byte) (string, error) {
	var members map[string]any
	if err := json.Unmarshal(raw, &members); err != nil {
		return "", err
	}
	value, ok := members[c.Member].(string)
	if !ok {
		return "", fmt.Errorf("an answer without %s", c.Member) //nolint:err113 // ends the run
	}
	return value, nil
}

// Sign makes the assertion that a service wants to see.
type Sign struct {
	MeshKey   string
	Principal principal.Principal
}

// Result is how it went. Failures are no part of the rate.
type Result struct {
	Rate          float64          // successes a second
	P50, P95, P99 time.Duration    // of those
	Curve         []Quantile       // how many of those took how long at most
	Failures      map[string]int64 // by status, or by what went wrong
	Asked         int64            // requests in all, those of the warm-up too
}

// Quantile is the time within which a share of the answers came.
type Quantile struct {
	Share float64
	Took  time.Duration
}

// Failed counts the failures.
func (r Result) Failed() int64 {
	var n int64
	for _, of := range r.Failures {
		n += of
	}
	return n
}

// Latencies are kept from a microsecond to a minute, to three digits.
const (
	longest  = time.Minute
	accuracy = 3
	timeout  = 20 * time.Second
)

// Run carries out a plan.
func Run(ctx context.Context, p Plan) (Result, error) {
	sign, err := p.signer()
	if err != nil {
		return Result{}, err
	}
	client := &fasthttp.HostClient{
		Addr: p.Address, MaxConns: p.Connections, MaxIdemponentCallAttempts: 1, ReadTimeout: timeout, WriteTimeout: timeout,
		MaxIdleConnDuration: time.Minute, NoDefaultUserAgentHeader: true, DisablePathNormalizing: true,
	}
	defer client.CloseIdleConnections()
	from := time.Now().Add(p.Warmup)
	until := from.Add(p.Duration)
	tallies := make([]*tally, p.Connections)
	var all sync.WaitGroup
	for i := range tallies {
		tallies[i] = newTally()
		all.Go(func() { p.connection(ctx, client, sign, tallies[i], i, from, until) })
	}
	all.Wait()
	return sum(tallies, p.Duration), ctx.Err()
}

// connection is one loop. What began in the warm-up or ended after the end is not counted.
func (p Plan) connection(ctx context.Context, client *fasthttp.HostClient, sign func(target string) string, t *tally, n int, from, until time.Time) {
	req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(req)
	defer fasthttp.ReleaseResponse(resp)
	carried := ""
	if p.Chain != nil {
		carried = p.Chain.First[n]
	}
	body := p.Body
	if len(p.Bodies) > 0 {
		body = p.Bodies[n%len(p.Bodies)]
	}
	for ; ctx.Err() == nil; n += p.Connections {
		if p.Chain != nil {
			body = p.Chain.body(carried)
		} else if p.Turns {
			body = p.Bodies[n%len(p.Bodies)]
		}
		p.write(req, p.Targets[n%len(p.Targets)], body, sign)
		began := time.Now()
		if !began.Before(until) {
			return
		}
		err := client.Do(req, resp)
		t.asked++
		ended := time.Now()
		if p.Chain != nil { // without what an answer carries there is nothing more to ask
			if err == nil {
				carried, err = p.Chain.next(resp.Body())
			}
			if err != nil {
				t.failures["broken chain"]++
				return
			}
		}
		if began.Before(from) || ended.After(until) {
			continue
		}
		switch code := resp.StatusCode(); {
		case err != nil:
			t.failures["no answer"]++
		case !p.good(code):
			t.failures[strconv.Itoa(code)]++
		default:
			_ = t.latencies.RecordValue(min(ended.Sub(began), longest).Microseconds())
		}
	}
}

func (p Plan) good(code int) bool {
	if p.Good > 0 {
		return code == p.Good
	}
	return code >= 200 && code <= 299
}

func (p Plan) write(req *fasthttp.Request, target, body string, sign func(string) string) {
	req.Reset()
	req.Header.SetMethod(p.Method)
	req.SetRequestURI("http://" + p.Address + target)
	if body != "" {
		req.Header.SetContentType("application/json") // unless the plan says otherwise
		req.SetBodyString(body)
	}
	for name, value := range p.Header {
		req.Header.Set(name, value)
	}
	if sign != nil {
		req.Header.Set(principal.AssertionHeader, sign(target))
	}
}

// signAgain is how long an assertion is used, so that making them is no part of what is measured.
const signAgain = principal.AssertionLifetime / 3

func (p Plan) signer() (func(target string) string, error) {
	if p.Sign == nil {
		return nil, nil //nolint:nilnil // no signer is what a plan without one wants
	}
	keys, err := principal.ParseKeyring(p.Sign.MeshKey)
	if err != nil {
		return nil, err
	}
	who := principal.Encode(p.Sign.Principal)
	type made struct {
		text string
		at   time.Time
	}
	var mu sync.Mutex
	known := map[string]made{}
	return func(target string) string {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		m, ok := known[target]
		if !ok || now.Sub(m.at) > signAgain {
			m = made{text: keys.Sign(who, p.Method, target, now), at: now}
			known[target] = m
		}
		return m.text
	}, nil
}

type tally struct {
	latencies *hdrhistogram.Histogram // microseconds
	failures  map[string]int64
	asked     int64
}

func newTally() *tally {
	return &tally{latencies: hdrhistogram.New(1, longest.Microseconds(), accuracy), failures: map[string]int64{}}
}

func sum(tallies []*tally, over time.Duration) Result {
	all := newTally()
	for _, t := range tallies {
		all.latencies.Merge(t.latencies)
		all.asked += t.asked
		for what, n := range t.failures {
			all.failures[what] += n
		}
	}
	at := func(q float64) time.Duration {
		return time.Duration(all.latencies.ValueAtQuantile(q)) * time.Microsecond
	}
	result := Result{
		Rate: float64(all.latencies.TotalCount()) / over.Seconds(), P50: at(50), P95: at(95), P99: at(99), Failures: all.failures, Asked: all.asked,
	}
	for q := 1.0; q < 100; q++ {
		result.Curve = append(result.Curve, Quantile{q / 100, at(q)})
	}
	result.Curve = append(result.Curve, Quantile{0.995, at(99.5)}, Quantile{0.999, at(99.9)})
	return result
}

// Serve reads a plan from in, carries it out and writes the result to out, as a process of its own does.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	var p Plan
	if err := json.NewDecoder(in).Decode(&p); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	result, err := Run(ctx, p)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(result)
}
