package synth

import "iter"

// Records are the records of all people that the options ask for, household by household, a person's copies right after
// the first record. Nothing is kept: the memory needed does not grow with their number.
func (g *Generator) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		scratch := make([]person, 0, mostMembers)
		left := g.options.People
		for index := g.options.First; ; index++ {
			people := g.household(index, scratch)
			for i := range people {
				if !g.records(&people[i], yield) {
					return
				}
				if left--; left == 0 {
					return
				}
			}
		}
	}
}

// Households are the records of the people of some households, from the first number to before the second: whoever splits
// the work gives each worker numbers of its own, and whoever was interrupted goes on where it was. How many people live
// there is known only when they are made.
func (g *Generator) Households(from, before int64) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		scratch := make([]person, 0, mostMembers)
		for index := from; index < before; index++ {
			people := g.household(index, scratch)
			for i := range people {
				if !g.records(&people[i], yield) {
					return
				}
			}
		}
	}
}
