package train

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// Gateway is the public interface, as one credential of the organization.
type Gateway interface {
	Get(ctx context.Context, path string, into any) (http.Header, error)
	Post(ctx context.Context, path, key string, body, into any) error
}

// Tenant reads an organization's records.
type Tenant struct {
	Gateway Gateway
	Missing func(error) bool // tells that there is nothing at a path
	Records int              // kept at most; 100,000
	Read    int              // looked at at most; 1,000,000
	Echoes  int              // read whole at most, with addresses and what else belongs to them; 20,000
	Workers int              // requests under way at a time; 8
	Seed    uint64
	// Progress is told how far it is, from any goroutine; nil: nobody is.
	Progress func(what string, done, of int)
}

func (t Tenant) withDefaults() Tenant {
	for _, n := range []struct {
		of    *int
		usual int
	}{{&t.Records, 100_000}, {&t.Read, 1_000_000}, {&t.Echoes, 20_000}, {&t.Workers, 8}} {
		if *n.of <= 0 {
			*n.of = n.usual
		}
	}
	if t.Progress == nil {
		t.Progress = func(string, int, int) {}
	}
	return t
}

// Sample is some of an organization's records.
type Sample struct {
	Records []Record
	Size    int  // of the organization
	Chosen  bool // by day of birth, so that records of one person stay together; of which nothing can be learnt then
}

const listSize = 500

// patient is one of v3's list.
type patient struct {
	ID                                                         int64
	FirstName, MiddleName, LastName, DOB, SexAtBirth, Last4SSN string
}

// List reads the list of patients, page by page.
func (t Tenant) List(ctx context.Context) (Sample, error) {
	t = t.withDefaults()
	s := Sample{}
	path := "/v3/patient?size=" + strconv.Itoa(listSize)
	for seen := 0; path != "" && seen < t.Read; {
		var page struct {
			Content       []patient
			TotalElements int
		}
		header, err := t.Gateway.Get(ctx, path, &page)
		if err != nil {
			return s, fmt.Errorf("list patients: %w", err)
		}
		if seen == 0 {
			s.Size = page.TotalElements
			s.Chosen = min(s.Size, t.Read) > t.Records
		}
		for _, p := range page.Content {
			if s.Chosen && !t.chooses(p.DOB, min(s.Size, t.Read)) || len(s.Records) >= t.Records {
				continue
			}
			s.Records = append(s.Records, Record{Demographics: linkage.Demographics{
				ID: p.ID, FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, DOB: p.DOB,
				SexAtBirth: strings.ToLower(p.SexAtBirth), SSNLast4: unmasked(p.Last4SSN),
			}})
		}
		seen += len(page.Content)
		path = next(header.Get("Link"))
		t.Progress("listing patients", seen, min(s.Size, t.Read))
	}
	return s, nil
}

// chooses takes as large a share of the days of birth as is to be kept of the records.
func (t Tenant) chooses(dob string, of int) bool {
	const parts = 1 << 20
	return mix(t.Seed, hash(dob))%parts < uint64(t.Records)*parts/uint64(of) //nolint:gosec // not negative
}

func unmasked(last4 string) string { return strings.TrimPrefix(last4, "***-**-") }

// next is the path that a Link header leads on to.
func next(link string) string {
	found := regexp.MustCompile(`<([^>]*)>; rel="next"`).FindStringSubmatch(link)
	if found == nil {
		return ""
	}
	return found[1]
}

// Whole reads whole the records that a pair could be made of, and some others, to tell how far strangers agree. The others keep
// what the list says.
func (t Tenant) Whole(ctx context.Context, s *Sample) error {
	t = t.withDefaults()
	people := NewPeople(s.Records, s.Size, 0)
	wanted := map[int32]bool{}
	for _, one := range passes() {
		for _, found := range people.pairsOf(one, t.Seed) {
			wanted[found.a], wanted[found.b] = true, true
		}
	}
	r := chance(t.Seed, 1)
	for range min(len(s.Records), t.Echoes/10) {
		wanted[int32(r.IntN(len(s.Records)))] = true //nolint:gosec // there is no memory for so many records
	}
	places := make([]int32, 0, len(wanted))
	for place := range wanted {
		places = append(places, place)
	}
	slices.Sort(places)
	if len(places) > t.Echoes {
		r.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
		places = places[:t.Echoes]
	}
	ids := make([]int64, len(places))
	for i, place := range places {
		ids[i] = s.Records[place].ID
	}
	whole, err := t.Echo(ctx, ids)
	if err != nil {
		return err
	}
	for _, place := range places {
		if record, ok := whole[s.Records[place].ID]; ok {
			s.Records[place] = record
		}
	}
	return nil
}

