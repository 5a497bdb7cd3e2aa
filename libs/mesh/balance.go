package mesh

import (
	"math/rand/v2"
	"slices"
)

// update takes a new list of instances. Those that stay keep their connections and breakers; those that went finish
// what they are doing. The list that is kept begins with our own zone's.
func (p *Peer) update(endpoints []Endpoint) {
	p.updating.Lock()
	defer p.updating.Unlock()
	before, zone := *p.instances.Load(), p.client.opts.Zone
	after := make([]*instance, 0, len(endpoints))
	far := make([]*instance, 0, len(endpoints))
	for _, e := range endpoints {
		at := slices.IndexFunc(before, func(i *instance) bool { return i.address == e.Address })
		var i *instance
		if at >= 0 {
			i = before[at]
		} else {
			i = newInstance(e.Address, p.client.opts)
		}
		i.near.Store(zone == "" || zone == e.Zone)
		i.weight.Store(int64(max(e.Weight, 1)))
		if i.near.Load() {
			after = append(after, i)
		} else {
			far = append(far, i)
		}
	}
	after = append(after, far...)
	p.instances.Store(&after)
	p.known.Store(true)
	for _, i := range before {
		if !slices.Contains(after, i) {
			i.http.CloseIdleConnections()
		}
	}
}

// A zone keeps its calls to itself until one of its instances has this many times as much to do, for its weight, as one
// elsewhere, and this many calls at once: what is left of a zone does not go under by what it was meant to do together.
const (
	spillFactor = 4
	spillFrom   = 8
)

// pick chooses an instance whose breaker lets a call through, and not the one to avoid when there is another: of our
// own zone as long as one is left there that is not overrun, else of any. done must be called with the call's outcome.
func (p *Peer) pick(avoid *instance) (i *instance, done func(error)) {
	list := *p.instances.Load()
	n := 0
	for n < len(list) && list[n].near.Load() {
		n++
	}
	near, far := list[:n], list[n:]
	if i, done := choose(near, avoid, draw(far, avoid)); i != nil {
		return i, done
	}
	if i, done := choose(far, avoid, nil); i != nil {
		return i, done
	}
	if len(far) > 0 { // one that is overrun is better than none
		if i, done := choose(near, avoid, nil); i != nil {
			return i, done
		}
	}
	if avoid != nil && slices.Contains(list, avoid) { // better the same again than none
		if done, err := avoid.breaker.Allow(); err == nil {
			return avoid, done
		}
	}
	return nil, nil
}

// choose takes the less busy of two that are drawn by their weights (Mitzenmacher 2001); where its breaker is open, any
// other. Those that are overrun beside one elsewhere are passed over.
func choose(list []*instance, avoid, elsewhere *instance) (i *instance, done func(error)) {
	first := draw(list, avoid)
	if first == nil {
		return nil, nil
	}
	if second := draw(list, first); second != nil && second != avoid && busier(first, second) {
		first = second
	}
	if done := first.take(elsewhere); done != nil {
		return first, done
	}
	start := rand.IntN(len(list)) //nolint:gosec // spreads load, guards nothing
	for n := range list {
		other := list[(start+n)%len(list)]
		if other == first || other == avoid {
			continue
		}
		if done := other.take(elsewhere); done != nil {
			return other, done
		}
	}
	return nil, nil
}

// take gives nil where the breaker is open, or where the instance is overrun beside the one elsewhere, if there is one.
func (i *instance) take(elsewhere *instance) (done func(error)) {
	if elsewhere != nil && overrun(i, elsewhere) {
		return nil
	}
	done, err := i.breaker.Allow()
	if err != nil {
		return nil
	}
	return done
}

// overrun tells whether a near one has so much more to do, each for its weight, that a call goes elsewhere.
func overrun(near, elsewhere *instance) bool {
	calls := near.outstanding.Load()
	return calls >= spillFrom && calls*elsewhere.weight.Load() > spillFactor*(elsewhere.outstanding.Load()+1)*near.weight.Load()
}

// busier tells whether a has more to do than b, each for its weight.
func busier(a, b *instance) bool {
	return a.outstanding.Load()*b.weight.Load() > b.outstanding.Load()*a.weight.Load()
}

// draw takes one at random by its weight, but not the one to leave out; nil when there is no other.
func draw(list []*instance, except *instance) *instance {
	var total int64
	for _, i := range list {
		if i != except {
			total += i.weight.Load()
		}
	}
	if total == 0 {
		return nil
	}
	at := rand.Int64N(total) //nolint:gosec // spreads load, guards nothing
	var last *instance
	for _, i := range list {
		if i == except {
			continue
		}
		if at -= i.weight.Load(); at < 0 {
			return i
		}
		last = i
	}
	return last // weights that changed meanwhile
}
