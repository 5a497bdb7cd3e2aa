package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDeleteIsSoftAndRestoreBringsBackWhole(t *testing.T) {
	c := owner(t)
	path, before := stored(c, but(map[string]any{"last4Ssn": "6789", "middleName": "M"}))
	total := func() int64 {
		var l list
		c.get(patients + "?size=1").is(ok).into(&l)
		return l.TotalElements
	}
	with := total()
	if message := c.delete(path).is(ok).object()["message"]; message == "" {
		t.Error("no message")
	}
	if total() != with-1 {
		t.Error("the deleted patient is still counted")
	}
	for _, sub := range []string{"", "/deceased", "/history"} {
		c.get(path+sub).refused(missing, "patient_not_found")
	}
	c.patch(path, map[string]any{"middleName": "x"}).is(missing)
	c.put(path+"/deceased", map[string]any{}).is(missing)
	c.delete(path + "/deceased").is(missing)
	c.delete(path).is(missing)
	var restored, again shown
	c.post(path+"/restore", nil).is(ok).into(&restored)
	if diff := cmp.Diff(before, restored); diff != "" {
		t.Error(diff)
	}
	tag := c.get(path).etag()
	if c.post(path+"/restore", nil).is(ok).etag() != tag {
		t.Error("restoring who is not deleted changed something")
	}
	c.get(path).is(ok).into(&again)
	if total() != with || again != before {
		t.Error("the restored patient is not whole or not counted")
	}
	c.post(patients+"/1/restore", nil).is(missing)
}

func TestDeceased(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, ana())
	at := path + "/deceased"
	none := map[string]any{"deceased": false, "deceasedDate": "", "source": "", "note": "", "updatedAt": ""}
	if diff := cmp.Diff(none, c.get(at).is(ok).object()); diff != "" {
		t.Error(diff)
	}
	first := c.put(at, map[string]any{"deceasedDate": "2020-05-06", "source": "Certificate", "note": "x"}).is(ok)
	got := first.object()
	if _, err := time.Parse("2006-01-02T15:04:05.000Z", fmt.Sprint(got["updatedAt"])); err != nil {
		t.Error(err)
	}
	delete(got, "updatedAt")
	if diff := cmp.Diff(map[string]any{"deceased": true, "deceasedDate": "2020-05-06", "source": "Certificate", "note": "x"}, got); diff != "" {
		t.Error(diff)
	}
	again := c.put(at, map[string]any{"deceasedDate": "2020-05-06", "source": "Certificate", "note": "x"}).is(ok)
	if string(again.raw) != string(first.raw) || again.etag() != first.etag() {
		t.Error("marking twice is not idempotent")
	}
	if c.get(path).object()["deceased"] != true {
		t.Error("the record does not show it")
	}
	if got := c.put(at, map[string]any{"deceasedDate": "1980-02-28", "source": 7}).faults(); !slices.Equal(got, []string{"source invalid_type", "deceasedDate before_birth"}) && !slices.Equal(got, []string{"source invalid_type"}) {
		t.Error(got)
	}
	for date, fault := range map[string]string{"1980-02-28": "before_birth", "2999-01-01": "in_future", "06.05.2020": "invalid_date"} {
		if got := c.put(at, map[string]any{"deceasedDate": date}).faults(); !slices.Equal(got, []string{"deceasedDate " + fault}) {
			t.Errorf("%s: %v", date, got)
		}
	}
	if c.patch(path, map[string]any{"middleName": "M"}).is(ok).object()["deceased"] != true {
		t.Error("an update changed the mark")
	}
	undone := c.delete(at).is(ok)
	if c.delete(at).is(ok).etag() != undone.etag() || c.get(path).object()["deceased"] != false {
		t.Error("undoing is not idempotent, or not done")
	}
	c.put(at, nil).is(ok)
	if got := c.get(at).object(); got["deceased"] != true || got["deceasedDate"] != "" {
		t.Errorf("a death without a date: %v", got)
	}
}

func TestHistoryTellsNamesOnly(t *testing.T) {
	c := owner(t)
	path, _ := stored(c, but(map[string]any{"middleName": "Gertrudis"}))
	c.patch(path, map[string]any{"middleName": "n/a", "gender": "Female"}).is(ok)
	c.patch(path, map[string]any{}).is(ok)
	c.put(path+"/deceased", map[string]any{"note": "Gertrudis"}).is(ok)
	c.delete(path + "/deceased").is(ok)
	c.delete(path).is(ok)
	c.post(path+"/restore", nil).is(ok)
	var page struct {
		Content []struct {
			Version           int64
			ChangedAt, Change string
			ChangedBy         struct{ Type, ID string }
			Fields            []string
		}
		Page, Size    int
		TotalElements int64
	}
	a := c.get(path + "/history").is(ok)
	a.into(&page)
	var changes []string
	for i, e := range page.Content {
		changes = append(changes, e.Change)
		if e.Version != int64(len(page.Content)-i) || e.ChangedBy.Type != "api_key" || e.ChangedBy.ID == "" {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if diff := cmp.Diff([]string{"restored", "deleted", "deceased_unmarked", "deceased_marked", "updated", "created"}, changes); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"middleName", "gender"}, page.Content[4].Fields); diff != "" {
		t.Error(diff)
	}
	if page.TotalElements != 6 || strings.Contains(string(a.raw), "Gertrudis") {
		t.Errorf("history: %s", a.raw)
	}
	first := c.get(path + "/history?size=4").is(ok)
	rest := c.get(nextOf(t, first)).is(ok)
	rest.into(&page)
	if len(page.Content) != 2 || page.Content[1].Change != "created" || rest.header.Get("Link") != "" {
		t.Errorf("the second page: %s", rest.raw)
	}
}
