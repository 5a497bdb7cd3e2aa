package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUpdateAppliesOnlyWhatIsPresentAndNotNull(t *testing.T) {
	c := owner(t)
	path, before := stored(c, but(map[string]any{
		"middleName": "Maria", "gender": "Female", "race": "White", "ethnicity": "Declined", "sexAtBirth": "female",
		"genderIdentity": "woman", "preferredLanguage": "pt", "last4Ssn": "6789",
	}))
	var after shown
	c.patch(path, map[string]any{"firstName": nil, "middleName": nil, "gender": nil, "last4Ssn": nil, "dob": nil, "lastName": "Reis"}).is(ok).into(&after)
	want := before
	want.LastName = "Reis"
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
	c.patch(path, map[string]any{}).is(ok).into(&after)
	if diff := cmp.Diff(want, after); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateClears(t *testing.T) {
	c := owner(t)
	full := but(map[string]any{
		"middleName": "Maria", "gender": "Female", "race": "White", "ethnicity": "Declined", "sexAtBirth": "female",
		"genderIdentity": "woman", "preferredLanguage": "pt", "last4Ssn": "6789",
	})
	for name, cleared := range map[string]struct {
		value string
		want  string
	}{
		"middleName": {"n/a", ""}, "genderIdentity": {"N/A", ""}, "preferredLanguage": {"n/a", ""},
		"gender": {"n/a", "Unknown"}, "race": {"Unknown", "Unknown"}, "ethnicity": {"unknown", "Unknown"}, "sexAtBirth": {"n/a", "Unknown"},
	} {
		path, _ := stored(c, full)
		if got := c.patch(path, map[string]any{name: cleared.value}).is(ok).object()[name]; got != cleared.want {
			t.Errorf("%s: %q gave %q, want %q", name, cleared.value, got, cleared.want)
		}
	}
	path, before := stored(c, full)
	for name, fault := range map[string]string{"firstName": "blank", "lastName": "blank", "dob": "blank", "last4Ssn": "invalid_last4"} {
		for _, value := range []string{"n/a", ""} {
			if got := c.patch(path, map[string]any{name: value}).faults(); !slices.Equal(got, []string{name + " " + fault}) {
				t.Errorf("%s cannot be cleared by %q: %v", name, value, got)
			}
		}
	}
	var after shown
	c.get(path).into(&after)
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
}

func TestUpdateRefuses(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	got := c.patch(path, map[string]any{"gender": "x", "race": "x", "ethnicity": "x", "sexAtBirth": "x", "dob": "2999-01-01", "last4Ssn": "12345", "deceased": true}).faults()
	slices.Sort(got)
	want := []string{"deceased read_only", "dob in_future", "ethnicity invalid_value", "gender invalid_value", "last4Ssn invalid_last4", "race invalid_value", "sexAtBirth invalid_value"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := c.patch(patients+"/1", map[string]any{"gender": "x"}).faults(); !slices.Equal(got, []string{"gender invalid_value"}) {
		t.Errorf("a fault of the body goes before a patient that is not there: %v", got)
	}
	c.patch(path, map[string]any{"deceased": false}).is(ok)
}

func TestARecordReadCanBeSentBack(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, but(map[string]any{"last4Ssn": "6789"}))
	read := c.get(path).is(ok)
	again := c.patch(path, read.object()).is(ok)
	if again.etag() != read.etag() || string(again.raw) != string(read.raw) {
		t.Errorf("%s became %s", read.raw, again.raw)
	}
}

func TestIfMatch(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	first := c.get(path).etag()
	second := c.with("If-Match", first).patch(path, map[string]any{"middleName": "M"}).is(ok).etag()
	if first == second {
		t.Error("the tag did not move")
	}
	c.with("If-Match", first).patch(path, map[string]any{"middleName": "N"}).refused(http.StatusPreconditionFailed, "version_mismatch")
	c.with("If-Match", "W/"+second).patch(path, map[string]any{"middleName": "N"}).refused(http.StatusPreconditionFailed, "version_mismatch")
	c.with("If-Match", first).patch(path, map[string]any{"gender": "x"}).refused(bad, "invalid_request")
	c.with("If-Match", first).delete(path).refused(http.StatusPreconditionFailed, "version_mismatch")
	c.with("If-Match", "").patch(path, map[string]any{"middleName": "N"}).is(http.StatusPreconditionFailed)
	for _, a := range []answer{
		c.with("If-Match", first).put(path+"/deceased", map[string]any{}), c.with("If-Match", first).delete(path + "/deceased"),
		c.with("If-Match", first).post(path+"/restore", nil),
	} {
		a.refused(http.StatusPreconditionFailed, "version_mismatch")
	}
	c.with("If-Match", first+", "+second).patch(path, map[string]any{"middleName": "O"}).is(ok)
	c.with("If-Match", "*").delete(path).is(ok)
	c.with("If-Match", "*").delete(path).is(missing)
}

func TestChangesAtTheSameTimeAllHappen(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	const writers = 40
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			if a := c.patch(path, map[string]any{"middleName": fmt.Sprint("M", i)}); a.status != ok {
				t.Errorf("answered %d: %s", a.status, a.raw)
			}
		})
	}
	all.Wait()
	if got := c.get(path).etag(); got != fmt.Sprintf("%q", fmt.Sprint(writers+1)) {
		t.Errorf("version %s after %d changes", got, writers)
	}
}
