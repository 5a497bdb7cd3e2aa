package estimate

// Bounded is what was learnt with no m more than so many times as large, or as small, as was believed. The order of the levels
// is put right where that disturbs it.
func (fit Fit) Bounded(s Scheme, times float64) Fit {
	out := fit
	out.M = make([][]float64, len(s))
	for f := range s {
		m, sum := make([]float64, len(s[f].M)), 0.0
		for level, believed := range s[f].M {
			m[level] = min(max(fit.M[f][level], believed/times), believed*times)
			sum += m[level]
		}
		for level := range m {
			m[level] /= sum
		}
		out.M[f] = ordered(m, fit.U[f])
	}
	return out
}

// ordered is the distribution nearest to m whose ratio to u never rises from a level to a worse one.
func ordered(m, u []float64) []float64 {
	ones := make([]float64, len(m))
	for i := range ones {
		ones[i] = 1
	}
	return spread(pool(m, ones, u), u)
}
