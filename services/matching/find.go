package matching

import (
	"context"
	"math"
	"time"

	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching/index"
)

// Indexes hold the tenants' people.
type Indexes interface {
	// Fresh gives a tenant's people with every change that was answered before it was called. Where it cannot, soon enough,
	// the fault is Unavailable.
	Fresh(ctx context.Context, tenant string) (*index.Index, error)
}

// Weights say what agreement is worth.
type Weights interface {
	// Active gives the model by which a tenant's people are compared.
	Active(ctx context.Context, tenant string) (*linkage.Model, error)
}

// Ledger keeps the entries of the audit trail.
type Ledger interface {
	// Keep returns when the entry is on disk.
	Keep(ctx context.Context, e audit.Entry) error
}

// Service is the verbs. It is safe for concurrent use.
type Service struct {
	Indexes Indexes
	Models  Weights
	Ledger  Ledger
	Meters  *Meters
	Now     func() time.Time
	NewID   func() (uuid.UUID, error)
}

// freshLimit is how long a find waits for the changes that were answered before it.
const freshLimit = time.Second

// Find gives the patients whom a question might be about, with reasons. That it was asked is on disk before it is answered,
// whatever comes of it.
func (s *Service) Find(ctx context.Context, asked Question) (Answer, error) {
	by, err := principal.Require(ctx, principal.MatchRead)
	if err != nil {
		return Answer{}, err
	}
	if err := asked.Oversized(); err != nil {
		return Answer{}, err
	}
	q, faults := asked.query(s.Now())
	if len(faults) > 0 {
		return Answer{}, fault.InvalidFields(faults)
	}
	began := time.Now()
	entry := audit.Of(ctx, s.Now(), s.NewID, auditFind)
	kept := make(chan error, 1)
	go func() { kept <- s.Ledger.Keep(ctx, entry) }()
	answer, scored, err := s.search(ctx, by.TenantID, q)
	if keeping := <-kept; err == nil {
		err = keeping
	}
	s.Meters.count(ctx, q.exact, answer, scored, time.Since(began), err)
	if err != nil {
		return Answer{}, err
	}
	return answer, nil
}

// search asks the tenant's index. Scored is how many candidates it compared.
func (s *Service) search(ctx context.Context, tenant string, q query) (a Answer, scored int, err error) {
	people, err := s.fresh(ctx, tenant)
	if err != nil {
		return Answer{}, 0, err
	}
	if q.exact {
		found, err := people.Exact(ctx, index.ExactQuery{Person: q.person, After: q.after, Limit: q.limit, Now: s.Now().UnixMilli()})
		if err != nil {
			return Answer{}, 0, fault.Away(err, "The find took too long; try again shortly.")
		}
		return exact(q, found), found.Scored, nil
	}
	model, err := s.Models.Active(ctx, tenant)
	if err != nil {
		return Answer{}, 0, err
	}
	found := people.Find(index.Query{Person: q.person, Model: model, Limit: q.limit, MinScore: q.minScore, Now: s.Now().UnixMilli()})
	return probable(model, found), found.Scored, nil
}

func (s *Service) fresh(ctx context.Context, tenant string) (*index.Index, error) {
	within, cancel := context.WithTimeout(ctx, freshLimit)
	defer cancel()
	return s.Indexes.Fresh(within, tenant)
}

// exact is the answer of an exact find. Whoever is the only one of whom all is true is certain.
func exact(q query, found index.Found) Answer {
	a := Answer{Matches: make([]Match, len(found.Hits)), Total: found.Total, Exact: true, Truncated: found.Truncated, Next: found.Next}
	grade := linkage.Probable
	if found.Total == 1 && !found.Truncated {
		grade = linkage.Certain
	}
	evidence := exactly(q.given)
	for i, hit := range found.Hits {
		a.Matches[i] = Match{Patient: hit.Demographics, Score: 1, Grade: grade, Evidence: evidence}
	}
	return a
}

// probable is the answer of a probabilistic find. Who comes behind the first is not ahead of the second.
func probable(model *linkage.Model, found index.Found) Answer {
	a := Answer{Matches: make([]Match, len(found.Hits)), Total: found.Total, Truncated: found.Truncated}
	for i, hit := range found.Hits {
		shown, bits := weighed(hit.Evidence, hit.Bits, hit.Veto)
		second := found.Second
		if i > 0 {
			second = math.Inf(1)
		}
		a.Matches[i] = Match{
			Patient: hit.Demographics, Score: linkage.Score(bits), Evidence: shown,
			Grade: model.Grade(bits, second, hit.Veto, found.Truncated),
		}
	}
	return a
}
