package linkage

import "sync/atomic"

// Model says what agreement and disagreement of two records are worth. It is data: the same everywhere, for every tenant
// that chose it, and it must not change once a question was asked by it. README.md explains each part.
type Model struct {
	Description string      `json:"description,omitempty"`
	Prior       Prior       `json:"prior"`
	Careless    Careless    `json:"careless"`
	Frequency   Frequency   `json:"frequency"`
	Fields      []Field     `json:"fields"`
	Relatives   []Relative  `json:"relatives"`
	Calibration Calibration `json:"calibration"`
	Thresholds  Thresholds  `json:"thresholds"`

	compiled atomic.Pointer[tables]
}

// Field is something compared, with how far it can agree: the best level first.
type Field struct {
	Name   string  `json:"name"`
	Levels []Level `json:"levels"`
}

// Level is how far two values of a field agree. M and U of a field sum to one: they are the shares of pairs of one person and
// of pairs of two strangers that agree so far, among the pairs of which both have a value.
type Level struct {
	Name string  `json:"name"`
	M    float64 `json:"m"`
	U    float64 `json:"u"`
	// Spread is how many values a slip of this kind can lead to from one. Where it is given, u follows from how common the
	// two values are instead of U: a rare one is rather a slip than a common one.
	Spread float64 `json:"spread,omitempty"`
	// Veto keeps an answer from being certain, however high its score: always, or unless the record is identified otherwise.
	Veto Veto `json:"veto,omitempty"`
}

// Veto tells when a level keeps an answer from being certain; empty: never.
type Veto string

// The vetoes. Identified is whose last four digits of the number of social security agree, or another number of their own:
// relatives' do not.
const (
	VetoAlways           Veto = "always"
	VetoUnlessIdentified Veto = "unless_identified"
)

// Prior is what is known before anything is compared.
type Prior struct {
	Matches float64 `json:"matches"` // records of the person that a tenant is expected to hold
}

// Careless tells of records with many errors: a share of them, whose odds of every disagreement are so many times as high.
type Careless struct {
	Share float64 `json:"share"`
	Times float64 `json:"times"`
}

// Frequency tells how shares of values are estimated.
type Frequency struct {
	Names int     `json:"names"` // people that the Census stands for beside the tenant's own
	Dates int     `json:"dates"` // likewise the uniform distribution of birthdays
	Days  float64 `json:"days"`  // that birthdays spread over
	Floor float64 `json:"floor"` // nothing is rarer
}

// Relative is a kind of people who share with a person what strangers do not: whom a candidate could be instead.
type Relative struct {
	Name     string             `json:"name"`
	Expected float64            `json:"expected"` // how many of them a tenant is expected to hold
	Shares   map[string]float64 `json:"shares"`   // how often they have a field's value in common
}

// Calibration makes bits of what the evidence adds up to: Scale times it, and Shift. A trained model may need it.
type Calibration struct {
	Scale float64 `json:"scale"`
	Shift float64 `json:"shift"`
}

// Thresholds are those of the grades: of scores, and in bits what an answer must be ahead of the second.
type Thresholds struct {
	Certain  float64 `json:"certain"`
	Probable float64 `json:"probable"`
	Margin   float64 `json:"margin"`
}
