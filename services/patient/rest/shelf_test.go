package rest_test

import (
	"bytes"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// living is the patients that there are.
type living map[int64]bool

// trail is the entries that were kept, as "action outcome patient".
type trail []string

func (t *trail) keep(e audit.Entry, found bool) {
	if !found {
		e = e.Failed()
	}
	about := "nobody"
	if e.PatientID != nil {
		about = strconv.FormatInt(*e.PatientID, 10)
	}
	*t = append(*t, e.Action+" "+e.Outcome+" "+about)
}

// keys is what was recorded under idempotency keys.
type keys map[string]idempotency.Record

func (k keys) earlier(key idempotency.Key) (*idempotency.Record, error) {
	found, ok := k[key.Tenant+"/"+key.Credential+"/"+key.Value]
	switch {
	case !key.Given() || !ok:
		return nil, nil //nolint:nilnil // none is an answer
	case !bytes.Equal(found.RequestHash, key.Hash):
		return nil, fault.New(fault.IdempotencyMismatch, "idempotency_key_reused", "The Idempotency-Key came with another request before.")
	}
	return &found, nil
}

func (k keys) keep(key idempotency.Key, status int, body []byte, id string) {
	if key.Given() {
		k[key.Tenant+"/"+key.Credential+"/"+key.Value] = idempotency.Record{
			RequestHash: key.Hash, Status: int32(status), Body: body, ResourceID: id,
		}
	}
}

// shelf is a patient.ChildStore in memory, of one tenant and for one caller at a time.
type shelf[N any, P patient.Noun[N]] struct {
	living living
	trail  *trail
	keys   keys
	rows   []N
	refuse error // what the next change is refused with
}

func base[N any, P patient.Noun[N]](child *N) *patient.Child { return P(child).Base() }

func (s *shelf[N, P]) Create(
	_ context.Context, child N, _ principal.Principal, key idempotency.Key, status int, answer []byte, e audit.Entry,
) (bool, *idempotency.Record, error) {
	if !s.living[base[N, P](&child).PatientID] {
		s.trail.keep(e, false)
		return false, nil, nil
	}
	if repeat, err := s.keys.earlier(key); repeat != nil || err != nil {
		return repeat != nil, repeat, err
	}
	if s.refuse != nil {
		return true, nil, s.refuse
	}
	s.rows = append(s.rows, child)
	s.keys.keep(key, status, answer, base[N, P](&child).ID)
	s.trail.keep(e, true)
	return true, nil, nil
}

func (s *shelf[N, P]) List(
	_ context.Context, _ string, patientID int64, which patient.Which, now time.Time, part page.Request, e audit.Entry,
) (list []N, total int64, found bool, err error) {
	s.trail.keep(e, s.living[patientID])
	if !s.living[patientID] {
		return nil, 0, false, nil
	}
	var all []N
	for _, child := range s.rows {
		active := P(&child).Active(now)
		if base[N, P](&child).PatientID == patientID && (which == patient.All || active == (which == patient.ActiveOnly)) {
			all = append(all, child)
		}
	}
	start := int(part.Offset())
	if part.After != "" {
		start = slices.IndexFunc(all, func(child N) bool { return base[N, P](&child).ID > part.After })
	}
	if start < 0 || start > len(all) {
		start = len(all)
	}
	return all[start:min(len(all), start+part.Size+1)], int64(len(all)), true, nil
}

func (s *shelf[N, P]) Read(_ context.Context, _ string, patientID int64, id string, e audit.Entry) (*N, error) {
	found := s.find(patientID, id)
	s.trail.keep(e, found != nil)
	return found, nil
}

func (s *shelf[N, P]) Find(_ context.Context, _ string, patientID int64, id string, e audit.Entry) (*N, error) {
	found := s.find(patientID, id)
	if found == nil {
		s.trail.keep(e, false)
	}
	return found, nil
}

func (s *shelf[N, P]) find(patientID int64, id string) *N {
	for _, child := range s.rows {
		b := base[N, P](&child)
		if s.living[patientID] && b.PatientID == patientID && b.ID == id && b.DeactivatedAt == nil {
			return &child
		}
	}
	return nil
}

func (s *shelf[N, P]) Save(_ context.Context, _ string, after N, e audit.Entry) (bool, error) {
	if s.refuse != nil {
		return false, s.refuse
	}
	for i := range s.rows {
		if b := base[N, P](&s.rows[i]); b.ID == base[N, P](&after).ID && b.Version == base[N, P](&after).Version-1 {
			s.rows[i] = after
			s.trail.keep(e, true)
			return true, nil
		}
	}
	return false, nil
}

func (s *shelf[N, P]) Keep(_ context.Context, e audit.Entry) error {
	s.trail.keep(e, e.Outcome == audit.Success)
	return nil
}

// ward is the part of a patient.Store that creating needs.
type ward struct {
	patient.Store // nothing else is called

	trail *trail
	keys  keys
	last  int64
	kept  patient.Patient
}

func (w *ward) Create(
	_ context.Context, p patient.Patient, _ principal.Principal, _ int, key idempotency.Key, answer []byte, e audit.Entry,
) (int64, *idempotency.Record, error) {
	repeat, err := w.keys.earlier(key)
	if err != nil {
		return 0, nil, err
	}
	if repeat != nil {
		id, err := strconv.ParseInt(repeat.ResourceID, 10, 64)
		return id, repeat, err
	}
	w.last += 7
	w.kept = p
	w.keys.keep(key, 0, answer, strconv.FormatInt(w.last, 10))
	w.trail.keep(e.About(w.last), true)
	return w.last, nil, nil
}
