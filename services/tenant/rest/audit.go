package rest

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/services/tenant"
	"github.com/patient-mesh/patient-mesh/services/tenant/api"
)

// InternalAppendAudit chains the entries of a program's relay.
func (s *Server) InternalAppendAudit(ctx context.Context, r api.InternalAppendAuditRequestObject) (api.InternalAppendAuditResponseObject, error) {
	if err := r.Body.Err(); err != nil {
		return nil, err
	}
	var given audit.Entries[[]audit.Entry]
	if err := json.Unmarshal(r.Body.Raw(), &given); err != nil {
		return nil, fault.InvalidFields([]fault.Field{{Field: "entries", Code: "invalid_type", Message: "must be a list of entries"}})
	}
	if err := s.Audit.Append(ctx, given.Entries); err != nil {
		return nil, err
	}
	return api.InternalAppendAudit204Response{}, nil
}

// ListAudit answers a page of the tenant's records.
func (s *Server) ListAudit(ctx context.Context, r api.ListAuditRequestObject) (api.ListAuditResponseObject, error) {
	if _, err := principal.Require(ctx, principal.AuditRead); err != nil {
		return nil, err // before the parameters' faults
	}
	p := r.Params
	part, faults := page.Parse(p.Page, p.Size, p.After)
	query := tenant.AuditQuery{PatientID: p.PatientId, Actor: p.Actor, Action: p.Action, From: p.From, To: p.To}
	filter, further := query.Filter()
	if faults = append(faults, further...); len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	list, total, err := s.Audit.List(ctx, filter, part)
	if err != nil {
		return nil, err
	}
	list, next := page.Cut(list, part, auditTarget(query), func(r tenant.AuditRecord) string { return strconv.FormatInt(r.Seq, 10) })
	content := make([]api.AuditRecord, len(list))
	for i, r := range list {
		content[i] = shownRecord(r.Record)
	}
	return api.ListAudit200JSONResponse{
		Body:    api.AuditPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: total},
		Headers: api.ListAudit200ResponseHeaders{Link: next},
	}, nil
}

// auditTarget is the list's path with its filters, for the Link to its next page.
func auditTarget(q tenant.AuditQuery) string {
	filters := url.Values{}
	for name, value := range map[string]*string{"patientId": q.PatientID, "actor": q.Actor, "action": q.Action, "from": q.From, "to": q.To} {
		if value != nil {
			filters.Set(name, *value)
		}
	}
	if len(filters) == 0 {
		return "/v3/audit?"
	}
	return "/v3/audit?" + filters.Encode() + "&"
}

func shownRecord(r audit.Record) api.AuditRecord {
	return api.AuditRecord{
		Id: r.ID, At: instant(r.At), Actor: api.Actor{Type: r.Actor.Type, Id: r.Actor.ID}, TenantId: r.TenantID,
		CredentialId: r.CredentialID, Action: r.Action, PatientId: r.PatientID, Outcome: r.Outcome, TraceId: r.TraceID,
		PreviousHash: r.PreviousHash, Hash: r.Hash,
	}
}

// VerifyAudit holds the tenant's chain against its hashes.
func (s *Server) VerifyAudit(ctx context.Context, r api.VerifyAuditRequestObject) (api.VerifyAuditResponseObject, error) {
	if _, err := principal.Require(ctx, principal.AuditRead); err != nil {
		return nil, err
	}
	part, faults := page.Parse(nil, nil, r.Params.After)
	after, err := strconv.ParseInt("0"+part.After, 10, 64)
	if err != nil {
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"})
	}
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	v, err := s.Audit.Verify(ctx, after)
	if err != nil {
		return nil, err
	}
	shown := api.AuditVerification{Records: v.Records, Total: v.Total, Intact: v.Intact, Complete: v.Complete, Hash: v.Hash}
	if v.BrokenID != "" {
		shown.FirstBrokenId = &v.BrokenID
	}
	var next *string
	if !v.Complete {
		link := part.Next("/v3/audit/verification?", strconv.FormatInt(v.Records, 10))
		next = &link
	}
	return api.VerifyAudit200JSONResponse{Body: shown, Headers: api.VerifyAudit200ResponseHeaders{Link: next}}, nil
}
