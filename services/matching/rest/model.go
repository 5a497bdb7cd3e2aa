package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
)

const (
	modelsPath   = "/v3/matching/models"
	longestModel = 256 << 10 // in bytes, of what is itself JSON
	noVersion    = -1
)

// parseVersion reads a version as it is written. What is none names no version that there is.
func parseVersion(text string) int64 {
	version, err := strconv.ParseInt(text, 10, 64)
	if err != nil || version < 0 || strconv.FormatInt(version, 10) != text {
		return noVersion
	}
	return version
}

// modelInput reads what a request gives of a model.
func modelInput(o *body.Object) matching.ModelInput {
	in := matching.ModelInput{
		Name: o.Text("name", body.NameLength).Pointer(), Description: o.Text("description", body.TextLength).Pointer(),
	}
	if parent := o.Number("parent"); parent.Given() {
		version := int64(noVersion)
		if parent.Value >= 0 && parent.Value <= 1<<53 && parent.Value == math.Trunc(parent.Value) {
			version = int64(parent.Value)
		}
		in.Parent = &version
	}
	if training := o.Structure("training", longestModel); training.Given() {
		in.Training = training.Value
	}
	if weights := o.Structure("model", longestModel); weights.Given() {
		in.Weights = weights.Value
	}
	return in
}

// ListModels answers a page of versions.
func (s *Server) ListModels(ctx context.Context, r api.ListModelsRequestObject) (api.ListModelsResponseObject, error) {
	if _, err := principal.Require(ctx, principal.MatchRead); err != nil {
		return nil, err // before the parameters' faults
	}
	part, faults := page.Parse(r.Params.Page, r.Params.Size, r.Params.After)
	if part.After != "" && parseVersion(part.After) == noVersion {
		faults = append(faults, fault.Field{Field: "after", Code: "invalid_cursor", Message: "is no cursor of this list"})
	}
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	list, total, err := s.Versions.List(ctx, part)
	if err != nil {
		return nil, err
	}
	list, next := page.Cut(list, part, modelsPath+"?", func(m matching.Model) string { return strconv.FormatInt(m.Version, 10) })
	content := make([]api.ModelVersion, len(list))
	for i, m := range list {
		if content[i], err = shownModel(m); err != nil {
			return nil, err
		}
	}
	return api.ListModels200JSONResponse{
		Body:    api.ModelPage{Content: content, Page: part.Page, Size: part.Size, TotalElements: total},
		Headers: api.ListModels200ResponseHeaders{Link: next},
	}, nil
}

// CreateModel adds a version, or answers a repeat with the first answer.
func (s *Server) CreateModel(ctx context.Context, r api.CreateModelRequestObject) (api.CreateModelResponseObject, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return nil, err // before the body's faults
	}
	in := modelInput(r.Body)
	key, faults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("create model"), r.Body.Raw())
	if r.Body.Err(faults...) != nil {
		_, rules := matching.NewModel(in, time.Time{}, by.Actor())
		return nil, r.Body.Err(append(rules, faults...)...)
	}
	shown, etag, replayed, err := answered(s.Versions.Create(ctx, in, key, http.StatusCreated, recordModel))
	if err != nil {
		return nil, err
	}
	location := modelsPath + "/" + strconv.FormatInt(shown.Version, 10)
	return api.CreateModel201JSONResponse{
		Body:    shown,
		Headers: api.CreateModel201ResponseHeaders{ETag: &etag, Location: &location, IdempotentReplayed: replayed},
	}, nil
}

// ReadModel answers a version.
func (s *Server) ReadModel(ctx context.Context, r api.ReadModelRequestObject) (api.ReadModelResponseObject, error) {
	shown, err := tagged(s.Versions.Read(ctx, parseVersion(r.Version)))
	if err != nil {
		return nil, err
	}
	return api.ReadModel200JSONResponse{ModelJSONResponse: shown}, nil
}

