package replica

import "time"

// Memory is what all tenants take together, as it is counted.
func Memory[P People](r *Replica[P]) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.memory
}

// Lag is what index.lag tells.
func Lag[P People](r *Replica[P]) time.Duration { return r.state().lag }

// Age lets a test say that nobody has asked about a tenant for a while, and that it may be tried again.
func Age[P People](r *Replica[P], tenant string, by time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t := r.tenants[tenant]; t != nil {
		t.used, t.full = t.used.Add(-by), time.Time{}
	}
}

// Forget lets a test drop a tenant.
func Forget[P People](r *Replica[P], tenant string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(r.tenants[tenant])
}
