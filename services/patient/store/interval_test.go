package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/patient-mesh/patient-mesh/libs/idempotency"
	"github.com/patient-mesh/patient-mesh/libs/page"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

// anyBound is a moment near now, as text; sometimes none.
func anyBound(t *rapid.T, name string) *string {
	day := now.Truncate(24 * time.Hour)
	near := []time.Time{
		now, now.Add(-time.Millisecond), now.Add(time.Millisecond), now.Add(-time.Hour), now.Add(time.Hour),
		day, day.AddDate(0, 0, 1), now.AddDate(-226, 0, 0), now.AddDate(7973, 0, 0),
	}
	at := rapid.SampledFrom(near).Draw(t, name)
	switch rapid.IntRange(0, 3).Draw(t, name+" as") {
	case 0:
		return nil
	case 1:
		return some(at.Format(time.DateOnly))
	case 2:
		return some(at.In(time.FixedZone("", 3600*rapid.IntRange(-12, 14).Draw(t, "offset"))).Format("2006-01-02T15:04:05.000Z07:00"))
	}
	return some(at.Format("2006-01-02T15:04:05.000Z"))
}

// What SQL says is active is what the noun says, and both lists together are all.
func TestTheListsOfTheStoreAgreeWithActive(t *testing.T) {
	w := enter(t)
	rapid.Check(t, func(t *rapid.T) {
		child := ana()
		id, _, err := w.store.Create(w.ctx, child, w.by, 0, idempotency.Key{}, nil, entry(w.by, "patient.create"))
		if err != nil {
			t.Fatal(err)
		}
		at := now.Add(time.Duration(rapid.IntRange(-2, 2).Draw(t, "at")) * time.Millisecond)
		want := map[patient.Which][]patient.Alias{}
		var first []patient.Alias
		for i := range rapid.IntRange(1, 6).Draw(t, "aliases") {
			name := fmt.Sprintf("alias %d ", i)
			a, faults := patient.AliasInput{Alias: some("A"), EffectiveFrom: anyBound(t, name+"from"), EffectiveTo: anyBound(t, name+"until")}.New(now)
			if len(faults) > 0 {
				continue // it ended before it began
			}
			a.ID, a.PatientID = uuid.Must(uuid.NewV7()).String(), id
			if rapid.Bool().Draw(t, name+"deactivated") {
				a.DeactivatedAt = &now
			}
			if _, _, err := w.store.Aliases().Create(w.ctx, a, w.by, idempotency.Key{}, 200, nil, entry(w.by, "alias.create")); err != nil {
				t.Fatal(err)
			}
			which := patient.InactiveOnly
			if a.Active(at) {
				which = patient.ActiveOnly
				first = append(first, a)
			}
			want[which] = append(want[which], a)
			want[patient.All] = append(want[patient.All], a)
		}
		for _, which := range []patient.Which{patient.ActiveOnly, patient.InactiveOnly, patient.All} {
			list, total, _, err := w.store.Aliases().List(w.ctx, w.by.TenantID, id, which, at, page.Request{Size: 50}, entry(w.by, "alias.list"))
			if err != nil || total != int64(len(want[which])) {
				t.Fatalf("list %d: %d of %d, %v", which, total, len(want[which]), err)
			}
			if diff := cmp.Diff(want[which], append([]patient.Alias(nil), list...)); diff != "" {
				t.Fatalf("list %d: %s", which, diff)
			}
		}
		first = first[:min(2, len(first))]
		got, count, err := w.store.ActiveAliases(w.ctx, w.by.TenantID, id, at, 2)
		if err != nil || count != int64(len(want[patient.ActiveOnly])) {
			t.Fatalf("%d active, %v", count, err)
		}
		if diff := cmp.Diff(first, append([]patient.Alias(nil), got...)); diff != "" {
			t.Fatalf("the first two that are active: %s", diff)
		}
	})
}
