package patient

import (
	"time"

	"github.com/patient-mesh/patient-mesh/libs/civil"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Deceased is what is known of a patient's death.
type Deceased struct {
	Deceased  bool       `db:"deceased"`
	Date      *time.Time `db:"deceased_date"` // nil when the day is not known
	Source    string     `db:"deceased_source"`
	Note      string     `db:"deceased_note"`
	UpdatedAt *time.Time `db:"deceased_updated_at"` // nil when this never changed
}

// DeathNotice is what a caller gives of a death. Nil is what was not given.
type DeathNotice struct {
	Date, Source, Note *string
}

// Died is the patient marked deceased by a notice, or every rule that the notice breaks.
func (p Patient) Died(notice DeathNotice, now time.Time) (Patient, []fault.Field) {
	e := editor{now: now}
	d := Deceased{Deceased: true, UpdatedAt: &now}
	if notice.Date != nil {
		day, err := civil.Parse(*notice.Date)
		switch {
		case err != nil:
			e.fault("deceasedDate", "invalid_date", err.Error())
		case civil.InFuture(day, now):
			e.fault("deceasedDate", "in_future", "must not be in the future")
		case day.Before(p.DOB):
			e.fault("deceasedDate", "before_birth", "must not be before the date of birth")
		default:
			d.Date = &day
		}
	}
	text(notice.Source, &d.Source)
	text(notice.Note, &d.Note)
	if d.same(p.Deceased) {
		d.UpdatedAt = p.Deceased.UpdatedAt
	}
	p.Deceased = d
	return p, e.faults
}

// Alive is the patient with a mistaken mark undone.
func (p Patient) Alive(now time.Time) Patient {
	if p.Deceased.Deceased {
		p.Deceased = Deceased{UpdatedAt: &now}
	}
	return p
}

func (d Deceased) same(other Deceased) bool { return len(d.diff(other)) == 0 }

func (d Deceased) diff(other Deceased) []string {
	var fields []string
	if d.Deceased != other.Deceased {
		fields = append(fields, "deceased")
	}
	if (d.Date == nil) != (other.Date == nil) || d.Date != nil && !d.Date.Equal(*other.Date) {
		fields = append(fields, "deceasedDate")
	}
	if d.Source != other.Source {
		fields = append(fields, "source")
	}
	if d.Note != other.Note {
		fields = append(fields, "note")
	}
	return fields
}
