package mesh

import (
	"math/rand/v2"
	"slices"
)

// update takes a new list of addresses. Instances that stay keep their connections and breakers; those that went
// finish what they are doing.
func (p *Peer) update(addresses []string) {
	p.updating.Lock()
	defer p.updating.Unlock()
	before := *p.instances.Load()
	after := make([]*instance, 0, len(addresses))
	for _, address := range addresses {
		at := slices.IndexFunc(before, func(i *instance) bool { return i.address == address })
		if at >= 0 {
			after = append(after, before[at])
		} else {
			after = append(after, newInstance(address, p.client.opts))
		}
	}
	p.instances.Store(&after)
	for _, i := range before {
		if !slices.Contains(after, i) {
			i.http.CloseIdleConnections()
		}
	}
}

// pick chooses an instance whose breaker lets a call through, and not the one to avoid when there is another: the
// less busy of two drawn at random (Mitzenmacher 2001), else any. done must be called with the call's outcome.
func (p *Peer) pick(avoid *instance) (i *instance, done func(error)) {
	list := *p.instances.Load()
	if len(list) == 0 {
		return nil, nil
	}
	first := list[0]
	if len(list) > 1 {
		a := rand.IntN(len(list))     //nolint:gosec // spreads load, guards nothing
		b := rand.IntN(len(list) - 1) //nolint:gosec // which of two instances is asked is no secret
		if b >= a {
			b++
		}
		first = list[a]
		if first == avoid || (list[b] != avoid && list[b].outstanding.Load() < first.outstanding.Load()) {
			first = list[b]
		}
	}
	if done, err := first.breaker.Allow(); err == nil {
		return first, done
	}
	start := rand.IntN(len(list)) //nolint:gosec // as above
	for n := range list {
		other := list[(start+n)%len(list)]
		if other == first || (other == avoid && len(list) > 1) {
			continue
		}
		if done, err := other.breaker.Allow(); err == nil {
			return other, done
		}
	}
	if avoid != nil && avoid != first && slices.Contains(list, avoid) { // better the same again than none
		if done, err := avoid.breaker.Allow(); err == nil {
			return avoid, done
		}
	}
	return nil, nil
}