// echo is a whole record in v2's names.
type echo struct {
	FirstName, MiddleName, LastName, Suffix, DOB, Last4SSN string
	SexAtBirth                                             string `json:"sex_at_birth"`
	Addresses                                              []linkage.Address
	Contacts                                               []linkage.Contact
	Aliases                                                []linkage.Alias // only those that hold now
	Identifiers                                            []struct {
		Type, Value  string
		Organization string `json:"authority_organization_id"`
		Called       string `json:"authority_organization_name"`
		System       string `json:"authority_external_system_id"`
		SystemCalled string `json:"authority_external_system_name"`
	}
}

func (e *echo) record(id int64) Record {
	d := linkage.Demographics{
		ID: id, FirstName: e.FirstName, MiddleName: e.MiddleName, LastName: e.LastName, Suffix: e.Suffix, DOB: e.DOB,
		SexAtBirth: e.SexAtBirth, SSNLast4: unmasked(e.Last4SSN), Addresses: e.Addresses, Contacts: e.Contacts, Aliases: e.Aliases,
	}
	for _, i := range e.Identifiers {
		d.Identifiers = append(d.Identifiers, identifier{i.Type, i.Value, i.Organization, i.Called, i.System, i.SystemCalled}.kept())
	}
	return Record{Demographics: d}
}

// Echo reads records whole. Who is not there, or not any more, is left out.
func (t Tenant) Echo(ctx context.Context, ids []int64) (map[int64]Record, error) {
	t = t.withDefaults()
	found := make([]*Record, len(ids))
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(t.Workers)
	for i, id := range ids {
		group.Go(func() error {
			var e echo
			_, err := t.Gateway.Get(ctx, "/v2/patient/"+strconv.FormatInt(id, 10)+"?partial=true", &e)
			switch {
			case t.Missing(err):
				return nil
			case err != nil:
				return fmt.Errorf("read patient %d: %w", id, err)
			}
			record := e.record(id)
			found[i] = &record
			t.Progress("reading records whole", int(done.Add(1)), len(ids))
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	whole := make(map[int64]Record, len(ids))
	for _, record := range found {
		if record != nil {
			whole[record.ID] = *record
		}
	}
	return whole, nil
}

// Labelled reads the records that labels name.
func (t Tenant) Labelled(ctx context.Context, labels []Label) (Sample, error) {
	var ids []int64
	for _, l := range labels {
		ids = append(ids, l.A, l.B)
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	var page struct{ TotalElements int }
	if _, err := t.Gateway.Get(ctx, "/v3/patient?size=1", &page); err != nil {
		return Sample{}, fmt.Errorf("count patients: %w", err)
	}
	whole, err := t.Echo(ctx, ids)
	s := Sample{Size: page.TotalElements}
	for _, id := range ids {
		if record, ok := whole[id]; ok {
			s.Records = append(s.Records, record)
		}
	}
	return s, err
}

const modelsPath = "/v3/matching/models"

// Active reads the model that the organization's finds use.
func (t Tenant) Active(ctx context.Context) (version int64, active *linkage.Model, err error) {
	for path := modelsPath + "?size=" + strconv.Itoa(listSize); path != ""; {
		var page struct {
			Content []struct {
				Version int64
				Active  bool
			}
		}
		header, err := t.Gateway.Get(ctx, path, &page)
		if err != nil {
			return 0, nil, fmt.Errorf("list models: %w", err)
		}
		for _, m := range page.Content {
			if m.Active {
				version = m.Version
			}
		}
		path = next(header.Get("Link"))
	}
	var document struct{ Model *linkage.Model }
	if _, err := t.Gateway.Get(ctx, modelsPath+"/"+strconv.FormatInt(version, 10), &document); err != nil {
		return 0, nil, fmt.Errorf("read model %d: %w", version, err)
	}
	return version, document.Model, nil
}

// Upload adds a model, which the same training adds once.
func (t Tenant) Upload(ctx context.Context, name string, l *Learnt) (version int64, err error) {
	body := map[string]any{"name": name, "description": l.summary(), "parent": 0, "training": l.figures(), "model": l.Model}
	raw, err := json.Marshal(body)
	if err != nil {
		return 0, err
	}
	var made struct{ Version int64 }
	if err := t.Gateway.Post(ctx, modelsPath, "train-"+strconv.FormatUint(hash(string(raw)), 36), body, &made); err != nil {
		return 0, fmt.Errorf("upload the model: %w", err)
	}
	return made.Version, nil
}

// Activate makes a version the one that finds use.
func (t Tenant) Activate(ctx context.Context, version int64) error {
	var document struct{ Active bool }
	err := t.Gateway.Post(ctx, modelsPath+"/"+strconv.FormatInt(version, 10)+"/activate", "activate-"+strconv.FormatInt(version, 10), struct{}{}, &document)
	if err != nil {
		return fmt.Errorf("activate model %d: %w", version, err)
	}
	return nil
}
