package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/tools/load"
	"github.com/patient-mesh/patient-mesh/tools/load/train"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
	"github.com/patient-mesh/patient-mesh/tools/synth"
)

const models = "/v3/matching/models"

// version is a version of a tenant's model as it is shown.
type version struct {
	Version     int64
	Name        string
	Active      bool
	ActivatedAt *time.Time
	CreatedAt   *time.Time
	CreatedBy   *struct{ Type, ID string }
	Parent      *int64
	Training    map[string]any
	Model       map[string]any
}

func (c *client) model(path string) (v version) {
	c.t.Helper()
	c.get(path).is(ok).into(&v)
	return v
}

// another is a request for a model that is the built-in one but for how many records of a person are expected: each find's
// score tells which of them weighed it.
func (c *client) another(matches float64) map[string]any {
	c.t.Helper()
	m := c.model(models + "/0").Model
	m["prior"] = map[string]any{"matches": matches}
	return map[string]any{"name": fmt.Sprint("expects ", matches), "model": m, "parent": 0, "training": map[string]any{"method": "by hand", "ece": 0.01}}
}

// prior is what a find says of how many records of a person were expected.
func (f found) prior(t *testing.T) float64 {
	t.Helper()
	if len(f.Content) == 0 {
		t.Fatal("nobody was found")
	}
	for _, e := range f.Content[0].Evidence {
		if e.Field == "prior" {
			return *e.Weight
		}
	}
	t.Fatalf("no prior among %+v", f.Content[0].Evidence)
	return 0
}

// lima is a question that finds Ana, whatever the model is.
func lima() question { return possibly("firstName", "Ana", "lastName", "Lima", "dob", "1980-02-29") }

func TestModelsHaveVersions(t *testing.T) {
	c, stranger := newTenant(t), newTenant(t)
	stored(c, ana())
	stored(stranger, ana())
	before, theirs := c.find(lima()), stranger.find(lima())

	standard := c.model(models + "/0")
	if !standard.Active || standard.Name != "default" || standard.CreatedAt != nil || standard.ActivatedAt != nil {
		t.Errorf("the built-in model: %+v", standard)
	}
	made := c.with("Idempotency-Key", "one").post(models, c.another(0.125)).is(created)
	again := c.with("Idempotency-Key", "one").post(models, c.another(0.125)).is(created)
	if made.header.Get("Location") != models+"/1" || made.etag() != `"0"` || again.header.Get("Idempotent-Replayed") != "true" || string(again.raw) != string(made.raw) {
		t.Errorf("%v, again %v", made.header, again.header)
	}
	c.with("Idempotency-Key", "one").post(models, c.another(0.25)).refused(http.StatusUnprocessableEntity, "idempotency_key_reused")
	c.post(models, c.another(50)).is(created)
	if read := c.get(models + "/1").is(ok); string(read.raw) != string(made.raw) || read.etag() != `"0"` {
		t.Errorf("reads otherwise than it was made: %s", cmp.Diff(read.object(), made.object()))
	}
	if diff := cmp.Diff(c.find(lima()), before); diff != "" {
		t.Errorf("a version that is not active is used: %s", diff)
	}

	first := c.post(models+"/1/activate", nil).is(ok)
	c.with("If-Match", `"0"`).post(models+"/2/activate", nil).refused(http.StatusPreconditionFailed, "version_mismatch")
	sooner := c.find(lima())
	shift := math.Log2(0.125 / standard.Model["prior"].(map[string]any)["matches"].(float64)) //nolint:forcetypeassert // as it is read above
	if got := sooner.prior(t) - before.prior(t); math.Abs(got-shift) > 0.002 || sooner.Content[0].Score >= before.Content[0].Score {
		t.Errorf("the prior moved by %v bits, want %v; scores %v, then %v", got, shift, before.Content[0].Score, sooner.Content[0].Score)
	}
	c.with("If-Match", first.etag()).post(models+"/2/activate", nil).is(ok)
	later := c.find(lima())
	if later.prior(t) <= before.prior(t) {
		t.Errorf("priors %v, %v", before.prior(t), later.prior(t))
	}

	var page struct {
		Content       []version
		TotalElements int
	}
	listing := c.get(models + "?size=2").is(ok)
	listing.into(&page)
	next := nextOf(t, listing)
	var rest struct{ Content []version }
	c.get(next).is(ok).into(&rest)
	var active []int64
	for i, v := range slices.Concat(page.Content, rest.Content) {
		if v.Version != int64(i) || v.Model != nil {
			t.Errorf("%d of the list is version %d", i, v.Version)
		}
		if v.Active {
			active = append(active, v.Version)
		}
	}
	if !slices.Equal(active, []int64{2}) || page.TotalElements != 3 || len(rest.Content) != 1 {
		t.Errorf("active %v of %d", active, page.TotalElements)
	}

	// Rolling back: to the first, to the built-in one, and no further. The scores are what they were, to the last digit.
	once := c.with("Idempotency-Key", "back").post(models+"/rollback", nil).is(ok)
	c.with("Idempotency-Key", "back").post(models+"/rollback", nil).is(ok)
	if diff := cmp.Diff(c.find(lima()), sooner); diff != "" || once.object()["version"] != 1.0 {
		t.Errorf("rolled back to %v: %s", once.object()["version"], diff)
	}
	c.post(models+"/rollback", nil).is(ok)
	if diff := cmp.Diff(c.find(lima()), before); diff != "" {
		t.Errorf("rolled back to the built-in one: %s", diff)
	}
	c.post(models+"/rollback", nil).refused(http.StatusConflict, "nothing_to_roll_back")

	if diff := cmp.Diff(stranger.find(lima()), theirs); diff != "" {
		t.Errorf("another tenant is touched: %s", diff)
	}
	stranger.get(models+"/1").refused(http.StatusNotFound, "model_not_found")
	stranger.post(models+"/1/activate", nil).refused(http.StatusNotFound, "model_not_found")
	modelsInTheTrail(t, c)
}

