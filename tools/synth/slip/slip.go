// Package slip makes the mistakes that people and machines make with written words and numbers: of the keyboard, of the
// ear, of the scanner, and of whoever copies a date. Each takes a text and gives another, or says that it cannot happen to
// that text. It knows nothing of records, of how often a mistake happens, nor of what looks for the mistakes afterwards.
package slip

import "github.com/patient-mesh/patient-mesh/tools/synth/dice"

// Slip turns a text into a wrong one. It is false, with the text as it was, where that mistake cannot happen.
type Slip func(d *dice.Dice, text string) (string, bool)

// changed is what a slip made of a text, and whether that is another text at all.
func changed(from, to string) (string, bool) { return to, to != from }
