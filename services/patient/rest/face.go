package rest

import (
	"errors"
	"slices"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// face is one of the two interfaces.
type face struct {
	root     string // of its paths
	version  string // told apart by it: a key of one interface is no key of the other
	spelling spelling
}

func v3() face { return face{root: "/v3/patient/", version: "v3"} }
func v2() face { return face{root: "/v2/patient/", version: "v2"} }

func (f face) spelt(s spelling) face {
	f.spelling = s
	return f
}

// spelling is what an interface calls members otherwise than nouns do; nil where it calls none otherwise.
type spelling map[string]string

func (s spelling) of(name string) string {
	if own, differs := s[name]; differs {
		return own
	}
	return name
}

// fields spells the members that faults name as the request does.
func (s spelling) fields(faults []fault.Field) []fault.Field {
	spelt := slices.Clone(faults)
	for i := range spelt {
		spelt[i].Field = s.of(spelt[i].Field)
	}
	return spelt
}

// err does so for what a verb refuses.
func (s spelling) err(err error) error {
	refusal, is := errors.AsType[*fault.Error](err)
	if !is || len(s) == 0 || refusal.Kind != fault.Invalid || len(refusal.Fields) == 0 {
		return err
	}
	return fault.InvalidFields(s.fields(refusal.Fields))
}