// ActivateModel makes a version the one that finds use.
func (s *Server) ActivateModel(ctx context.Context, r api.ActivateModelRequestObject) (api.ActivateModelResponseObject, error) {
	shown, err := tagged(s.Versions.Activate(ctx, parseVersion(r.Version), precondition(r.Params.IfMatch)))
	if err != nil {
		return nil, err
	}
	return api.ActivateModel200JSONResponse{ModelJSONResponse: shown}, nil
}

// RollbackModel makes the version before active again, or answers a repeat with the first answer.
func (s *Server) RollbackModel(ctx context.Context, r api.RollbackModelRequestObject) (api.RollbackModelResponseObject, error) {
	by, err := principal.Require(ctx, principal.TenantAdmin)
	if err != nil {
		return nil, err
	}
	key, faults := idempotency.Parse(by, r.Params.IdempotencyKey, []byte("roll back model"))
	if len(faults) > 0 {
		return nil, fault.InvalidFields(faults)
	}
	shown, etag, replayed, err := answered(s.Versions.Rollback(ctx, precondition(r.Params.IfMatch), key, http.StatusOK, recordModel))
	if err != nil {
		return nil, err
	}
	return api.RollbackModel200JSONResponse{
		Body: shown, Headers: api.RollbackModel200ResponseHeaders{ETag: &etag, IdempotentReplayed: replayed},
	}, nil
}

func precondition(ifMatch *string) matching.Precondition {
	return func(number int64) error {
		if web.IfMatch(ifMatch, number) != nil {
			return fault.New(fault.PreconditionFailed, "version_mismatch", "Another version was activated since the one in If-Match.")
		}
		return nil
	}
}

// tagged shows a version with its tag.
func tagged(m matching.Model, number int64, err error) (api.ModelJSONResponse, error) {
	if err != nil {
		return api.ModelJSONResponse{}, err
	}
	shown, err := shownModel(m)
	etag := web.ETag(number)
	return api.ModelJSONResponse{Body: shown, Headers: api.ModelResponseHeaders{ETag: &etag}}, err
}

// recorded is what a repeat is answered.
type recorded struct {
	Shown  api.ModelVersion `json:"shown"`
	Number int64            `json:"number"`
}

func recordModel(m matching.Model, number int64) ([]byte, error) {
	shown, err := shownModel(m)
	if err != nil {
		return nil, err
	}
	return json.Marshal(recorded{shown, number})
}

// answered shows what was made, or what was when the same was asked before.
func answered(made matching.Made, err error) (shown api.ModelVersion, etag string, replayed *string, err2 error) {
	if err != nil {
		return api.ModelVersion{}, "", nil, err
	}
	if made.Repeat == nil {
		shown, err = shownModel(made.Model)
		return shown, web.ETag(made.Number), nil, err
	}
	var first recorded
	if err := json.Unmarshal(made.Repeat.Body, &first); err != nil {
		return api.ModelVersion{}, "", nil, fmt.Errorf("read the recorded answer: %w", err)
	}
	yes := "true"
	return first.Shown, web.ETag(first.Number), &yes, nil
}

// shownModel leaves out what is not known, and the weights where they were not read.
func shownModel(m matching.Model) (api.ModelVersion, error) {
	shown := api.ModelVersion{
		Version: m.Version, Name: m.Name, Description: m.Description, Active: m.Active, Parent: m.Parent, Training: m.Training,
	}
	if !m.CreatedAt.IsZero() {
		at := instant(m.CreatedAt)
		shown.CreatedAt, shown.CreatedBy = &at, &api.Actor{Type: m.CreatedBy.Type, Id: m.CreatedBy.ID}
	}
	if m.Activated != nil {
		at := instant(m.Activated.At)
		shown.ActivatedAt, shown.ActivatedBy = &at, &api.Actor{Type: m.Activated.By.Type, Id: m.Activated.By.ID}
	}
	if m.Weights != nil {
		raw, err := json.Marshal(m.Weights)
		if err != nil {
			return api.ModelVersion{}, fmt.Errorf("show a model: %w", err)
		}
		weights := json.RawMessage(raw)
		shown.Model = &weights
	}
	return shown, nil
}

// instant writes RFC 3339 in UTC with milliseconds.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
