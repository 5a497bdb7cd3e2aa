package synth

import (
	"strings"

	"github.com/patient-mesh/patient-mesh/tools/synth/slip"
)

// Rate is how often an error happens to records that it can happen to, at an intensity of 1. Fields are separated by commas.
type Rate struct {
	Fields, Kind string
	Probability  float64
}

// Rates are all errors. They are assumptions: what is known is which fields differ most between the records of one patient
// (middle names, numbers of social security, misspelt and swapped names: Just et al. 2016), not how often clerks err.
func Rates() []Rate {
	all := rates()
	out := make([]Rate, len(all))
	for i, r := range all {
		out[i] = r.Rate
	}
	return out
}

// rate is an error with what does it. Needed errors take away what a PatientRequestDTO must have.
type rate struct {
	Rate
	fields []string
	needed bool
	does   func(c *corrupter) bool
}

// rates are in the order in which errors happen: what is not there cannot be misspelt.
func rates() []rate {
	var all []rate
	add := func(fields, kind string, p float64, does func(c *corrupter) bool) {
		all = append(all, rate{Rate: Rate{fields, kind, p}, fields: strings.Split(fields, ","), does: does})
	}
	missing(&all, add)
	wholeNames(add)
	spelling(add)
	dates(add)
	addresses(add)
	numbers(add)
	add("firstName,middleName,lastName,line1,line2,city", "capitals", 0.04, capitals)
	return all
}

type adder func(fields, kind string, p float64, does func(c *corrupter) bool)

// missing loses whole fields.
func missing(all *[]rate, add adder) {
	for _, f := range []struct {
		field  string
		p      float64
		needed bool
	}{
		{firstName, 0.003, true},
		{lastName, 0.001, true},
		{dob, 0.01, true},
		{middleName, 0.22, false},
		{suffix, 0.3, false},
		{sexAtBirth, 0.03, false},
		{gender, 0.1, false},
		{race, 0.1, false},
		{ethnicity, 0.1, false},
		{language, 0.1, false},
		{last4SSN, 0.12, false},
		{address, 0.04, false},
		{line1, 0.01, true},
		{line2, 0.1, false},
		{city, 0.008, true},
		{stateField, 0.008, true},
		{postalCode, 0.02, true},
		{phone, 0.08, false},
		{email, 0.12, false},
	} {
		add(f.field, "missing", f.p, lose(f.field))
		(*all)[len(*all)-1].needed = f.needed
	}
}

// wholeNames takes one name for another.
func wholeNames(add adder) {
	add("firstName,lastName", "swapped", 0.006, swap(firstName, lastName))
	add("firstName,middleName", "swapped", 0.006, swap(firstName, middleName))
	add("firstName,middleName", "placeholder", 0.15, newbornName)
	add(firstName, "nickname", 0.06, nickname)
	add(lastName, "maiden", 0.04, maiden)
	add("firstName,middleName", "merged", 0.01, mergeFirst)
	add("firstName,middleName", "split", 0.25, splitFirst)
	add("middleName,lastName", "split", 0.06, splitLast)
	add(middleName, "initial", 0.2, toInitial)
	add("lastName,suffix", "merged", 0.15, suffixIntoName)
	add(lastName, "hyphen", 0.25, by(lastName, slip.Hyphen))
	add(firstName, "hyphen", 0.25, by(firstName, slip.Hyphen))
	add(lastName, "apostrophe", 0.35, by(lastName, slip.Apostrophe))
	add(lastName, "space", 0.15, by(lastName, slip.Space))
	add(lastName, "parted", 0.03, by(lastName, slip.Split))
	add(firstName, "accents", 0.6, by(firstName, slip.Accents))
	add(middleName, "accents", 0.6, by(middleName, slip.Accents))
	add(lastName, "accents", 0.6, by(lastName, slip.Accents))
}

// spelling writes words wrong: by ear, by hand, by machine.
func spelling(add adder) {
	sounds, scans := slip.Sounds(), slip.Scans()
	add(firstName, "phonetic", 0.012, by(firstName, sounds.Slip))
	add(middleName, "phonetic", 0.006, by(middleName, sounds.Slip))
	add(lastName, "phonetic", 0.018, by(lastName, sounds.Slip))
	add(line1, "phonetic", 0.006, by(line1, sounds.Slip))
	add(city, "phonetic", 0.004, by(city, sounds.Slip))
	for _, f := range []string{firstName, lastName, line1, city, email} {
		add(f, "ocr", 0.003, by(f, scans.Slip))
	}
	typed := func(field string, p float64) { add(field, "typing", p, typing(field)) }
	typed(firstName, 0.022)
	typed(middleName, 0.012)
	typed(lastName, 0.028)
	typed(line1, 0.02)
	typed(city, 0.012)
	typed(email, 0.012)
}

func dates(add adder) {
	ds := slip.Dates{Latest: Today()}
	add(dob, "dayMonth", 0.006, by(dob, ds.DayMonth))
	add(dob, "offByOne", 0.007, by(dob, ds.OffByOne))
	add(dob, "digit", 0.008, by(dob, ds.Digit))
	add(dob, "anyDigit", 0.003, by(dob, ds.AnyDigit))
	add(dob, "century", 0.001, by(dob, ds.Century))
	add(dob, "placeholder", 0.004, by(dob, ds.Placeholder))
}

func addresses(add adder) {
	add(line1, "number", 0.012, by(line1, slip.HouseNumber))
	add("line1,line2", "merged", 0.06, mergeLines)
	add(line1, "abbreviation", 0.35, by(line1, slip.Words))
	add(line2, "abbreviation", 0.35, by(line2, slip.Words))
	add(city, "abbreviation", 0.05, by(city, slip.Words))
	add(stateField, "inFull", 0.02, stateInFull)
	add(postalCode, "digit", 0.012, by(postalCode, slip.Digits))
	add(postalCode, "plusFour", 0.15, by(postalCode, slip.PlusFour))
}

func numbers(add adder) {
	add(sexAtBirth, "wrong", 0.004, wrongSex)
	add(last4SSN, "digit", 0.012, by(last4SSN, slip.Digits))
	add(phone, "digit", 0.015, by(phone, phoneDigit))
	add(phone, "notation", 0.25, by(phone, slip.Notation))
	add(identifier, "digit", 0.002, by(identifier, slip.Digits))
}
