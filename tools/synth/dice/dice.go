// Package dice is the chance that people are made by: seeded, so that the same seed gives the same people, and cheap to
// seed anew, so that each household and each record has dice of its own. It knows nothing of people.
//
// What falls is the same on every machine: there is no floating point arithmetic in it, whose last bit could differ.
package dice

import (
	"math/bits"
	"math/rand/v2"
)

// Dice fall as their seed and keys say. The zero value must be seeded before it is thrown.
type Dice struct{ pcg rand.PCG }

// Mix spreads a number over all 64 bits; no two numbers give the same. It is the finalizer of splitmix64 (Steele, Lea and
// Flood 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Seed makes the dice those of a seed and keys: other keys, other dice.
func (d *Dice) Seed(seed uint64, keys ...uint64) {
	high, low := Mix(seed), seed
	for _, key := range keys {
		high, low = Mix(high^key), Mix(low+high)
	}
	d.pcg.Seed(high, low)
}

// Uint64 is 64 random bits.
func (d *Dice) Uint64() uint64 { return d.pcg.Uint64() }

// Below is a number from 0 to n-1. The bias is below n in 2^64.
func (d *Dice) Below(n int) int {
	high, _ := bits.Mul64(d.pcg.Uint64(), uint64(n)) //nolint:gosec // n is a length
	return int(high)                                 //nolint:gosec // below n
}

// Between is a number from low to high, both included.
func (d *Dice) Between(low, high int) int { return low + d.Below(high-low+1) }

// Chance is true with a probability.
func (d *Dice) Chance(p float64) bool {
	const steps = 1 << 53
	return p > 0 && float64(d.pcg.Uint64()>>11) < p*steps
}

// Pick is one of several, each as likely as the others.
func Pick[T any](d *Dice, from []T) T { return from[d.Below(len(from))] }
