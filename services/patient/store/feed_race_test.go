package store_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// answered is what callers know of patients because it was answered. Whoever asks afterwards must see as much. Writers
// number what they write; of a patient whom two change at the same time the larger number counts.
type answered struct {
	mu       sync.Mutex
	names    map[int64]int            // the number in a patient's middle name
	children map[int64]map[string]int // and in each child, by its key; -1: deactivated
	deleted  map[int64]bool
	turns    map[int64]int // how often a patient was deleted or restored, or began to be
}

func nothing() *answered {
	return &answered{names: map[int64]int{}, children: map[int64]map[string]int{}, deleted: map[int64]bool{}, turns: map[int64]int{}}
}

func (a *answered) set(change func(a *answered)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(a)
}

func (a *answered) copy() *answered {
	a.mu.Lock()
	defer a.mu.Unlock()
	c := &answered{names: maps.Clone(a.names), deleted: maps.Clone(a.deleted), turns: maps.Clone(a.turns), children: map[int64]map[string]int{}}
	for id, children := range a.children {
		c.children[id] = maps.Clone(children)
	}
	return c
}

// missing tells the first thing that was answered and is not in a copy.
func (a *answered) missing(people map[int64]linkage.Demographics) error {
	for id, least := range a.names {
		p, there := people[id]
		if !there {
			return fmt.Errorf("patient %d is not there", id)
		}
		if number, _ := strconv.Atoi(p.MiddleName); number < least {
			return fmt.Errorf("patient %d is at %d, and was answered at %d", id, number, least)
		}
		for key, least := range a.children[id] {
			if number := childNumber(p, key); (least < 0) != (number < 0) || number < least {
				return fmt.Errorf("child %q of patient %d is at %d, and was answered at %d", key, id, number, least)
			}
		}
	}
	for id := range a.deleted {
		if _, there := people[id]; there {
			return fmt.Errorf("patient %d is there, and was deleted", id)
		}
	}
	return nil
}

// childNumber is what a child whose key stands in it is numbered; -1 when there is none.
func childNumber(p linkage.Demographics, key string) int {
	number := -1
	for _, a := range p.Addresses {
		if a.Line1 == key {
			number, _ = strconv.Atoi(a.Line2)
		}
	}
	for _, a := range p.Aliases {
		if a.Alias == key {
			number, _ = strconv.Atoi(a.FullName)
		}
	}
	return number
}

// A writer makes patients of its own, that only it deletes and restores, and writes to those of all.
type writer struct {
	w        ward
	name     string
	answered *answered
	chance   *rand.Rand
	shared   []int64 // patients that everybody changes, and nobody deletes
	own      []int64
	gone     []int64
	children map[int64][]written
	number   int
}

type written struct {
	key, id string
	alias   bool
}

func anyVersion(int64) error { return nil }

// step writes once.
func (r *writer) step() error {
	r.number++
	switch kind := r.chance.IntN(10); {
	case kind == 0 || len(r.own) == 0:
		return r.create()
	case kind == 1 && len(r.own) > 1:
		return r.remove()
	case kind == 2 && len(r.gone) > 0:
		return r.restore()
	case kind == 3:
		return r.die()
	case kind <= 5:
		return r.rename()
	default:
		return r.writeChild()
	}
}

func (r *writer) anyone() int64 {
	all := slices.Concat(r.shared, r.own)
	return all[r.chance.IntN(len(all))]
}

func (r *writer) create() error {
	number := strconv.Itoa(r.number)
	p, _, err := r.w.service.Create(r.w.ctx, patient.Input{FirstName: &r.name, LastName: &r.name, MiddleName: &number, DOB: some("1980-02-29")},
		idempotency.Key{}, nil)
	if err == nil {
		r.own = append(r.own, p.ID)
		r.answered.set(func(a *answered) { a.names[p.ID] = r.number })
	}
	return err
}

func (r *writer) remove() error {
	id := r.own[len(r.own)-1]
	r.own = r.own[:len(r.own)-1]
	r.answered.set(func(a *answered) { delete(a.names, id); a.turns[id]++ }) // from now on nobody can say
	if err := r.w.service.Delete(r.w.ctx, id, anyVersion); err != nil {
		return err
	}
	r.gone = append(r.gone, id)
	r.answered.set(func(a *answered) { a.deleted[id] = true })
	return nil
}

func (r *writer) restore() error {
	id := r.gone[len(r.gone)-1]
	r.gone = r.gone[:len(r.gone)-1]
	r.answered.set(func(a *answered) { delete(a.deleted, id); a.turns[id]++ })
	p, err := r.w.service.Restore(r.w.ctx, id, anyVersion)
	if err != nil {
		return err
	}
	r.own = append(r.own, id)
	number, _ := strconv.Atoi(p.MiddleName)
	r.answered.set(func(a *answered) { a.names[id] = number })
	return nil
}

func (r *writer) die() error {
	id := r.anyone()
	if r.chance.IntN(2) == 0 {
		_, err := r.w.service.UnmarkDeceased(r.w.ctx, id, anyVersion)
		return err
	}
	_, err := r.w.service.MarkDeceased(r.w.ctx, id, patient.DeathNotice{}, anyVersion)
	return err
}

