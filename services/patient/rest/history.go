package rest

import (
	"context"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

// ListHistory answers a page of a patient's changes, newest first.
func (s *Server) ListHistory(ctx context.Context, r api.ListHistoryRequestObject) (api.ListHistoryResponseObject, error) {
	part, err := parsePage(r.Params.Page, r.Params.Size, r.Params.After)
	if err != nil {
		return nil, err
	}
	id := parseID(r.PatientId)
	list, total, err := s.Patients.History(ctx, id, part)
	if err != nil {
		return nil, err
	}
	target := "/v3/patient/" + strconv.FormatInt(id, 10) + "/history?"
	list, next := page.Cut(list, part, target, func(e patient.HistoryEntry) string { return strconv.FormatInt(e.Version, 10) })
	content := make([]api.HistoryEntry, len(list))
	for i, e := range list {
		content[i] = api.HistoryEntry{
			Version: e.Version, ChangedAt: instant(e.ChangedAt), ChangedBy: api.Actor{Type: e.ActorType, Id: e.ActorID},
			Change: e.Change, Fields: e.Fields,
		}
	}
	return api.ListHistory200JSONResponse{
		Body:    api.HistoryPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: total},
		Headers: api.ListHistory200ResponseHeaders{Link: next},
	}, nil
}
