package train

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
)

// Write writes the report into a folder: report.md with its plots, and the model as model.json. Nothing of it is of anybody:
// counts, levels of agreement, and figures of the model.
func (l *Learnt) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // it is for anybody to read
		return err
	}
	files := map[string]func(io.Writer) error{
		"report.md": l.Report, "scores.svg": l.PlotScores, "weights.svg": l.PlotWeights, "model.json": l.writeModel,
	}
	if l.Method == ByCounting {
		files["calibration.svg"] = l.PlotCalibration
	}
	for name, write := range files {
		if err := into(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func into(path string, write func(io.Writer) error) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err = write(file); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}

func (l *Learnt) writeModel(to io.Writer) error {
	out := json.NewEncoder(to)
	out.SetIndent("", "  ")
	return out.Encode(l.Model)
}

// summary is one sentence.
func (l *Learnt) summary() string {
	if l.Method == ByCounting {
		return fmt.Sprintf("Counted from %.0f pairs of one person among %d records.", l.Pairs, l.Records)
	}
	return fmt.Sprintf("Learnt by EM from about %.0f pairs of one person among %d records.", l.Pairs, l.Records)
}

// Line tells the result on a line or two.
func (l *Learnt) Line() string {
	if l.Method == ByCounting {
		return fmt.Sprintf("learnt     %s\nheld out   F1 %.4f (was %.4f), calibration error %.4f (%.4f), certain %d (%d), wrong %d (%d)", l.summary(),
			l.After.F1, l.Before.F1, l.After.ECE, l.Before.ECE, l.After.Certain, l.Before.Certain, l.After.WrongCertain, l.Before.WrongCertain)
	}
	return fmt.Sprintf("learnt     %s\nheld out   log likelihood %.1f (was %.1f) of %d pairs", l.summary(), l.After.LogLikelihood, l.Before.LogLikelihood, l.After.Pairs)
}

// figures are what is kept beside the model.
func (l *Learnt) figures() map[string]any {
	f := map[string]any{
		"method": l.Method, "records": l.Records, "strangers": l.Strangers, "looked": l.Looked, "pairs": math.Round(l.Pairs), "seed": l.Seed % (1 << 53),
	}
	if l.Method == ByExpectation {
		f["logLikelihood"], f["logLikelihoodBefore"] = l.After.LogLikelihood, l.Before.LogLikelihood
		return f
	}
	for suffix, m := range map[string]*Measure{"": &l.After, "Before": &l.Before} {
		f["precision"+suffix], f["recall"+suffix], f["f1"+suffix] = m.Precision, m.Recall, m.F1
		f["ece"+suffix], f["logLoss"+suffix], f["first"+suffix] = m.ECE, m.LogLoss, m.First
		f["certain"+suffix], f["wrongCertain"+suffix] = m.Certain, m.WrongCertain
	}
	f["questions"], f["heldOut"] = l.After.Questions, l.After.Pairs
	return f
}

// Report writes it for people.
func (l *Learnt) Report(to io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# Training of a matching model\n\n%s %d pairs were taken at random; seed %d.\n\n", l.summary(), l.Strangers, l.Seed)
	l.verdict(&b)
	if l.Method == ByCounting {
		l.labelled(&b)
	} else {
		l.unlabelled(&b)
	}
	b.WriteString("\n![Scores of the pairs that were held out](scores.svg)\n")
	l.weights(&b)
	_, err := io.WriteString(to, b.String())
	return err
}

func (l *Learnt) verdict(b *strings.Builder) {
	if len(l.Reasons) == 0 {
		b.WriteString("**It is not worse than the active model** on what was held out.\n\n")
		return
	}
	b.WriteString("**It is worse than the active model** on what was held out:\n\n")
	for _, reason := range l.Reasons {
		fmt.Fprintf(b, "* %s\n", reason)
	}
	b.WriteString("\n")
}

func (l *Learnt) labelled(b *strings.Builder) {
	fmt.Fprintf(b, "m was counted on half of the people, the prior and how errors come together were set on a quarter, and the table is of\n"+
		"the last quarter: %d records asked, %d pairs, %d of them of one person (each asked from either side).\n\n",
		l.After.Questions, l.After.Pairs, l.After.Matches)
	b.WriteString("| | default | active | new |\n|---|---|---|---|\n")
	row := func(name, format string, of func(m *Measure) any) {
		fmt.Fprintf(b, "| %s | "+format+" | "+format+" | "+format+" |\n", name, of(&l.Standard), of(&l.Before), of(&l.After))
	}
	row("precision at a score of 0.5", "%.4f", func(m *Measure) any { return m.Precision })
	row("recall at a score of 0.5", "%.4f", func(m *Measure) any { return m.Recall })
	row("F1", "%.4f", func(m *Measure) any { return m.F1 })
	row("first answer right", "%.4f", func(m *Measure) any { return m.First })
	row("expected calibration error (scores from 0.01)", "%.4f", func(m *Measure) any { return m.ECE })
	row("surprise, bits a pair", "%.5f", func(m *Measure) any { return m.LogLoss })
	row("graded certain", "%d", func(m *Measure) any { return m.Certain })
	row("of those wrong", "%d", func(m *Measure) any { return m.WrongCertain })
	b.WriteString("\n![Calibration](calibration.svg)\n")
}

func (l *Learnt) unlabelled(b *strings.Builder) {
	b.WriteString("Nobody knows which records are of one person. Pairs were looked for in these ways, and two thirds of them learnt from:\n\n" +
		"| agree in | pairs | of one person, about | learnt from |\n|---|---|---|---|\n")
	for _, p := range l.Passes {
		learnt := "yes"
		if !p.Learnt {
			learnt = "no: too many are of relatives"
		}
		fmt.Fprintf(b, "| %s | %d | %.1f %% | %s |\n", p.Name, p.Pairs, 100*p.Share, learnt)
	}
	fmt.Fprintf(b, "\nThe third that was held out, %d pairs, is described better the higher its log likelihood is:\n\n"+
		"| default | active | new |\n|---|---|---|\n| %.1f | %.1f | %.1f |\n",
		l.After.Pairs, l.Standard.LogLikelihood, l.Before.LogLikelihood, l.After.LogLikelihood)
}

// weights tells every level whose weight is another one.
func (l *Learnt) weights(b *strings.Builder) {
	b.WriteString("\n## What agreement is worth\n\n![Weights by level](weights.svg)\n\n" +
		"In bits, log2 of m/u. Of exact names and dates of birth u follows from how common they are, and so it does of slips in names.\n\n" +
		"| level | m, active | m, new | u, active | u, new | weight, active | weight, new |\n|---|---|---|---|---|---|---|\n")
	for _, row := range levels(l.Model) {
		before, after := row.of(l.Active), row.of(l.Model)
		fmt.Fprintf(b, "| %s | %.4g | %.4g | %.3g | %.3g | %.2f | %.2f |\n",
			row.name, before.M, after.M, before.U, after.U, row.weight(l.Active), row.weight(l.Model))
	}
	p, q := l.Active, l.Model
	fmt.Fprintf(b, "\n| | active | new |\n|---|---|---|\n"+
		"| records of the person that are expected | %.3g | %.3g |\n| careless records | %.3g | %.3g |\n| their odds of errors, times | %.3g | %.3g |\n"+
		"| bits are taken for, times | %.3g | %.3g |\n| certain from | %.6f | %.6f |\n",
		p.Prior.Matches, q.Prior.Matches, p.Careless.Share, q.Careless.Share, p.Careless.Times, q.Careless.Times,
		p.Calibration.Scale, q.Calibration.Scale, p.Thresholds.Certain, q.Thresholds.Certain)
}
