package matchbench

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/tools/bench"
)

// bar is one of what was promised.
type bar struct {
	what, least, found string
	met                bool
}

// markdown is the report.
func (b *Bench) markdown() string {
	var out strings.Builder
	fmt.Fprintf(&out, "# Results of `make bench-match`\n\nMeasured on %s (%s, %d cores, people made up from seed %d; mesh, databases and the asking on one machine). Each record is asked through the\n"+
		"gateway of a tenant that holds all others: its own is deleted while it is asked, and restored. [README.md](README.md) says how each figure is made.\n",
		time.Now().UTC().Format("2006-01-02"), bench.Processor(), runtime.NumCPU(), b.options.Seed)
	if b.load != "" {
		fmt.Fprintf(&out, "\nThe machine was busy with other things when this began (load average %s): times are too long and rates too low.\n", b.load)
	}
	if bars := b.bars(); len(bars) > 0 {
		out.WriteString("\n| Measure | at least | found | |\n|---|---|---|---|\n")
		for _, x := range bars {
			fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", x.what, x.least, x.found, map[bool]string{true: "met", false: "**missed**"}[x.met])
		}
	}
	if len(b.measures) > 0 {
		b.tables(&out)
	}
	b.bigTables(&out)
	return out.String()
}

func (b *Bench) of(set string) (Measures, bool) {
	for i, o := range b.outcomes {
		if o.Set.Name == set {
			return b.measures[i], true
		}
	}
	return Measures{}, false
}

func (b *Bench) bars() (bars []bar) {
	if m, ok := b.of("febrl3"); ok {
		bars = append(bars, bar{
			fmt.Sprintf("Febrl 3, all fields: precision / recall at %.2f", Threshold), "0.999 / 0.998", fmt.Sprintf("%.4f / %.4f", m.Precision, m.Recall), m.Precision >= 0.999 && m.Recall >= 0.998,
		})
	}
	if m, ok := b.of("febrl3-names"); ok {
		bars = append(bars, bar{"Febrl 3, names and day of birth only: recall at precision 0.99", "0.92", fmt.Sprintf("%.4f", m.RecallAt99), m.RecallAt99 >= 0.92})
	}
	if m, ok := b.of("rldata500"); ok {
		bars = append(bars, bar{"RLdata500, names and day of birth: F1", "0.97", fmt.Sprintf("%.4f", m.F1), m.F1 >= 0.97})
	}
	if b.typos != nil {
		top := ratio(b.typos.Right, b.typos.Asked)
		bars = append(bars, bar{"top-1 after one typing error in any field, " + people(b.stored), "99.9 %", fmt.Sprintf("%.2f %% of %d", 100*top, b.typos.Asked), top >= 0.999})
	}
	if len(b.measures) > 0 {
		certain, wrong := 0, 0
		worst := 0.0
		for _, m := range b.measures {
			certain, wrong = certain+m.Certain, wrong+m.CertainWrong
			worst = max(worst, m.Calibration)
		}
		bars = append(bars,
			bar{"answers graded `certain` that are wrong", "under 1 in 10,000", fmt.Sprintf("%d of %d", wrong, certain), float64(wrong) < float64(certain)/10_000},
			bar{"expected calibration error, worst set", "under 0.02", fmt.Sprintf("%.4f", worst), worst < 0.02})
	}
	for _, t := range b.times {
		p50, p99, least := 3*time.Millisecond, 10*time.Millisecond, "3 / 10 ms"
		if t.People > 1_000_000 {
			p50, p99, least = time.Hour, 20*time.Millisecond, "– / 20 ms"
		}
		bars = append(bars, bar{
			fmt.Sprintf("p50 / p99 of find, %s, %s", t.What, people(t.People)), least, fmt.Sprintf("%s / %s", milliseconds(t.P50), milliseconds(t.P99)), t.P50 <= p50 && t.P99 <= p99,
		})
	}
	if f := b.fresh; f != nil {
		bars = append(bars, bar{
			fmt.Sprintf("stale answers during %d creates a second", creates), "0", fmt.Sprintf("%d of %d, at %.0f a second", f.Stale, f.Asked, f.Rate), f.Stale == 0 && f.Rate >= 0.95*creates,
		})
	}
	return bars
}

