package rest_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/testkit"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/matching"
	"github.com/patient-mesh/patient-mesh/services/matching/api"
	"github.com/patient-mesh/patient-mesh/services/matching/rest"
	"github.com/patient-mesh/patient-mesh/services/matching/store"
)

var now = time.Date(2026, 3, 14, 9, 26, 53, 589_793_238, time.UTC)

func some[T any](v T) *T { return &v }

// serve gives the real verbs on a real database, at a clock that is known.
func serve(t *testing.T) *rest.Server {
	t.Helper()
	db, err := pg.Open(pg.Config{URL: testkit.Postgres(t, store.Migrations()).URL, MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &rest.Server{Versions: &matching.Versions{
		Store: store.New(db), Default: linkage.Default(), Now: func() time.Time { return now }, NewID: uuid.NewV7, Log: slog.New(slog.DiscardHandler),
	}}
}

func as(may principal.Permission) context.Context {
	return principal.With(context.Background(), principal.Principal{
		TenantID: "01900000-0000-7000-8000-0000000000a1", Kind: principal.APIKey, CredentialID: "key", Permissions: may,
	})
}

func object(text string) *body.Object {
	o := &body.Object{}
	o.Read([]byte(text))
	return o
}

// weights is the default model with another prior, as JSON.
func weights(t *testing.T, matches float64) string {
	t.Helper()
	m := linkage.Default()
	m.Prior.Matches = matches
	raw, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func create(t *testing.T, s *rest.Server, text string, key *string) (api.CreateModel201JSONResponse, error) {
	t.Helper()
	made, err := s.CreateModel(as(principal.TenantAdmin), api.CreateModelRequestObject{
		Body: object(text), Params: api.CreateModelParams{IdempotencyKey: key},
	})
	if err != nil {
		return api.CreateModel201JSONResponse{}, err
	}
	return made.(api.CreateModel201JSONResponse), nil //nolint:forcetypeassert // the only answer
}

func made(t *testing.T, s *rest.Server, text string, key *string) api.CreateModel201JSONResponse {
	t.Helper()
	got, err := create(t, s, text, key)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func shown(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// codes are the faults of a refusal, in one order.
func codes(err error) []string {
	list := []string{}
	for _, f := range fault.Of(err).Fields {
		list = append(list, f.Field+" "+f.Code)
	}
	slices.Sort(list)
	return list
}

func TestAModelIsShownAsItWasMade(t *testing.T) {
	t.Parallel()
	s := serve(t)
	text := `{"name": " Spring ", "description": "d", "parent": 0, "training": {"ece": 0.006, "method": "em"}, "model": ` + weights(t, 0.25) + `}`
	got := made(t, s, text, some("k"))
	by := `{"type":"api_key","id":"key"}`
	document := `{"version":1,"name":"Spring","description":"d","active":false,"createdAt":"2026-03-14T09:26:53.589Z","createdBy":` + by +
		`,"parent":0,"training":{"ece":0.006,"method":"em"},"model":` + weights(t, 0.25) + `}`
	if diff := cmp.Diff(document, shown(t, got.Body)); diff != "" {
		t.Error(diff)
	}
	if *got.Headers.Location != "/v3/matching/models/1" || *got.Headers.ETag != `"0"` || got.Headers.IdempotentReplayed != nil {
		t.Errorf("%+v", got.Headers)
	}
	again := made(t, s, text, some("k"))
	if diff := cmp.Diff(document, shown(t, again.Body)); diff != "" || *again.Headers.IdempotentReplayed != "true" || *again.Headers.Location != "/v3/matching/models/1" {
		t.Errorf("again: %s, %+v", diff, again.Headers)
	}
	if _, err := create(t, s, strings.Replace(text, "Spring", "Autumn", 1), some("k")); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Error(err)
	}
	read, err := s.ReadModel(as(principal.MatchRead), api.ReadModelRequestObject{Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(document, shown(t, read.(api.ReadModel200JSONResponse).Body)); diff != "" {
		t.Error(diff)
	}
	standard, err := s.ReadModel(as(principal.MatchRead), api.ReadModelRequestObject{Version: "0"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"version":0,"name":"default","description":"The model that is built in.","active":true,"training":{},"model":` + shown(t, linkage.Default()) + `}`
	if diff := cmp.Diff(want, shown(t, standard.(api.ReadModel200JSONResponse).Body)); diff != "" {
		t.Error(diff)
	}
}

func TestActivatingAndRollingBack(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for _, matches := range []float64{0.25, 0.75} {
		made(t, s, `{"name": "n", "model": `+weights(t, matches)+`}`, nil)
	}
	activate := func(version string, ifMatch *string) (api.ModelJSONResponse, error) {
		got, err := s.ActivateModel(as(principal.TenantAdmin), api.ActivateModelRequestObject{Version: version, Params: api.ActivateModelParams{IfMatch: ifMatch}})
		if err != nil {
			return api.ModelJSONResponse{}, err
		}
		return got.(api.ActivateModel200JSONResponse).ModelJSONResponse, nil
	}
	rollback := func(key, ifMatch *string) (api.RollbackModel200JSONResponse, error) {
		got, err := s.RollbackModel(as(principal.TenantAdmin), api.RollbackModelRequestObject{Params: api.RollbackModelParams{IdempotencyKey: key, IfMatch: ifMatch}})
		if err != nil {
			return api.RollbackModel200JSONResponse{}, err
		}
		return got.(api.RollbackModel200JSONResponse), nil
	}
	if _, err := rollback(nil, nil); !fault.Is(err, fault.Conflict) || fault.Of(err).Code != "nothing_to_roll_back" {
		t.Error(err)
	}
	one, err := activate("1", some(`"0"`))
	if err != nil || !one.Body.Active || *one.Headers.ETag != `"1"` || *one.Body.ActivatedAt != "2026-03-14T09:26:53.589Z" || one.Body.ActivatedBy.Id != "key" || one.Body.Model == nil {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := activate("2", some(`"0"`)); !fault.Is(err, fault.PreconditionFailed) {
		t.Error(err)
	}
	if again, err := activate("1", nil); err != nil || *again.Headers.ETag != `"1"` {
		t.Errorf("what is active already: %+v, %v", again, err)
	}
	if two, err := activate("2", some(`"1"`)); err != nil || *two.Headers.ETag != `"2"` {
		t.Errorf("%+v, %v", two, err)
	}
	for _, version := range []string{"3", "-1", "01", "x", "1.0", "99999999999999999999", "rollback"} {
		if _, err := activate(version, nil); !fault.Is(err, fault.NotFound) {
			t.Errorf("version %s: %v", version, err)
		}
		if _, err := s.ReadModel(as(principal.MatchRead), api.ReadModelRequestObject{Version: version}); !fault.Is(err, fault.NotFound) {
			t.Errorf("version %s: %v", version, err)
		}
	}
	if _, err := rollback(nil, some(`"1"`)); !fault.Is(err, fault.PreconditionFailed) {
		t.Error(err)
	}
	back, err := rollback(some("k"), some(`"2"`))
	if err != nil || back.Body.Version != 1 || !back.Body.Active || *back.Headers.ETag != `"3"` {
		t.Errorf("%+v, %v", back, err)
	}
	again, err := rollback(some("k"), some(`"2"`)) // the precondition fails by now, by what the first did
	if err != nil || shown(t, again.Body) != shown(t, back.Body) || *again.Headers.ETag != `"3"` || *again.Headers.IdempotentReplayed != "true" {
		t.Errorf("%+v, %v", again, err)
	}
	if back, err = rollback(nil, nil); err != nil || back.Body.Version != 0 || *back.Headers.ETag != `"4"` {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := rollback(nil, nil); !fault.Is(err, fault.Conflict) {
		t.Error(err)
	}
	if _, err := rollback(some(""), nil); !cmp.Equal(codes(err), []string{"Idempotency-Key invalid_key"}) {
		t.Error(err)
	}
}

func TestAListOfVersions(t *testing.T) {
	t.Parallel()
	s := serve(t)
	for range 3 {
		made(t, s, `{"name": "n", "model": `+weights(t, 0.25)+`}`, nil)
	}
	list := func(params api.ListModelsParams) (versions []int64, next *string) {
		t.Helper()
		got, err := s.ListModels(as(principal.MatchRead), api.ListModelsRequestObject{Params: params})
		if err != nil {
			t.Fatal(err)
		}
		answer := got.(api.ListModels200JSONResponse)
		if answer.Body.TotalElements != 4 {
			t.Errorf("%d in all", answer.Body.TotalElements)
		}
		for _, m := range answer.Body.Content {
			if m.Model != nil || string(m.Training) != `{}` {
				t.Errorf("%+v", m)
			}
			versions = append(versions, m.Version)
		}
		return versions, answer.Headers.Link
	}
	first, next := list(api.ListModelsParams{Size: some("2")})
	if !slices.Equal(first, []int64{0, 1}) || next == nil {
		t.Fatal(first, next)
	}
	target, _, _ := strings.Cut(strings.TrimPrefix(*next, "</v3/matching/models?size=2&after="), ">")
	if rest, next := list(api.ListModelsParams{Size: some("2"), After: &target}); !slices.Equal(rest, []int64{2, 3}) || next != nil {
		t.Error(rest, next)
	}
	if rest, _ := list(api.ListModelsParams{Size: some("2"), Page: some("1")}); !slices.Equal(rest, []int64{2, 3}) {
		t.Error(rest)
	}
	for _, test := range []struct {
		params api.ListModelsParams
		want   string
	}{
		{api.ListModelsParams{Size: some("0"), Page: some("x")}, "page out_of_range, size out_of_range"},
		{api.ListModelsParams{After: some("x")}, "after invalid_cursor"},
		{api.ListModelsParams{After: some("eyJhIjoieCIsInAiOjF9")}, "after invalid_cursor"}, // of something that is no version
	} {
		_, err := s.ListModels(as(principal.MatchRead), api.ListModelsRequestObject{Params: test.params})
		if got := strings.Join(codes(err), ", "); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

func TestAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	s := serve(t)
	broken := regexp.MustCompile(`"careless":\{"share":[0-9.]+`).ReplaceAllString(weights(t, -1), `"careless":{"share":"0.1"`)
	for text, want := range map[string][]string{
		`{}`: {"model required", "name required"},
		`{"name": 7, "description": [], "parent": "1", "training": 1, "model": []}`: {
			"description invalid_type", "model invalid_type", "name invalid_type", "parent invalid_type", "training invalid_type",
		},
		`{"name": "` + strings.Repeat("a", 201) + `", "model": ` + broken + `, "training": {"name": "Ana"}}`: {
			"model.careless.share invalid_type", "name too_long", "training.name invalid_type",
		},
		`{"name": null, "model": ` + weights(t, -1) + `, "name2": 1}`:         {"model.prior.matches out_of_range", "name required"},
		`{"name": "n", "parent": 1.5, "model": ` + weights(t, 1) + `}`:        {"parent unknown_version"},
		`{"name": "n", "parent": -1, "model": ` + weights(t, 1) + `}`:         {"parent unknown_version"},
		`{"name": "n", "parent": 1e300, "model": ` + weights(t, 1) + `}`:      {"parent unknown_version"},
		`{"name": "n", "model": {"a": "` + strings.Repeat("a", 1<<18) + `"}}`: {"model too_long"},
	} {
		_, err := create(t, s, text, nil)
		if diff := cmp.Diff(want, codes(err)); diff != "" {
			t.Errorf("%.100s: %s", text, diff)
		}
		if err != nil && strings.Contains(shown(t, fault.Of(err).Fields)+fault.Of(err).Detail, "Ana") {
			t.Errorf("a fault repeats what was given: %v", err)
		}
	}
	if _, err := create(t, s, `{"name": 1}`, some("")); !cmp.Equal(codes(err), []string{"Idempotency-Key invalid_key", "model required", "name invalid_type"}) {
		t.Error(codes(err))
	}
	if made(t, s, `{"name": "`+strconv.Itoa(1)+`", "description": null, "parent": null, "training": null, "model": `+weights(t, 1)+`}`, nil).Body.Version != 1 {
		t.Error("a refused one took a version")
	}
}

func TestPermissionsComeBeforeFaults(t *testing.T) {
	t.Parallel()
	s := &rest.Server{Versions: &matching.Versions{}}
	ctx := as(principal.All &^ principal.TenantAdmin &^ principal.MatchRead)
	for name, do := range map[string]func() error{
		"create": func() error {
			_, err := s.CreateModel(ctx, api.CreateModelRequestObject{Body: object(`{`)})
			return err
		},
		"list": func() error {
			_, err := s.ListModels(ctx, api.ListModelsRequestObject{Params: api.ListModelsParams{Size: some("x")}})
			return err
		},
		"read":     func() error { _, err := s.ReadModel(ctx, api.ReadModelRequestObject{Version: "x"}); return err },
		"activate": func() error { _, err := s.ActivateModel(ctx, api.ActivateModelRequestObject{Version: "x"}); return err },
		"rollback": func() error {
			_, err := s.RollbackModel(ctx, api.RollbackModelRequestObject{Params: api.RollbackModelParams{IdempotencyKey: some("")}})
			return err
		},
	} {
		if err := do(); !fault.Is(err, fault.Denied) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
