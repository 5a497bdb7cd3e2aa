package load

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// linesKept bounds the line numbers that are kept for each reason; what lies past it is only counted.
const linesKept = 200

// Latencies are kept from a microsecond to five minutes, to three digits.
const (
	longestLatency  = 5 * time.Minute
	latencyAccuracy = 3
)

// Report counts what became of the rows. It is safe for concurrent use.
type Report struct {
	mu        sync.Mutex
	created   int64
	replayed  int64
	retries   int64
	verified  int64
	elapsed   time.Duration
	latencies *hdrhistogram.Histogram // microseconds
	skipped   map[string]*lines       // by reason
	refused   map[string]*lines       // what the interface would not take as it is
	failed    map[string]*lines       // what might have been taken
	differ    map[string]*lines
}

// lines is where something happened.
type lines struct {
	first []int
	total int64
}

func newReport() *Report {
	return &Report{
		latencies: hdrhistogram.New(1, longestLatency.Microseconds(), latencyAccuracy),
		skipped:   map[string]*lines{}, refused: map[string]*lines{}, failed: map[string]*lines{}, differ: map[string]*lines{},
	}
}

func (r *Report) create(c created) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created++
	if c.replayed {
		r.replayed++
	}
	_ = r.latencies.RecordValue(min(c.took, longestLatency).Microseconds())
}

// imported is a row of a stream, of which nobody knows how long it took.
func (r *Report) imported() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.created++
}

func (r *Report) retry() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retries++
}

func (r *Report) took(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.elapsed += d
}

func (r *Report) skip(line int, reason string)   { r.note(r.skipped, line, reason) }
func (r *Report) refuse(line int, reason string) { r.note(r.refused, line, reason) }
func (r *Report) fail(line int, reason string)   { r.note(r.failed, line, reason) }

// compare takes what differs in a record that was read back; nothing is a record that is as it should be.
func (r *Report) compare(line int, differences []string) {
	if len(differences) > 0 {
		r.note(r.differ, line, strings.Join(differences, ", "))
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.verified++
}

func (r *Report) note(in map[string]*lines, line int, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if in[reason] == nil {
		in[reason] = &lines{}
	}
	l := in[reason]
	l.total++
	if len(l.first) < linesKept {
		l.first = append(l.first, line)
	}
}

// Created is how many rows have a patient now.
func (r *Report) Created() int64 { return r.count(&r.created) }

// Verified is how many of the created read back equal.
func (r *Report) Verified() int64 { return r.count(&r.verified) }

// Replayed is how many of the created were there from an earlier load of the same file.
func (r *Report) Replayed() int64 { return r.count(&r.replayed) }

// Retries is how often a request was sent again.
func (r *Report) Retries() int64 { return r.count(&r.retries) }

// Skipped is how many rows were not sent, since they lack what a patient must have.
func (r *Report) Skipped() int64 { return r.total(r.skipped) }

// Refused is how many rows are no patient by the interface's rules.
func (r *Report) Refused() int64 { return r.total(r.refused) }

// Failed is how many rows found no answer that counts.
func (r *Report) Failed() int64 { return r.total(r.failed) }

// Different is how many of the created did not read back equal.
func (r *Report) Different() int64 { return r.total(r.differ) }

func (r *Report) count(n *int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return *n
}

func (r *Report) total(of map[string]*lines) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	var sum int64
	for _, l := range of {
		sum += l.total
	}
	return sum
}

// Write tells it all to people.
func (r *Report) Write(w io.Writer) error {
	created, replayed, verified := r.Created(), r.Replayed(), r.Verified()
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	rate := float64(created) / max(r.elapsed.Seconds(), 1e-9)
	fmt.Fprintf(&b, "created    %d in %s: %.0f a second\n", created, r.elapsed.Round(time.Millisecond), rate)
	if replayed > 0 {
		fmt.Fprintf(&b, "           %d of them were there from an earlier load of this file\n", replayed)
	}
	if r.latencies.TotalCount() > 0 {
		at := func(q float64) time.Duration { return time.Duration(r.latencies.ValueAtQuantile(q)) * time.Microsecond }
		fmt.Fprintf(&b, "latency    p50 %s, p95 %s, p99 %s\n", at(50), at(95), at(99))
	}
	fmt.Fprintf(&b, "retries    %d\n", r.retries)
	section(&b, "skipped", r.skipped)
	section(&b, "refused", r.refused)
	section(&b, "failed", r.failed)
	if verified > 0 || len(r.differ) > 0 {
		fmt.Fprintf(&b, "verified   %d of %d read back equal\n", verified, created)
		section(&b, "different", r.differ)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func section(b *strings.Builder, title string, of map[string]*lines) {
	var total int64
	for _, l := range of {
		total += l.total
	}
	fmt.Fprintf(b, "%-10s %d\n", title, total)
	for _, reason := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(b, "           %s: %s\n", reason, of[reason])
	}
}

// String lists line numbers in order, those that follow each other as a range.
func (l *lines) String() string {
	sorted := slices.Sorted(slices.Values(l.first))
	word := "lines "
	if l.total == 1 {
		word = "line "
	}
	var parts []string
	for i := 0; i < len(sorted); {
		last := i
		for last+1 < len(sorted) && sorted[last+1] == sorted[last]+1 {
			last++
		}
		text := strconv.Itoa(sorted[i])
		if last > i {
			text += "–" + strconv.Itoa(sorted[last])
		}
		parts = append(parts, text)
		i = last + 1
	}
	text := word + strings.Join(parts, ", ")
	if more := l.total - int64(len(sorted)); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
