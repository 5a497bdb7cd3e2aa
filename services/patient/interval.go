package patient

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
)

// Interval is from when until when something holds: the start belongs to it, the end does not. A bound that is not given
// is open.
type Interval struct {
	From  civil.Moment `db:"holds_from"`
	Until civil.Moment `db:"holds_until"`
}

// Contains reports whether an instant lies in the interval.
func (i Interval) Contains(at time.Time) bool {
	return !at.Before(i.From.At) && (!i.Until.Given() || at.Before(i.Until.At))
}

// moment applies a bound: n/a and the empty text clear it.
func (e *editor) moment(field string, given *string, into *civil.Moment) {
	switch {
	case given == nil:
	case *given == "" || notAvailable(*given):
		*into = civil.Moment{}
	default:
		m, err := civil.ParseMoment(*given)
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