// rename numbers a patient of its own, so that the numbers of one grow.
func (r *writer) rename() error {
	id, number := r.own[r.chance.IntN(len(r.own))], strconv.Itoa(r.number)
	_, err := r.w.service.Update(r.w.ctx, id, patient.Input{MiddleName: &number}, anyVersion)
	if err == nil {
		r.answered.set(func(a *answered) { a.names[id] = r.number })
	}
	return err
}

// writeChild makes, changes or deactivates a child of anybody's.
func (r *writer) writeChild() error {
	id, number := r.anyone(), strconv.Itoa(r.number)
	answer := func(key string, number int) {
		r.answered.set(func(a *answered) {
			if a.children[id] == nil {
				a.children[id] = map[string]int{}
			}
			a.children[id][key] = number
		})
	}
	if len(r.children[id]) == 0 || r.chance.IntN(2) == 0 {
		c := written{key: r.name + number, alias: r.chance.IntN(2) == 0}
		var err error
		if c.alias {
			var made patient.Alias
			made, _, err = r.w.aliases.Create(r.w.ctx, id, patient.AliasInput{Alias: &c.key, FullName: &number}, idempotency.Key{}, 200, nil)
			c.id = made.ID
		} else {
			var made patient.Address
			in := patient.AddressInput{Line1: &c.key, Line2: &number, City: some("c"), State: some("s"), PostalCode: some("p")}
			made, _, err = r.w.addresses.Create(r.w.ctx, id, in, idempotency.Key{}, 200, nil)
			c.id = made.ID
		}
		if err == nil {
			r.children[id] = append(r.children[id], c)
			answer(c.key, r.number)
		}
		return err
	}
	list := r.children[id]
	c := list[len(list)-1]
	if r.chance.IntN(2) == 0 {
		r.children[id] = list[:len(list)-1]
		r.answered.set(func(a *answered) { delete(a.children[id], c.key) }) // from now on nobody can say
		err := r.deactivate(id, c)
		if err == nil {
			answer(c.key, -1)
		}
		return err
	}
	var err error
	if c.alias {
		_, err = r.w.aliases.Update(r.w.ctx, id, c.id, patient.AliasInput{FullName: &number}, anyVersion)
	} else {
		_, err = r.w.addresses.Update(r.w.ctx, id, c.id, patient.AddressInput{Line2: &number}, anyVersion)
	}
	if err == nil {
		answer(c.key, r.number)
	}
	return err
}

func (r *writer) deactivate(id int64, c written) error {
	if c.alias {
		return r.w.aliases.Deactivate(r.w.ctx, id, c.id, anyVersion)
	}
	return r.w.addresses.Deactivate(r.w.ctx, id, c.id, anyVersion)
}

// Writers of all kinds and a reader who follows: each pull sees all that was answered before it began, and at the end the
// copy is what a reader gets who begins anew. Transactions that nobody waits for go on all the while.
func TestAReaderSeesWhatWasAnswered(t *testing.T) {
	w := enter(t)
	known := nothing()
	shared := []int64{w.patient, create(t, w.store, w.by).ID}
	for _, id := range shared {
		known.names[id] = 0
	}
	slow := w.begin(t)
	slow.do(`SELECT pg_current_xact_id()`)

	const writers, steps = 6, 150
	var writing sync.WaitGroup
	for n := range writers {
		seed := rand.Uint64()
		r := &writer{w: w, name: "w" + strconv.Itoa(n) + "-", answered: known, chance: rand.New(rand.NewPCG(seed, 0)), shared: shared, children: map[int64][]written{}}
		writing.Go(func() {
			for range steps {
				if err := r.step(); err != nil && !fault.Is(err, fault.Conflict) {
					t.Errorf("%s, seed %d: %v", r.name, seed, err)
					return
				}
			}
		})
	}
	done, stop := context.WithCancel(t.Context())
	go func() {
		writing.Wait()
		stop()
	}()
	f := follow(w.store, w.by.TenantID, 7)
	pulls := 0
	for last := false; !last && !t.Failed(); pulls++ {
		last = done.Err() != nil
		before := known.copy()
		if _, err := f.pull(t.Context()); err != nil {
			t.Fatal(err)
		}
		// What was answered since may have undone it: only what still holds is looked for.
		after := known.copy()
		if err := stillSo(before, after).missing(f.people); err != nil {
			t.Errorf("pull %d: %v", pulls, err)
		}
	}
	writing.Wait()
	slow.commit()
	fresh := follow(w.store, w.by.TenantID, 1000)
	for _, reader := range []*follower{f, fresh} {
		if _, err := reader.pull(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(fresh.people, f.people); diff != "" {
		t.Error(diff)
	}
	if pulls < 10 || len(fresh.people) < 10 {
		t.Errorf("%d pulls of %d people show nothing", pulls, len(fresh.people))
	}
}

// stillSo is what was answered before and was not undone, or begun to be, since.
func stillSo(before, after *answered) *answered {
	both := nothing()
	for id, number := range before.names {
		if _, there := after.names[id]; !there || after.turns[id] != before.turns[id] {
			continue
		}
		both.names[id] = number
		both.children[id] = map[string]int{}
		for key, number := range before.children[id] {
			if now, there := after.children[id][key]; there && (now < 0) == (number < 0) {
				both.children[id][key] = number
			}
		}
	}
	for id := range before.deleted {
		if after.deleted[id] && after.turns[id] == before.turns[id] {
			both.deleted[id] = true
		}
	}
	return both
}