func (b *Bench) tables(out *strings.Builder) {
	fmt.Fprintf(out, "\n## Accuracy\n\nPrecision, recall and F1 at a score of %.2f, for all sets; beside it precision and recall at %.1f, from which find shows\n"+
		"answers when nobody says otherwise, and the best F1 that a set has and at which score. R@P99 is the most recall\n"+
		"that there is at a precision of 0.99. *Came back* is the share of the true pairs among the answers, whatever their score; *lost* that of the pairs\n"+
		"which the same model takes for one person when it looks at everybody, and which did not come back: what blocking costs.\n\n", Threshold, usual)
	out.WriteString("| Set | asked | true pairs | precision | recall | F1 | usually | best F1 at | R@P99 | top-1 | came back | lost |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	for i, m := range b.measures {
		if m.True == 0 {
			fmt.Fprintf(out, "| %s | %d | 0 | – | – | – | – | – | – | – | – | – |\n", b.outcomes[i].Set.Name, m.Asked)
			continue
		}
		fmt.Fprintf(out, "| %s | %d | %d | %.4f | %.4f | %.4f | %.4f / %.4f | %.4f at %.3f | %.4f | %.4f | %.4f | %.4f |\n", b.outcomes[i].Set.Name, m.Asked, m.True, m.Precision, m.Recall, m.F1,
			m.ShownPrecision, m.ShownRecall, m.BestF1, m.BestAt, m.RecallAt99, m.Top1, m.Seen, b.lost[i])
	}
	out.WriteString("\n| Set | answers | of them from 0.5 on, wrong | certain | wrong | of the true pairs | calibration error | from 0.5 on |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for i, m := range b.measures {
		wrong := 0
		for _, a := range b.outcomes[i].Answers {
			if a.Score >= usual && !a.Same {
				wrong++
			}
		}
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %.3f | %.4f | %.4f |\n", b.outcomes[i].Set.Name, m.Answers, wrong, m.Certain, m.CertainWrong, m.CertainOf, m.Calibration, m.CalibrationUpper)
	}
	if b.options.Plots == "" {
		return
	}
	out.WriteString("\n![Calibration](plots/calibration.svg)\n\n![Precision and recall](plots/precision.svg)\n")
	for _, o := range b.outcomes {
		fmt.Fprintf(out, "\n![Answers of %s by their score](plots/scores-%s.svg)\n", o.Set.Name, o.Set.Name)
	}
}

func (b *Bench) bigTables(out *strings.Builder) {
	if b.stored == 0 {
		return
	}
	fmt.Fprintf(out, "\n## A tenant of %s\n\nImported at %.0f people a second, synthetic people and the asking included.\n", people(b.stored), b.rate)
	if t := b.typos; t != nil && len(t.Missed) > 0 {
		out.WriteString("\nAfter one typing error somebody else was on top, or nobody was:\n\n| Error | times |\n|---|--:|\n")
		for _, field := range slices.Sorted(maps.Keys(t.Missed)) {
			fmt.Fprintf(out, "| %s | %d |\n", field, t.Missed[field])
		}
	}
	if len(b.times) > 0 {
		fmt.Fprintf(out, "\n%d questions at a time, each about somebody else:\n\n| Asked | a second | p50 | p95 | p99 | failed |\n|---|--:|--:|--:|--:|--:|\n", b.options.Asking)
		for _, t := range b.times {
			fmt.Fprintf(out, "| %s | %.0f | %s | %s | %s | %d |\n", t.What, t.Rate, milliseconds(t.P50), milliseconds(t.P95), milliseconds(t.P99), t.Failed())
		}
		if b.options.Plots != "" {
			out.WriteString("\n![Time of a find](plots/latency.svg)\n")
		}
	}
	if f := b.fresh; f != nil {
		fmt.Fprintf(out, "\nWhile %d people were created, %.0f a second, %d finds looked for somebody just created, renamed or deleted: %d were stale, %d were told to come back.\n",
			f.Created, f.Rate, f.Asked, f.Stale, f.Behind)
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
