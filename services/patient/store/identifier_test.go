package store_test

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// identify gives a patient an identifier and tells of the fault's code, empty when there was none.
func identify(t *testing.T, w ward, in patient.IdentifierInput) (patient.Identifier, string) {
	t.Helper()
	made, _, err := w.identifiers.Create(w.ctx, w.patient, in, idempotency.Key{}, 200, nil)
	return made, code(err)
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return fault.Of(err).Code
}

// mrn is an identifier of which nothing is said but what it is.
func mrn() patient.IdentifierInput {
	return patient.IdentifierInput{Type: some("MRN"), Value: some("42")}
}

func TestAPatientHasAnIdentifierOnce(t *testing.T) {
	const exists = "identifier_exists"
	yesterday, tomorrow := now.AddDate(0, 0, -1).Format(time.RFC3339), now.AddDate(0, 0, 1).Format(time.RFC3339)
	tests := map[string]struct {
		change func(*patient.IdentifierInput)
		want   string
	}{
		"the same":               {func(*patient.IdentifierInput) {}, exists},
		"another source":         {func(in *patient.IdentifierInput) { in.SourceName = some("x") }, exists},
		"for a time":             {func(in *patient.IdentifierInput) { in.ActiveFrom, in.ActiveUntil = &yesterday, &tomorrow }, exists},
		"from tomorrow":          {func(in *patient.IdentifierInput) { in.ActiveFrom = &tomorrow }, exists},
		"until yesterday":        {func(in *patient.IdentifierInput) { in.ActiveUntil = &yesterday }, ""},
		"never":                  {func(in *patient.IdentifierInput) { in.ActiveFrom, in.ActiveUntil = &tomorrow, &tomorrow }, ""},
		"until now":              {func(in *patient.IdentifierInput) { in.ActiveUntil = some(now.Format(time.RFC3339Nano)) }, ""},
		"another value":          {func(in *patient.IdentifierInput) { in.Value = some("43") }, ""},
		"another type":           {func(in *patient.IdentifierInput) { in.Type = some("SSN") }, ""},
		"another organization":   {func(in *patient.IdentifierInput) { in.AuthorityOrganizationID = some("x") }, ""},
		"another organization's": {func(in *patient.IdentifierInput) { in.AuthorityOrganizationName = some("x") }, ""},
		"another system":         {func(in *patient.IdentifierInput) { in.AuthorityExternalSystemID = some("x") }, ""},
		"another system's":       {func(in *patient.IdentifierInput) { in.AuthorityExternalSystemName = some("x") }, ""},
	}
	w := enter(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := w.as(t, somebody())
			if _, code := identify(t, w, mrn()); code != "" {
				t.Fatal(code)
			}
			before := len(kept(t, w.database))
			in := mrn()
			test.change(&in)
			if _, code := identify(t, w, in); code != test.want {
				t.Errorf("%q, want %q", code, test.want)
			}
			outcome := map[string]string{exists: "failure", "": "success"}[test.want]
			if list := kept(t, w.database)[before:]; !slices.Equal(list, []string{"identifier.create " + strconv.FormatInt(w.patient, 10) + " " + outcome}) {
				t.Error(list)
			}
			if _, code := identify(t, w.as(t, w.by), in); code != "" {
				t.Errorf("on another patient: %s", code)
			}
		})
	}
}