// modelsInTheTrail looks at what the trail tells of what TestModelsHaveVersions did.
func modelsInTheTrail(t *testing.T, c *client) {
	t.Helper()
	want := map[string]int{
		"model.create success": 2, "model.activate success": 2, "model.activate failure": 1, "model.rollback success": 2, "model.rollback failure": 1,
	}
	var got map[string]int
	eventually(t, time.Minute, func() bool {
		got = map[string]int{}
		for _, r := range recordsAt(c, trail) {
			if what := r.Action + " " + r.Outcome; want[what] > 0 || strings.HasPrefix(r.Action, "model.") && r.Outcome == "failure" {
				got[what]++
			}
		}
		return maps.Equal(got, want)
	})
}

func TestWhoMayTuneAModel(t *testing.T) {
	c := newTenant(t)
	stored(c, ana())
	body := c.another(0.25)
	matcher := c.mint("Matcher") // finds, and may look at what weighs
	matcher.get(models).is(ok)
	matcher.get(models + "/0").is(ok)
	for _, answer := range []answer{matcher.post(models, body), matcher.post(models+"/0/activate", nil), matcher.post(models+"/rollback", nil)} {
		answer.refused(http.StatusForbidden, "permission_denied")
	}
	auditor := c.mint("Auditor")
	for _, answer := range []answer{auditor.get(models), auditor.get(models + "/0"), auditor.post(models, "{"), auditor.post(models+"/x/activate", nil)} {
		answer.refused(http.StatusForbidden, "permission_denied")
	}
	for _, answer := range []answer{anyone(t).get(models), anyone(t).post(models, body), anyone(t).post(models+"/rollback", nil)} {
		answer.is(unauthorized)
	}
	for _, version := range []string{"1", "x", "-1", "00", "1e0"} {
		c.get(models+"/"+version).refused(http.StatusNotFound, "model_not_found")
		c.post(models+"/"+version+"/activate", nil).refused(http.StatusNotFound, "model_not_found")
	}
	c.get(models + "/rollback").is(http.StatusMethodNotAllowed)
	c.delete(models + "/0").is(http.StatusMethodNotAllowed)
	c.with("Content-Type", "text/plain").post(models, "{}").refused(http.StatusUnsupportedMediaType, "unsupported_media_type")
}

