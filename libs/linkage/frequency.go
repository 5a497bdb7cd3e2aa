package linkage

// Frequencies tell how common values are among the people of a tenant. They are asked while a question is prepared and
// while it is scored, from one goroutine.
type Frequencies interface {
	People() int                        // all of them
	Bearers(kind Kind, part string) int // whose first or last name has the part, or who have the postal code; 0: unknown
	Born(d Date) int                    // on the day
}

// commonness estimates how common values are among people other than the candidate, who has the value already: hence one
// bearer less.
type commonness struct {
	of     Frequencies
	people float64
	by     Frequency
	census func(Kind, string) float64 // share of the people of the Census
}

func (s *commonness) name(kind Kind, part string, unseen float64) float64 {
	if s.of == nil {
		return max(s.census(kind, part), s.by.Floor)
	}
	borne := others(s.of.Bearers(kind, part))
	pseudo := float64(s.by.Names)
	share := (borne + unseen + pseudo*s.census(kind, part)) / (s.people + pseudo)
	return max(share, s.by.Floor)
}

// unit is what one bearer more makes a share greater by.
func (s *commonness) unit() float64 { return 1 / (s.people + float64(s.by.Names)) }

// others are those of the bearers of a value who are neither the candidate nor records of the same person once more: of few
// bearers many are.
func others(bearers int) float64 {
	rest := float64(max(bearers-1, 0))
	return rest * rest / (rest + doubles)
}

const doubles = 2

// day is the share of people born on a day: of all days the same, unless far more people are than chance and double records
// explain, as on days that stand for "not known".
func (s *commonness) day(d Date) float64 {
	usual := 1 / s.by.Days
	if d.Vague() {
		usual *= firstOfJanuary
	}
	if s.of == nil {
		return usual
	}
	expected := s.people * usual
	return usual + max(0, float64(s.of.Born(d))-3*expected-10)/s.people
}

// postal is the share of people with a postal code; usual is that of any, where nothing is known of it.
func (s *commonness) postal(t *Text, usual float64) float64 {
	if s.of == nil || t == nil || t.Missing {
		return usual
	}
	bearers := s.of.Bearers(Postal, t.Whole)
	if bearers <= 0 {
		return usual
	}
	pseudo := float64(s.by.Names)
	return max((others(bearers)+pseudo*usual)/(s.people+pseudo), s.by.Floor)
}

// firstOfJanuary is how many times as often as another day it is told as a day of birth: it stands for a year alone.
const firstOfJanuary = 5

// text is the share of a whole name: of several parts that of the rarest, made rarer by each further one.
func (s *commonness) text(kind Kind, t *Text, unseen float64) float64 {
	share := 1.0
	for i := range t.Parts {
		share = min(share, s.name(kind, t.Parts[i].Text, unseen))
	}
	for range len(t.Parts) - 1 {
		share /= 4
	}
	return max(share, s.by.Floor)
}
