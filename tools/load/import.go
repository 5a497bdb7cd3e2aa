package load

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Import does what Send does with all rows in one stream, which is many times as fast. A stream that breaks off is sent again:
// under one key each row makes one patient.
func (l *Load) Import(ctx context.Context) error {
	l.options.Begin("importing", l.source.rows)
	began := time.Now()
	defer func() { l.report.took(time.Since(began)) }()
	s := &stream{load: l, skipped: -1}
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 50*time.Millisecond, 5*time.Second
	for last := time.Now(); ; {
		before := s.answered
		err := s.send(ctx)
		var permanent *backoff.PermanentError
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &permanent):
			return permanent.Err
		case s.answered > before:
			last = time.Now()
			wait.Reset()
		case time.Since(last) > l.options.Patience:
			return err
		}
		l.report.retry()
		select {
		case <-time.After(wait.NextBackOff()):
		case <-ctx.Done():
		}
	}
}

// stream is all rows on their way, as often as it takes.
type stream struct {
	load     *Load
	answered int64 // lines, of which the first may be answered again
	skipped  int64 // the last row that was left out
}

// send sends all that can be sent, once, and takes the answers meanwhile. An error that is not permanent may pass.
func (s *stream) send(ctx context.Context) error {
	l := s.load
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	body, into := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		into.CloseWithError(s.write(into))
	}()
	defer func() {
		_ = body.Close() // ends the writing
		<-written
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.gateway.url+"/v3/patient/import", body)
	if err != nil {
		return backoff.Permanent(err)
	}
	request.Header.Set("Authorization", "Bearer "+l.gateway.apiKey)
	request.Header.Set("Content-Type", "application/x-ndjson")
	request.Header.Set("Idempotency-Key", l.key(0))
	response, err := l.gateway.http.Do(request)
	if err != nil {
		return errors.New("no answer") // the client's text repeats the address
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20))
		return decide(response, raw)
	}
	return s.read(response.Body)
}

// place is a row's own, by which it is known again in an answer.
type place struct {
	index int64
	line  int
}

func (p place) String() string { return fmt.Sprintf("%d %d", p.index, p.line) }

// write writes the rows that can be sent.
func (s *stream) write(to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<16)
	lines := json.NewEncoder(out)
	err := s.load.source.each(func(r row) error {
		if r.reason == "" {
			r.reason = s.load.options.complete(&r.person)
		}
		if r.reason == "" {
			return lines.Encode(struct {
				Ref string `json:"ref"`
				Person
			}{place{r.index, r.line}.String(), r.person})
		}
		if r.index > s.skipped {
			s.skipped = r.index
			s.load.report.skip(r.line, r.reason)
			s.load.options.Progress()
		}
		return nil
	})
	return errors.Join(err, out.Flush())
}

// read takes what became of each row, and is nil when all has been answered.
func (s *stream) read(body io.Reader) error {
	in := json.NewDecoder(body)
	for n := int64(1); ; n++ {
		var told struct {
			Ref     string
			ID      int64
			Created *int64
			Problem *struct {
				Status int
				Code   string
				Errors []struct{ Field, Code string }
			}
		}
		switch err := in.Decode(&told); {
		case err != nil:
			return errors.New("the answer broke off")
		case told.Created != nil:
			return nil
		case told.Ref == "" && told.Problem != nil:
			return fmt.Errorf("the import ended: %d %s", told.Problem.Status, told.Problem.Code)
		case n <= s.answered:
			continue
		}
		s.answered = n
		var at place
		if _, err := fmt.Sscan(told.Ref, &at.index, &at.line); err != nil {
			return backoff.Permanent(errors.New("the answer is not the one that was expected"))
		}
		if p := told.Problem; p != nil {
			r := &refusal{status: p.Status, code: p.Code}
			for _, f := range p.Errors {
				r.fields = append(r.fields, f.Field+": "+f.Code)
			}
			if invalid(r) {
				s.load.report.refuse(at.line, r.Error())
			} else {
				s.load.report.fail(at.line, r.Error())
			}
		} else {
			s.load.report.imported()
			if err := s.load.ledger.put(at.index, told.ID); err != nil {
				return backoff.Permanent(err)
			}
		}
		s.load.options.Progress()
	}
}
