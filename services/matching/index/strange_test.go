package index

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// TestStrangeNames finds people whose names are of any script and length, exactly and otherwise.
func TestStrangeNames(t *testing.T) {
	x, model := New(Options{}), linkage.Default()
	names := [][2]string{
		{strings.Repeat("😀", 200), strings.Repeat("👩‍👧", 60)},
		{"נועה", "לוי"},
		{"王", "小明"},
		{"Иван", "Иванов"},
		{"X", "Y"},
		{"Zoe\u0308", "A\u030Angstro\u0308m"},
		{"D'Arcy", "O'Neil-Smith"},
		{strings.Repeat("a", 200), strings.Repeat("b ", 100)},
		{"-", "."},
		{"A B C D E F G H I", "J K L M N O P Q R"},
	}
	for i, n := range names {
		x.Apply([]linkage.Demographics{{ID: int64(i + 1), FirstName: n[0], LastName: n[1], DOB: fmt.Sprintf("1970-01-%02d", i+2)}})
	}
	for i, n := range names {
		q := linkage.Demographics{FirstName: n[0], LastName: n[1], DOB: fmt.Sprintf("1970-01-%02d", i+2)}
		exact, err := x.Exact(context.Background(), ExactQuery{Person: linkage.Demographics{FirstName: n[0], LastName: n[1]}, Limit: 5})
		if err != nil || exact.Total != 1 || exact.Hits[0].Demographics.ID != int64(i+1) || exact.Hits[0].Demographics.FirstName != n[0] {
			t.Errorf("%q is not found exactly: %+v %v", n, exact, err)
		}
		if found := x.Find(Query{Person: q, Model: model, Limit: 5, MinScore: 0.5}); len(found.Hits) == 0 || found.Hits[0].Demographics.ID != int64(i+1) {
			t.Errorf("%q is not found: %+v", n, found)
		}
	}
}

func TestEmptyIndex(t *testing.T) {
	x := New(Options{})
	q := linkage.Demographics{FirstName: "John", LastName: "Smith"}
	if found := x.Find(Query{Person: q, Model: linkage.Default(), Limit: 5}); len(found.Hits) > 0 || found.Truncated || found.Total != 0 {
		t.Errorf("found %+v", found)
	}
	for _, q := range []linkage.Demographics{q, {SexAtBirth: "male"}} {
		if found, err := x.Exact(context.Background(), ExactQuery{Person: q, Limit: 5}); err != nil || len(found.Hits) > 0 {
			t.Errorf("found exactly %+v, %v", found, err)
		}
	}
	x.Apply([]linkage.Demographics{{ID: 7, Deleted: true}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.Exact(ctx, ExactQuery{Person: linkage.Demographics{SexAtBirth: "male"}, Limit: 5}); err == nil {
		t.Error("a question whose asker left goes on")
	}
}

// TestATenantsScansHoldNobodyElseUp: one tenant's questions that go through everybody wait for each other, not others' for them.
func TestATenantsScansHoldNobodyElseUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Scans: make(chan struct{}, 2)}
		busy, quiet := New(o), New(o)
		everybody := ExactQuery{Person: linkage.Demographics{SexAtBirth: "male"}, Limit: 5}
		for _, x := range []*Index{busy, quiet} {
			x.Apply([]linkage.Demographics{{ID: 1, FirstName: "Ana", SexAtBirth: "male"}})
		}
		done, err := busy.turn(t.Context()) // one that takes long
		if err != nil {
			t.Fatal(err)
		}
		var answered atomic.Int64
		var wait sync.WaitGroup
		for range 3 {
			wait.Go(func() {
				if found, err := busy.Exact(t.Context(), everybody); err == nil {
					answered.Add(int64(found.Total))
				}
			})
		}
		synctest.Wait()
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if found, err := quiet.Exact(soon, everybody); err != nil || found.Total != 1 || answered.Load() > 0 {
			t.Errorf("another tenant's: %+v, %v; %d of the busy one's", found, err, answered.Load())
		}
		if _, err := busy.Exact(soon, everybody); !errors.Is(err, context.DeadlineExceeded) { // who leaves takes no turn
			t.Error(err)
		}
		done()
		wait.Wait()
		if answered.Load() != 3 || len(o.Scans)+len(busy.scan)+len(quiet.scan) > 0 {
			t.Errorf("%d answered, turns are still taken", answered.Load())
		}
	})
}

// TestATelephonesCountry: what is compared of a number is the same in several countries; exactly asked, they are told apart.
func TestATelephonesCountry(t *testing.T) {
	x := New(Options{})
	reach := func(id int64, value, e164 string) linkage.Demographics {
		return linkage.Demographics{ID: id, FirstName: "Ana", Contacts: []linkage.Contact{{System: "phone", Value: value, E164: e164}}}
	}
	x.Apply([]linkage.Demographics{
		reach(1, "+44 20 7946 0958", "+442079460958"), reach(2, "2079460958", ""), // a number without a normal form is of any country
		reach(3, "+39 06 12345678", "+390612345678"), reach(4, "+49 1511 2345678", "+4915112345678"),
	})
	for _, q := range []struct {
		value, e164 string
		want        string
	}{
		{"(207) 946-0958", "+12079460958", "2"},
		{"+44 20 7946 0958", "+442079460958", "1 2"},
		{"2079460958", "", "1 2"},
		{"+39 6 12345678", "+39612345678", ""},
		{"+39 06 12345678", "+390612345678", "3"},
		{"+49 2511 2345678", "+4925112345678", ""},
		{"+49 1511 2345678", "+4915112345678", "4"},
	} {
		found, err := x.Exact(context.Background(), ExactQuery{Person: linkage.Demographics{Contacts: reach(0, q.value, q.e164).Contacts}, Limit: 5})
		got := ""
		for _, h := range found.Hits {
			got += fmt.Sprint(" ", h.Demographics.ID)
		}
		if err != nil || strings.TrimSpace(got) != q.want {
			t.Errorf("%s finds%s, %v", q.value, got, err)
		}
	}
}

// TestFindsBesideChanges replaces people while they are asked for: each is seen as before or as after, never half.
func TestFindsBesideChanges(t *testing.T) {
	x, model := New(Options{}), linkage.Default()
	person := func(id int64, turn int) linkage.Demographics {
		name := [2]string{"Amanda", "Bertram"}[turn%2]
		return linkage.Demographics{
			ID: id, FirstName: name, LastName: name + "son", DOB: "1970-01-02", MiddleName: fmt.Sprint("m", id, turn),
			Contacts: []linkage.Contact{{System: "email", Value: fmt.Sprint(name, id, "@x.org")}},
		}
	}
	const people, turns = 50, 40
	for id := int64(1); id <= people; id++ {
		x.Apply([]linkage.Demographics{person(id, 0)})
	}
	var wait sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		wait.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				found := x.Find(Query{Person: linkage.Demographics{FirstName: "Amanda", LastName: "Amandason", DOB: "1970-01-02"}, Model: model, Limit: 100})
				for _, h := range found.Hits {
					if h.Demographics.LastName != h.Demographics.FirstName+"son" {
						t.Errorf("half a person: %+v", h.Demographics)
					}
				}
				all, _ := x.Exact(context.Background(), ExactQuery{Person: linkage.Demographics{DOB: "1970-01-02"}, Limit: 100})
				if all.Total != people {
					t.Errorf("%d people of %d", all.Total, people)
				}
			}
		})
	}
	for turn := range turns {
		var news []linkage.Demographics
		for id := int64(1); id <= people; id++ {
			news = append(news, person(id, turn))
		}
		x.Apply(news)
	}
	close(done)
	wait.Wait()
}
