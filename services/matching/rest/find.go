package rest

import (
	"context"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
)

// The paths of a find, at which the next part of its answer is.
const (
	findV2 = "/v2/patient/find"
	findV3 = "/v3/patient/find"
)

// Find is v2's.
func (s *Server) Find(ctx context.Context, r api.FindRequestObject) (api.FindResponseObject, error) {
	found, link, err := s.find(ctx, parameters(api.FindPatientsParams(r.Params)), findV2)
	if err != nil {
		return nil, err
	}
	return api.Find200JSONResponse{Body: foundV2(found), Headers: api.Find200ResponseHeaders{Link: link}}, nil
}

// FindPatients is v3's.
func (s *Server) FindPatients(ctx context.Context, r api.FindPatientsRequestObject) (api.FindPatientsResponseObject, error) {
	found, link, err := s.find(ctx, parameters(r.Params), findV3)
	if err != nil {
		return nil, err
	}
	return api.FindPatients200JSONResponse{Body: foundV3(found), Headers: api.FindPatients200ResponseHeaders{Link: link}}, nil
}

// FindPatientsPrivately is v3's with the question in the body.
func (s *Server) FindPatientsPrivately(
	ctx context.Context, r api.FindPatientsPrivatelyRequestObject,
) (api.FindPatientsPrivatelyResponseObject, error) {
	found, link, err := s.find(ctx, members(r.Body), findV3)
	if err != nil {
		return nil, err
	}
	return api.FindPatientsPrivately200JSONResponse{
		Body: foundV3(found), Headers: api.FindPatientsPrivately200ResponseHeaders{Link: link},
	}, nil
}

// asked is a question as it was read, and what was wrong with its form.
type asked struct {
	question matching.Question
	after    *string // a cursor
	faults   func(further ...fault.Field) error
}

// find answers a question, and tells where the answer goes on.
func (s *Server) find(ctx context.Context, a asked, path string) (found matching.Answer, link *string, err error) {
	by, err := principal.Require(ctx, principal.MatchRead)
	if err != nil {
		return found, nil, err // before the faults of what is asked
	}
	c := cursors{s.Sealer, by.TenantID}
	var further []fault.Field
	if a.after != nil && !c.open(*a.after, &a.question) {
		further = append(further, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this find"})
		a.question.Unreadable = true
	}
	if a.faults(further...) != nil {
		return found, nil, a.faults(append(further, a.question.Validate(time.Now())...)...)
	}
	if found, err = s.Finds.Find(ctx, a.question); err != nil {
		return found, nil, err
	}
	if found.Next != 0 {
		next := c.link(path, a.question, found.Next)
		link = &next
	}
	return found, link, nil
}
