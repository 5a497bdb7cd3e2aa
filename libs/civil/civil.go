// Package civil reads and writes calendar dates, which have no time of day and no zone.
package civil

import (
	"errors"
	"time"
)

const layout = "2006-01-02"

// FirstYear is the earliest year of a date that a record may carry.
const FirstYear = 1800

// ErrDate is the answer to every text that is no date.
var ErrDate = errors.New("must be a real calendar date, YYYY-MM-DD, 1800 or later")

// Parse reads YYYY-MM-DD as midnight UTC of a real day in FirstYear or later, else ErrDate.
func Parse(text string) (time.Time, error) {
	day, err := time.Parse(layout, text)
	if err != nil || len(text) != len(layout) || day.Year() < FirstYear {
		return time.Time{}, ErrDate
	}
	return day, nil
}

// Format writes YYYY-MM-DD.
func Format(day time.Time) string { return day.Format(layout) }

// InFuture reports whether the day has not yet begun in UTC, the one zone that all dates of a record are held against.
func InFuture(day, now time.Time) bool { return day.After(now) }
