package replica

import "time"

const (
	// fullFor is how long a tenant for which there was no room is not tried again.
	// One that is too large alone is left alone for longer: each try drops others.
	fullFor      = 30 * time.Second
	fullAloneFor = 10 * time.Minute
	// A tenant that was asked about within spared is not dropped to load another one: two that do not fit together would
	// be loaded in turns for ever.
	spared = 30 * time.Second
	// mostOfOne is what a tenant may take alone, however much there is: the references within an index reach no further.
	mostOfOne = 16 << 30
)

// want is what room is made for.
type want bool

const (
	loading want = false // a tenant that is not there yet: others have a right to stay
	grown   want = true  // one that is
)

// account counts a tenant's memory anew. Where all together would be too much, those go who were not asked about for
// longest; where that does not help, the tenant itself does, and the fault tells that there is no room.
func (r *Replica[P]) account(t *tenant[P], people P, why want) error {
	size := people.Memory()
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.gone {
		return nil
	}
	r.memory += size - t.memory
	t.memory = size
	now, alone := r.o.Now(), t.memory > min(r.o.Memory, mostOfOne)
	for r.memory > r.o.Memory || alone {
		other := r.idlest(t)
		if alone || other == nil || why == loading && now.Sub(other.used) < spared {
			t.full = now.Add(fullFor)
			if alone {
				t.full = now.Add(fullAloneFor)
			}
			r.forget(t)
			return unavailable(nil, CodeFull)
		}
		r.forget(other)
		other.gone = true
		delete(r.tenants, other.id)
		r.meters.dropped(r.life)
	}
	return nil
}

// idlest is the tenant that takes room and was not asked about for longest, other than the one that needs it.
func (r *Replica[P]) idlest(but *tenant[P]) *tenant[P] {
	var found *tenant[P]
	for _, t := range r.tenants {
		if t != but && t.loaded && (found == nil || t.used.Before(found.used)) {
			found = t
		}
	}
	return found
}

// drop forgets what is held of a tenant.
func (r *Replica[P]) drop(t *tenant[P]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(t)
}

// forget is drop with the lock held. Who was given the people goes on with them.
func (r *Replica[P]) forget(t *tenant[P]) {
	var none P
	r.memory -= t.memory
	t.people, t.loaded, t.position, t.memory = none, false, "", 0
}
