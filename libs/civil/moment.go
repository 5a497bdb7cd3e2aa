package civil

import (
	"errors"
	"strings"
	"time"
)

// Moment is a date or an instant, as it was given: a date is the beginning of its day in UTC. The zero Moment is none.
type Moment struct {
	At  time.Time
	Day bool
}

// instantLayout is RFC 3339 in UTC with milliseconds.
const instantLayout = "2006-01-02T15:04:05.000Z"

// lastYear is the last that is written with four digits.
const lastYear = 9999

// ErrMoment is the answer to every text that is no Moment.
var ErrMoment = errors.New("must be a date, YYYY-MM-DD, or an instant in RFC 3339, in the year 1800 or later")

// ParseMoment reads a date or an instant. An instant is cut to milliseconds, which is what is shown of it.
func ParseMoment(text string) (Moment, error) {
	if day, err := Parse(text); err == nil {
		return Moment{At: day, Day: true}, nil
	}
	at, err := time.Parse(time.RFC3339, strings.ToUpper(text)) // the letters may be small (§5.6)
	// It takes more than RFC 3339 does: an hour of one digit, and a comma before the fraction.
	if err != nil || text[len("2006-01-02T15")] != ':' || strings.Contains(text, ",") {
		return Moment{}, ErrMoment
	}
	at = at.UTC().Truncate(time.Millisecond)
	if year := at.Year(); year < FirstYear || year > lastYear {
		return Moment{}, ErrMoment
	}
	return Moment{At: at}, nil
}

// Given reports whether there is one.
func (m Moment) Given() bool { return !m.At.IsZero() }

// String is YYYY-MM-DD, an instant in RFC 3339 UTC with milliseconds, or empty. It reads back as the same Moment.
func (m Moment) String() string {
	switch {
	case !m.Given():
		return ""
	case m.Day:
		return Format(m.At)
	}
	return m.At.UTC().Format(instantLayout)
}

// Scan reads what String wrote, for stores.
func (m *Moment) Scan(value any) error {
	text, ok := value.(string)
	if !ok {
		return errNoMoment
	}
	if text == "" {
		*m = Moment{}
		return nil
	}
	read, err := ParseMoment(text)
	*m = read
	return err
}

var errNoMoment = errors.New("a moment is stored as text")
