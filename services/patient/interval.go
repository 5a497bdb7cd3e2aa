package patient

import (
	"errors"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
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
	if day, err := civil.Parse(text); err == nil {
		return Moment{At: day, Day: true}, nil
	}
	at, err := time.Parse(time.RFC3339, strings.ToUpper(text)) // the letters may be small (§5.6)
	// It takes more than RFC 3339 does: an hour of one digit, and a comma before the fraction.
	if err != nil || text[len("2006-01-02T15")] != ':' || strings.Contains(text, ",") {
		return Moment{}, ErrMoment
	}
	at = at.UTC().Truncate(time.Millisecond)
	if year := at.Year(); year < civil.FirstYear || year > lastYear {
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
		return civil.Format(m.At)
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

// Interval is from when until when something holds: the start belongs to it, the end does not. A bound that is not given
// is open.
type Interval struct {
	From  Moment `db:"holds_from"`
	Until Moment `db:"holds_until"`
}

// Contains reports whether an instant lies in the interval.
func (i Interval) Contains(at time.Time) bool {
	return !at.Before(i.From.At) && (!i.Until.Given() || at.Before(i.Until.At))
}

// moment applies a bound: n/a and the empty text clear it.
func (e *editor) moment(field string, given *string, into *Moment) {
	switch {
	case given == nil:
	case *given == "" || notAvailable(*given):
		*into = Moment{}
	default:
		m, err := ParseMoment(*given)
		if err != nil {
			e.fault(field, "invalid_date", err.Error())
			return
		}
		*into = m
	}
}

// interval applies both bounds, of which the names of the fields are told. Equal bounds are taken: they never hold.
func (e *editor) interval(fromField, untilField string, from, until *string, into *Interval) {
	faults := len(e.faults)
	e.moment(fromField, from, &into.From)
	e.moment(untilField, until, &into.Until)
	if len(e.faults) == faults && into.Until.Given() && into.Until.At.Before(into.From.At) {
		e.fault(untilField, "before_start", "must not be before the start")
	}
}
