package store

// SweepSQL is the statements of the sweep.
func SweepSQL() []string { return sweeps() }