func TestAModelsFaultsAreToldAtOnce(t *testing.T) {
	c := newTenant(t)
	levels := func(body map[string]any, field int) []any {
		return body["model"].(map[string]any)["fields"].([]any)[field].(map[string]any)["levels"].([]any) //nolint:forcetypeassert // as the document says
	}
	broken := c.another(-1)
	broken["name"], broken["parent"] = " ", 7
	broken["training"] = map[string]any{"method": "em", "patient": "Ana Lima", "pairs": "many"}
	last := levels(broken, 0)[len(levels(broken, 0))-1].(map[string]any) //nolint:forcetypeassert // as the document says
	last["m"], last["u"] = 0.9, 1e-6                                     // better than the best
	a := c.post(models, broken)
	want := []string{
		"model.fields[0].levels m_sum", "model.fields[0].levels u_sum", "model.fields[0].levels[" + fmt.Sprint(len(levels(broken, 0))-1) + "] not_monotone",
		"model.prior.matches out_of_range", "name required", "training.pairs invalid_type", "training.patient invalid_type",
	}
	if got := a.faults(); !sameInAnyOrder(got, want) {
		t.Errorf("%s", cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))))
	}
	if strings.Contains(string(a.raw), "Ana") {
		t.Errorf("a refusal repeats what was given: %s", a.raw)
	}
	wrong := c.another(0.25)
	wrong["name"], wrong["description"] = 7, []string{}
	wrong["model"].(map[string]any)["prior"] = "much"         //nolint:forcetypeassert // as the document says
	levels(wrong, 1)[0].(map[string]any)["m"] = "0.9"         //nolint:forcetypeassert // as the document says
	wrong["model"].(map[string]any)["relatives"] = struct{}{} //nolint:forcetypeassert // as the document says
	want = []string{
		"description invalid_type", "model.fields[1].levels[0].m invalid_type", "model.prior invalid_type", "model.relatives invalid_type", "name invalid_type",
	}
	if got := c.post(models, wrong).faults(); !sameInAnyOrder(got, want) {
		t.Errorf("%v", got)
	}
	for _, body := range []any{map[string]any{}, map[string]any{"model": nil, "name": nil}} {
		if got := c.post(models, body).faults(); !sameInAnyOrder(got, []string{"model required", "name required"}) {
			t.Errorf("%v", got)
		}
	}
	unknown := c.another(0.25)
	unknown["parent"] = 7
	if got := c.post(models, unknown).faults(); !slices.Equal(got, []string{"parent unknown_version"}) {
		t.Errorf("%v", got)
	}
	if got := c.get(models + "?size=0&page=x").faults(); !sameInAnyOrder(got, []string{"page out_of_range", "size out_of_range"}) {
		t.Errorf("%v", got)
	}
	if got := c.with("Idempotency-Key", "").post(models, c.another(0.25)).faults(); !slices.Equal(got, []string{"Idempotency-Key invalid_key"}) {
		t.Errorf("%v", got)
	}
}