func TestAChangeMakesNoSecondOfAnIdentifier(t *testing.T) {
	w := enter(t)
	if _, code := identify(t, w, mrn()); code != "" {
		t.Fatal(code)
	}
	in := mrn()
	in.Value, in.ActiveUntil = some("43"), some("2030-01-01")
	second, refusal := identify(t, w, in)
	if refusal != "" {
		t.Fatal(refusal)
	}
	update := func(in patient.IdentifierInput) string {
		t.Helper()
		_, err := w.identifiers.Update(w.ctx, w.patient, second.ID, in, nil)
		return code(err)
	}
	for _, step := range []struct {
		name string
		in   patient.IdentifierInput
		want string
	}{
		{"itself, for longer", patient.IdentifierInput{ActiveUntil: some("n/a")}, ""},
		{"the other", patient.IdentifierInput{Value: some("42")}, "identifier_exists"},
		{"the other, in the past", patient.IdentifierInput{Value: some("42"), ActiveUntil: some("2020-01-01")}, ""},
		{"still in the past", patient.IdentifierInput{SourceName: some("x")}, ""},
		{"again", patient.IdentifierInput{ActiveUntil: some("2040-01-01")}, "identifier_exists"},
	} {
		if got := update(step.in); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	want := []string{}
	for _, outcome := range []string{"success", "failure", "success", "success", "failure"} {
		want = append(want, "identifier.update "+strconv.FormatInt(w.patient, 10)+" "+outcome)
	}
	if list := kept(t, w.database); !slices.Equal(list[len(list)-len(want):], want) {
		t.Error(list)
	}
	// What is deactivated makes room.
	first, _, err := w.identifiers.List(w.ctx, w.patient, patient.ActiveOnly, page.Request{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.identifiers.Deactivate(w.ctx, w.patient, first[0].ID, nil); err != nil {
		t.Fatal(err)
	}
	if got := update(patient.IdentifierInput{ActiveUntil: some("2040-01-01")}); got != "" {
		t.Errorf("in the room of the first: %q", got)
	}
}

// A clock that runs ahead lets in what to others is a second of the same: it can be deactivated all the same.
func TestWhoHasARivalCanBeDeactivated(t *testing.T) {
	w := enter(t)
	in := mrn()
	in.ActiveUntil = some("2030-01-01")
	if _, code := identify(t, w, in); code != "" {
		t.Fatal(code)
	}
	ahead := *w.service
	ahead.Now = func() time.Time { return now.AddDate(10, 0, 0) }
	there := patient.Identifiers{Service: &ahead, Store: w.store.Identifiers(), Name: "identifier"}
	made, _, err := there.Create(w.ctx, w.patient, mrn(), idempotency.Key{}, 200, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.identifiers.Update(w.ctx, w.patient, made.ID, patient.IdentifierInput{SourceName: some("x")}, nil); code(err) != "identifier_exists" {
		t.Errorf("changed beside its rival: %v", err)
	}
	if err := w.identifiers.Deactivate(w.ctx, w.patient, made.ID, nil); err != nil {
		t.Error(err)
	}
}

// Of many who give the same identifier at once, or make one of another, exactly one does.
func TestOfTheSameIdentifierExactlyOneWins(t *testing.T) {
	w := enter(t)
	for range 8 { // patients, since what goes wrong goes wrong by chance
		w := w.as(t, w.by)
		var wait sync.WaitGroup
		var won, lost atomic.Int32
		count := func(err error) {
			switch code(err) {
			case "":
				won.Add(1)
			case "identifier_exists":
				lost.Add(1)
			default:
				t.Error(err)
			}
		}
		const creators, changers = 6, 3
		for i := range changers {
			in := mrn()
			in.Value = some(strconv.Itoa(i))
			other, code := identify(t, w, in)
			if code != "" {
				t.Fatal(code)
			}
			wait.Go(func() {
				_, err := w.identifiers.Update(w.ctx, w.patient, other.ID, mrn(), nil)
				count(err)
			})
		}
		for range creators {
			wait.Go(func() {
				_, _, err := w.identifiers.Create(w.ctx, w.patient, mrn(), idempotency.Key{}, 200, nil)
				count(err)
			})
		}
		wait.Wait()
		if won.Load() != 1 || lost.Load() != creators+changers-1 {
			t.Errorf("%d won, %d lost", won.Load(), lost.Load())
		}
	}
}

// Many who send one request under one key create one, and are told of it or to come again.
func TestOneKeyCreatesOneIdentifier(t *testing.T) {
	w := enter(t)
	var wait sync.WaitGroup
	var created, repeated atomic.Int32
	for range 8 {
		wait.Go(func() {
			_, repeat, err := w.identifiers.Create(w.ctx, w.patient, mrn(), w.key("k", "one"), 200, answer)
			switch {
			case err == nil && repeat == nil:
				created.Add(1)
			case err == nil:
				repeated.Add(1)
			case code(err) != "idempotency_key_in_use":
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if created.Load() != 1 {
		t.Errorf("%d created, %d repeated", created.Load(), repeated.Load())
	}
}

// Two of one value go together exactly when no moment from now on belongs to both.
func TestIdentifiersThatShareNoMomentGoTogether(t *testing.T) {
	w := enter(t)
	rapid.Check(t, func(rt *rapid.T) {
		id, _, err := w.store.Create(w.ctx, ana(), w.by, 0, idempotency.Key{}, nil, entry(w.by, "patient.create"))
		if err != nil {
			rt.Fatal(err)
		}
		var had []patient.Identifier
		for i := range 3 {
			in := mrn()
			in.ActiveFrom, in.ActiveUntil = anyBound(rt, "from "+strconv.Itoa(i)), anyBound(rt, "until "+strconv.Itoa(i))
			child, faults := in.New(now)
			if len(faults) > 0 {
				continue // it ended before it began
			}
			child.ID, child.PatientID = uuid.Must(uuid.NewV7()).String(), id
			_, _, err := w.store.Identifiers().Create(w.ctx, child, w.by, idempotency.Key{}, 200, nil, entry(w.by, "identifier.create"))
			if meets := slices.ContainsFunc(had, func(o patient.Identifier) bool { return meet(child.Interval, o.Interval) }); (code(err) == "identifier_exists") != meets || !meets && err != nil {
				rt.Fatalf("%v beside %v: %v", child.Interval, had, err)
			}
			for _, o := range had { // where both come at once no statement looks
				if child.Rivals(o, now) != meet(child.Interval, o.Interval) || o.Rivals(child, now) != child.Rivals(o, now) {
					rt.Fatalf("%v and %v are rivals: %v", child.Interval, o.Interval, child.Rivals(o, now))
				}
			}
			if err == nil {
				had = append(had, child)
			}
		}
	})
}

// meet tries every moment at which something begins: where two meet at all, they do at one of these.
func meet(a, b patient.Interval) bool {
	for _, at := range []time.Time{now, a.From.At, b.From.At} {
		if !at.Before(now) && a.Contains(at) && b.Contains(at) {
			return true
		}
	}
	return false
}
