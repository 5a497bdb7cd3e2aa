package rest

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage/feed"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// InternalListDemographics gives a program of the mesh a page of a tenant's people.
func (s *Server) InternalListDemographics(
	ctx context.Context, r api.InternalListDemographicsRequestObject,
) (api.InternalListDemographicsResponseObject, error) {
	var faults []fault.Field
	after := number("after", r.Params.After, 0, 0, maxID, &faults)
	limit := number("limit", r.Params.Limit, feed.MostPeople, 1, feed.MostPeople, &faults)
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	page, err := s.Feed.Page(ctx, r.TenantId, r.Params.Since, after, int(limit))
	if err != nil {
		return nil, err
	}
	raw, err := page.MarshalMsg(nil)
	if err != nil {
		return nil, fmt.Errorf("write a page of people: %w", err)
	}
	return api.InternalListDemographics200ApplicationmsgpackResponse{Body: bytes.NewReader(raw), ContentLength: int64(len(raw))}, nil
}

// number reads an integer from least to most.
func number(field string, given *string, otherwise, least, most int64, faults *[]fault.Field) int64 {
	if given == nil {
		return otherwise
	}
	n, err := strconv.ParseInt(*given, 10, 64)
	if err != nil || n < least || n > most {
		*faults = append(*faults, fault.Field{Field: field, Code: "out_of_range", Message: fmt.Sprintf("must be an integer from %d to %d", least, most)})
	}
	return n
}