func sameInAnyOrder(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// TestAModelIsTrainedFromATenantsRecords trains as `load train` does: the tenant's own records, of which nobody knows who is whom.
func TestAModelIsTrainedFromATenantsRecords(t *testing.T) {
	c, stranger := newTenant(t), newTenant(t)
	stored(c, ana())
	stored(stranger, ana())
	theirs := stranger.find(lima())
	options := load.Options{Gateway: world.Demo().Gateway, APIKey: strings.TrimPrefix(c.header.Get("Authorization"), "Bearer "), Workers: 4}
	populate(t, options, synth.Options{Seed: 41, People: 400, Duplicated: 0.5, Intensity: 3})
	before := c.find(lima())

	gateway, err := load.NewClient(options)
	if err != nil {
		t.Fatal(err)
	}
	tenant := train.Tenant{Gateway: gateway, Missing: load.Missing, Seed: 1, Workers: 2}
	number, active, err := tenant.Active(t.Context())
	if err != nil || number != 0 {
		t.Fatal(number, err)
	}
	sample, err := tenant.List(t.Context())
	if err == nil {
		err = tenant.Whole(t.Context(), &sample)
	}
	if err != nil || len(sample.Records) < 500 || sample.Size != len(sample.Records) {
		t.Fatalf("%d of %d records, %v", len(sample.Records), sample.Size, err)
	}
	learnt, err := train.Learn(sample.People(time.Now().UnixMilli()), nil, active, train.Options{Seed: 1, Strangers: 50_000})
	if err != nil || len(learnt.Reasons) > 0 || learnt.After.LogLikelihood <= learnt.Before.LogLikelihood {
		t.Fatalf("%v, %v, log likelihood %v, was %v", err, learnt.Reasons, learnt.After.LogLikelihood, learnt.Before.LogLikelihood)
	}
	if number, err = tenant.Upload(t.Context(), "trained", learnt); err != nil || number != 1 {
		t.Fatal(number, err)
	}
	if again, err := tenant.Upload(t.Context(), "trained", learnt); err != nil || again != 1 {
		t.Errorf("the same again is version %d, %v", again, err)
	}
	if err := tenant.Activate(t.Context(), number); err != nil {
		t.Fatal(err)
	}
	kept := c.model(models + "/1")
	if kept.Training["method"] != "em" || kept.Training["records"] != float64(len(sample.Records)) || !kept.Active {
		t.Errorf("%+v", kept)
	}
	raw, err := json.Marshal(kept.Model)
	if err != nil {
		t.Fatal(err)
	}
	if stored, faults := linkage.ParseModel(raw); len(faults) > 0 || cmp.Diff(stored.Fields, learnt.Model.Fields) != "" {
		t.Errorf("what is stored is not what was learnt: %v", faults)
	}
	after := c.find(lima())
	if cmp.Equal(after, before) {
		t.Error("nothing is weighed otherwise than before")
	}
	if now, in, err := tenant.Active(t.Context()); err != nil || now != 1 || cmp.Diff(in.Fields, learnt.Model.Fields) != "" {
		t.Errorf("version %d is active, %v", now, err)
	}
	c.post(models+"/rollback", nil).is(ok)
	if diff := cmp.Diff(c.find(lima()), before); diff != "" {
		t.Errorf("rolled back, it is not as before: %s", diff)
	}
	if diff := cmp.Diff(stranger.find(lima()), theirs); diff != "" {
		t.Errorf("another tenant is touched: %s", diff)
	}
}

// populate puts people who never lived into a tenant.
func populate(t *testing.T, options load.Options, o synth.Options) {
	t.Helper()
	o.Complete = true
	g, err := synth.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := synth.NewCSV(&out, o.Seed)
	if err != nil {
		t.Fatal(err)
	}
	for r := range g.Records() {
		if err := w.Write(&r); err != nil {
			t.Fatal(err)
		}
	}
	options.File = filepath.Join(t.TempDir(), "people.csv")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(options.File, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := load.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Send(t.Context()); err != nil || l.Report().Failed()+l.Report().Refused()+l.Report().Skipped() > 0 {
		var told bytes.Buffer
		_ = l.Report().Write(&told)
		t.Fatalf("%v: %s", err, &told)
	}
}

// modelsOfReplicas: both of matching take up what was activated, and know it after they were killed.
func modelsOfReplicas(t *testing.T, m *mesh.Mesh) {
	c := at(t, m, m.Demo().Tenants[0].APIKey)
	stored(c, ana())
	c.post(models, c.another(0.125)).is(created)
	before := c.find(lima()).prior(t)
	agree := func(want float64) {
		t.Helper()
		asked, began := 0, time.Now()
		eventually(t, time.Minute, func() bool { // each takes turns: twelve in a row that agree are of both
			a, err := c.try(http.MethodPost, findV3, "", lima().body())
			var f found
			if err != nil || a.status != ok || json.Unmarshal(a.raw, &f) != nil || math.Abs(f.prior(t)-want) > 0.002 {
				asked = 0
				return false
			}
			asked++
			return asked == 12
		})
		t.Logf("both agree after %v", time.Since(began))
	}
	agree(before)
	shift := math.Log2(0.125 / linkage.Default().Prior.Matches)
	c.post(models+"/1/activate", nil).is(ok)
	agree(before + shift)
	for _, name := range []string{"matching", "matching.2"} {
		m.Process(name).Kill()
	}
	agree(before + shift)
	c.post(models+"/rollback", nil).is(ok)
	agree(before)
	c.post(models+"/1/activate", nil).is(ok)
	for _, name := range []string{"matching.2", "matching"} { // what is active is known to who starts
		m.Process(name).Kill()
		agree(before + shift)
	}
}
