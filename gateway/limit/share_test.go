package limit

import "testing"

func TestShare(t *testing.T) {
	s := &Share{All: 3, Each: 2}
	first, second := s.Take("a"), s.Take("a")
	if first == nil || second == nil || s.Take("a") != nil {
		t.Fatal("one has not two places")
	}
	other := s.Take("b")
	if other == nil || s.Take("c") != nil {
		t.Fatal("all have not three")
	}
	first()
	if s.Take("c") == nil || s.Take("a") != nil {
		t.Error("the place that was given back is not there once")
	}
	second()
	other()
	if len(s.held) != 1 {
		t.Errorf("remembers %v", s.held)
	}
	unbounded := &Share{}
	for range 1000 {
		if unbounded.Take("a") == nil {
			t.Fatal("no bound is one")
		}
	}
}
