package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

const (
	findConnections = 16
	findQuestions   = 4000 // of as many people, taken in turn
	findSeed        = 20261121
	loadLimit       = 15 * time.Minute
	// The bounds of a find are those of a million people, and of ten.
	budgetFindMedian = 3 * time.Millisecond
	budgetFindLong   = 10 * time.Millisecond
	budgetFindTen    = 20 * time.Millisecond
	tenMillion       = 10_000_000
)

// find measures GET /v3/patient/find among so many people, beside a v3 read. They are made up, and come by import; who is
// asked for is one of them as another system keeps the record, with its errors.
func (b *Bench) find(ctx context.Context) error {
	t, err := b.newTenant(ctx, "find")
	if err != nil {
		return err
	}
	crowd, err := b.findable(ctx, t)
	if err != nil {
		return err
	}
	loading, err := b.loaded(ctx, t, crowd.targets("")[0])
	if err != nil {
		return err
	}
	var one struct{ ID int64 }
	if err := t.call(ctx, http.MethodPost, "/v3/patient", person, &one); err != nil {
		return err
	}
	alone := traffic.Plan{
		Method: http.MethodGet, Targets: crowd.targets(""), Connections: findConnections, Address: b.mesh.Address("matching"),
		Sign: &traffic.Sign{MeshKey: b.mesh.MeshKey(), Principal: b.of(t.id)},
	}
	subjects := []subject{
		b.measured("find", t.asks(crowd.targets("")...), "", b.clock(mesh.Gateway, "matching", "patient", "tenant")),
		b.measured("exact find", t.asks(crowd.targets("&exact=true")...), "", b.clock(mesh.Gateway, "matching", "patient", "tenant")),
		b.asking("find by the matching service alone", alone, "matching", "patient", "tenant"),
		b.measured("v3 read", t.asks("/v3/patient/"+strconv.FormatInt(one.ID, 10)), "", b.clock(mesh.Gateway, "patient", "tenant")),
	}
	found, err := b.interleave(ctx, "find", subjects)
	if err != nil {
		return err
	}
	full := table{
		title:  fmt.Sprintf("Find among %d people, %d at a time, through the gateway, beside a v3 read", b.options.People, findConnections),
		header: []string{"What", "p50 to the v3 read's", "Rate", "Our programs' CPU a request", "PostgreSQL's", "p50", "p99"},
	}
	base := found["v3 read"].P50
	for _, s := range subjects {
		f := found[s.name]
		full.rows = append(full.rows, append([]string{
			s.name, fmt.Sprintf("%.2f×", float64(f.P50)/float64(max(base, 1))), rate(f.Rate), duration(f.CPU), duration(f.Database),
		}, figures(f)[1:]...))
	}
	b.report.table(full)
	b.findHeadlines(found["find"])
	return b.findNotes(crowd, loading)
}

func (b *Bench) findHeadlines(f sample) {
	long := budgetFindLong
	if b.options.People >= tenMillion {
		long = budgetFindTen
	}
	what := fmt.Sprintf("of a find among %d people, %d at a time, through the gateway", b.options.People, findConnections)
	if b.options.People < tenMillion {
		b.report.headline(headline{what: "p50 " + what, found: duration(f.P50), budget: "≤ " + duration(budgetFindMedian), met: verdictOf(f.P50 <= budgetFindMedian)})
	}
	b.report.headline(headline{what: "p99 " + what, found: duration(f.P99), budget: "≤ " + duration(long), met: verdictOf(f.P99 <= long)})
}

func (b *Bench) findNotes(c crowd, loading time.Duration) error {
	memory, err := residentOf(b.mesh.Process("matching").Pid())
	if err != nil {
		return err
	}
	b.report.note(fmt.Sprintf("find: %d people were imported at %.0f a second. Matching had them in memory %s after the first question, and holds %s then.",
		b.options.People, float64(b.options.People)/c.took.Seconds(), duration(loading), mebibytes(memory)))
	return nil
}

// crowd is who is found, and how they are asked for.
type crowd struct {
	questions []string // queries of a URL
	took      time.Duration
}

func (c crowd) targets(more string) []string {
	targets := make([]string, len(c.questions))
	for i, q := range c.questions {
		targets[i] = "/v3/patient/find?" + q + more
	}
	return targets
}

// findable imports everybody's first record. What others keep of some of them becomes the questions.
func (b *Bench) findable(ctx context.Context, t tenant) (c crowd, err error) {
	b.say(fmt.Sprintf("importing %d people", b.options.People))
	g, err := synth.New(synth.Options{
		Seed: findSeed, People: int64(b.options.People), Duplicated: min(1, float64(findQuestions)/float64(b.options.People)), Intensity: 1, Complete: true,
	})
	if err != nil {
		return c, err
	}
	began := time.Now()
	lines, feed := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := c.write(g, feed)
		feed.CloseWithError(err)
		written <- err
	}()
	err = t.imports(ctx, lines, b.options.People)
	_ = lines.CloseWithError(io.ErrClosedPipe) // so that nobody writes for ever
	err = errors.Join(err, <-written)
	c.took = time.Since(began)
	if err == nil && len(c.questions) == 0 {
		err = errors.New("too few people to ask for one")
	}
	return c, err
}

func (c *crowd) write(g *synth.Generator, out io.Writer) error {
	w, err := synth.NewNDJSON(out, nil, findSeed)
	if err != nil {
		return err
	}
	for r := range g.Records() {
		if r.Copy > 0 {
			c.questions = append(c.questions, asked(r, len(c.questions)))
		} else if err := w.Write(&r); err != nil {
			return err
		}
	}
	return w.Flush()
}

// asked is how somebody who keeps a record asks for its person: by name, date of birth and sex, every other time by what else
// is usual, too.
func asked(r synth.Record, n int) string {
	q := url.Values{"firstName": {r.FirstName}, "lastName": {r.LastName}, "dob": {r.DOB}, "sexAtBirth": {r.SexAtBirth}}
	if n%2 == 0 {
		return q.Encode()
	}
	q.Set("middleName", r.MiddleName)
	q.Set("last4Ssn", r.Last4SSN)
	for _, a := range r.Addresses[:min(len(r.Addresses), 1)] {
		q.Set("line1", a.Line1)
		q.Set("city", a.City)
		q.Set("state", a.State)
		q.Set("postalCode", a.PostalCode)
	}
	for _, contact := range r.Contacts {
		if contact.System == "phone" {
			q.Set("phone", contact.Value)
		}
	}
	return q.Encode()
}

// loaded waits until a find is answered, and tells how long that took.
func (b *Bench) loaded(ctx context.Context, t tenant, target string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, loadLimit)
	defer cancel()
	began := time.Now()
	for {
		err := t.call(ctx, http.MethodGet, target, "", &struct{}{})
		if err == nil {
			return time.Since(began), nil
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}
