package bench

import (
	"fmt"
	"strings"
	"time"
)

// report is what was found, as people read it: ratios first.
type report struct {
	headlines []headline
	tables    []table
	notes     []string
	machine   []string
}

// headline is one budget and what became of it.
type headline struct {
	what   string
	found  string
	budget string
	met    verdict
}

type verdict string

const (
	met      verdict = "yes"
	missed   verdict = "**no**"
	noBudget verdict = "–"
)

func verdictOf(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// table is a set of figures in full.
type table struct {
	title  string
	header []string
	rows   [][]string
}

func (r *report) headline(h headline) { r.headlines = append(r.headlines, h) }
func (r *report) table(t table)       { r.tables = append(r.tables, t) }
func (r *report) note(text string)    { r.notes = append(r.notes, text) }

// atLeast is the headline of a ratio that should not be below a bound. A bound of 0 is no bound.
func (r *report) atLeast(what string, ratio, bound float64) {
	h := headline{what: what, found: fmt.Sprintf("%.2f×", ratio), budget: "–", met: noBudget}
	if bound > 0 {
		h.budget, h.met = fmt.Sprintf("≥ %.2f×", bound), verdictOf(ratio >= bound)
	}
	r.headline(h)
}

// Markdown is the whole report.
func (r *report) Markdown(at time.Time) string {
	var b strings.Builder
	b.WriteString("# Results of `make bench`\n\n")
	fmt.Fprintf(&b, "Measured on %s, everything on one machine and over loopback, each row's subjects side by side in interleaved rounds;\n"+
		"figures are medians of the rounds. Ratios are ours over theirs: above 1 we are faster.\n\n", at.UTC().Format("2006-01-02 15:04 MST"))
	write(&b, table{header: []string{"What", "Found", "Budget", "Met"}, rows: rowsOf(r.headlines)})
	for _, t := range r.tables {
		fmt.Fprintf(&b, "\n## %s\n\n", t.title)
		write(&b, t)
	}
	section(&b, "Notes", r.notes)
	section(&b, "Machine", r.machine)
	return b.String()
}

func section(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n\n", title)
	for _, line := range lines {
		b.WriteString("* " + line + "\n")
	}
}

func rowsOf(headlines []headline) [][]string {
	rows := make([][]string, len(headlines))
	for i, h := range headlines {
		rows[i] = []string{h.what, h.found, h.budget, string(h.met)}
	}
	return rows
}

func write(b *strings.Builder, t table) {
	line := func(cells []string) { b.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(t.header)
	rule := make([]string, len(t.header))
	for i := range rule {
		rule[i] = "---"
		if i > 0 {
			rule[i] = "---:"
		}
	}
	line(rule)
	for _, row := range t.rows {
		line(row)
	}
}

// figures writes a subject's sample as cells: rate, p50, p99.
func figures(s sample) []string {
	return []string{rate(s.Rate), duration(s.P50), duration(s.P99)}
}

func rate(perSecond float64) string { return fmt.Sprintf("%.0f/s", perSecond) }

// duration writes a time in the unit that people compare by; unknown is a dash.
func duration(d time.Duration) string {
	switch {
	case d == 0:
		return "–"
	case d < time.Millisecond:
		return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%.2f ms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
}

func mebibytes(bytes int64) string { return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20)) }
