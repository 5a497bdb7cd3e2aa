package tenant

import (
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
)

// largestPatientID is the largest integer that a JavaScript client reads exactly.
const largestPatientID = 1<<53 - 1

// AuditQuery is a filter as it is asked for; nil is what was not given.
type AuditQuery struct {
	PatientID, Actor, Action, From, To *string
}

// Filter reads the query, or tells every rule that it breaks.
func (q AuditQuery) Filter() (AuditFilter, []fault.Field) {
	var f AuditFilter
	var faults []fault.Field
	wrong := func(field, code, message string) {
		faults = append(faults, fault.Field{Field: field, Code: code, Message: message})
	}
	if q.PatientID != nil {
		id, err := strconv.ParseInt(*q.PatientID, 10, 64)
		if err != nil || id < 1 || id > largestPatientID || strconv.FormatInt(id, 10) != *q.PatientID {
			wrong("patientId", "invalid_id", "must be the id of a patient")
		}
		f.PatientID = id
	}
	for _, text := range []struct {
		name string
		from *string
		into *string
	}{{"actor", q.Actor, &f.Actor}, {"action", q.Action, &f.Action}} {
		if text.from == nil {
			continue
		}
		clean, code, message := body.CleanText(*text.from, body.TextLength)
		if code == "" && clean == "" {
			code, message = "required", "must not be empty"
		}
		if code != "" {
			wrong(text.name, code, message)
		}
		*text.into = clean
	}
	for _, at := range []struct {
		name string
		from *string
		into *time.Time
	}{{"from", q.From, &f.From}, {"to", q.To, &f.To}} {
		if at.from == nil {
			continue
		}
		var ok bool
		if *at.into, ok = instantOrDay(*at.from); !ok {
			wrong(at.name, "invalid_instant", "must be an instant, as RFC 3339 writes it, or a date")
		}
	}
	if !f.From.IsZero() && !f.To.IsZero() && f.To.Before(f.From) {
		wrong("to", "before_from", "must not be before from")
	}
	return f, faults
}

// instantOrDay reads an instant, or a date as its first instant in UTC.
func instantOrDay(text string) (time.Time, bool) {
	if day, err := civil.Parse(text); err == nil {
		return day, true
	}
	at, err := time.Parse(time.RFC3339, text)
	// A zone's offset can lead out of the years that PostgreSQL and RFC 3339 share.
	if err != nil || at.UTC().Year() < civil.FirstYear || at.UTC().Year() > 9999 {
		return time.Time{}, false
	}
	return at.UTC(), true
}
