package linkage

// Frequencies tell how common values are among the people of a tenant. They are asked while a question is prepared and
// while it is scored, from one goroutine.
type Frequencies interface {
	People() int                        // all of them
	Bearers(kind Kind, part string) int // whose first or last name has the part
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

func (s *commonness) name(kind Kind, part string) float64 {
	borne := 0
	if s.of != nil {
		borne = max(s.of.Bearers(kind, part)-1, 0)
	}
	pseudo := float64(s.by.Names)
	share := (float64(borne) + 0.5 + pseudo*s.census(kind, part)) / (s.people + pseudo)
	return max(share, s.by.Floor)
}

func (s *commonness) day(d Date) float64 {
	born := 0
	if s.of != nil {
		born = max(s.of.Born(d)-1, 0)
	}
	pseudo := float64(s.by.Dates)
	usual := 1 / s.by.Days
	if d.Month() == 1 && d.Day() == 1 {
		usual *= firstOfJanuary
	}
	share := (float64(born) + pseudo*usual) / (s.people + pseudo)
	return max(share, usual/2)
}

// firstOfJanuary is how many times as often as another day it is told as a day of birth: it stands for a year alone.
const firstOfJanuary = 5

// text is the share of a whole name: of several parts that of the rarest, made rarer by each further one.
func (s *commonness) text(kind Kind, t *Text) float64 {
	share := 1.0
	for i := range t.Parts {
		share = min(share, s.name(kind, t.Parts[i].Text))
	}
	for range len(t.Parts) - 1 {
		share /= 4
	}
	return max(share, s.by.Floor)
}
