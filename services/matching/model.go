package matching

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/linkage"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// DefaultVersion is the version of the model that is built in. A tenant that activated no other uses it.
const DefaultVersion = 0

// Model is one version of how a tenant weighs agreement. It does not change once made: what was activated can be activated
// again, and is what it was.
type Model struct {
	Version     int64 // from 1 in each tenant
	Name        string
	Description string
	Parent      *int64          // the version that it was made from, where that is known
	Training    json.RawMessage // an object of figures: how it was trained, and how good it was
	Weights     *linkage.Model
	CreatedAt   time.Time // zero: it is built in
	CreatedBy   principal.Actor
	Active      bool
	Activated   *Activation // the latest one; nil: it never was
}

// Activation is one entry of a tenant's log of which version it used from when on.
type Activation struct {
	Number  int64 // from 1 in each tenant
	Version int64
	Below   *int64 // the number of the entry that rolling back leads to, 0 being the time before the first; nil: none
	At      time.Time
	By      principal.Actor
}

// Standing is where a tenant's models stand. The zero Standing is that of a tenant that never made nor chose any.
type Standing struct {
	Latest  int64       // version
	Current *Activation // nil: nobody activated any, so the default is active
	Below   *Activation // the one that rolling back leads to; nil: the time before the first, or nowhere
}

// Number is that of the latest activation: it tells whether anything changed since.
func (s Standing) Number() int64 {
	if s.Current == nil {
		return 0
	}
	return s.Current.Number
}

// Active is the version in use.
func (s Standing) Active() int64 {
	if s.Current == nil {
		return DefaultVersion
	}
	return s.Current.Version
}

// activate is the next entry of the log when a version is activated.
func (s Standing) activate(version int64, at time.Time, by principal.Actor) Activation {
	below := s.Number()
	return Activation{Number: below + 1, Version: version, Below: &below, At: at, By: by}
}

// rollback is the next entry of the log when the version before becomes the active one again: below it is what was below that.
// Nothing tells that there was none before.
func (s Standing) rollback(at time.Time, by principal.Actor) (next Activation, ok bool) {
	if s.Current == nil || s.Current.Below == nil {
		return Activation{}, false
	}
	next = Activation{Number: s.Number() + 1, Version: DefaultVersion, At: at, By: by}
	if s.Below != nil {
		next.Version, next.Below = s.Below.Version, s.Below.Below
	}
	return next, true
}

// ModelInput is what a caller gives of a model. Nil is what was not given.
type ModelInput struct {
	Name, Description *string
	Parent            *int64
	Training          []byte // a JSON object
	Weights           []byte // a JSON object: linkage.Model
}

// NewModel makes a model of an input, or tells every rule that the input breaks. Its version is left to the caller.
func NewModel(in ModelInput, at time.Time, by principal.Actor) (Model, []fault.Field) {
	var faults []fault.Field
	wrong := func(field, code, message string) {
		faults = append(faults, fault.Field{Field: field, Code: code, Message: message})
	}
	m := Model{Parent: in.Parent, Training: json.RawMessage(`{}`), CreatedAt: at, CreatedBy: by}
	if in.Name == nil || *in.Name == "" {
		wrong("name", "required", "must not be blank")
	} else {
		m.Name = *in.Name
	}
	if in.Description != nil {
		m.Description = *in.Description
	}
	if in.Training != nil {
		var ok []fault.Field
		if m.Training, ok = training(in.Training); len(ok) > 0 {
			faults = append(faults, ok...)
		}
	}
	if in.Weights == nil {
		wrong("model", "required", "must be given")
		return m, faults
	}
	weights, broken := ParseWeights(in.Weights)
	m.Weights = weights
	return m, append(faults, broken...)
}

// ParseWeights reads a linkage.Model, or tells every rule that it breaks.
func ParseWeights(raw []byte) (*linkage.Model, []fault.Field) {
	const path = "model"
	if faults := misshapen(raw, reflect.TypeFor[linkage.Model](), path); len(faults) > 0 {
		return nil, faults
	}
	weights, faults := linkage.ParseModel(raw)
	for i := range faults {
		faults[i].Field = strings.TrimSuffix(path+"."+faults[i].Field, ".")
	}
	return weights, faults
}

// ReadWeights reads a model as it was stored, maybe by an earlier release: what that one did not know yet is as in the built-in
// model.
func ReadWeights(raw []byte) (*linkage.Model, []fault.Field) {
	weights, faults := ParseWeights(raw)
	if len(faults) == 0 {
		return weights, nil
	}
	stored, completed := &linkage.Model{}, linkage.Default()
	standard := completed.Fields
	completed.Fields = nil // else what it has in a place would stay there for another field
	if json.Unmarshal(raw, stored) != nil || json.Unmarshal(raw, completed) != nil {
		return nil, faults
	}
	completed.Fields = standard
	for f := range completed.Fields {
		for _, known := range stored.Fields {
			if alike(known, completed.Fields[f]) {
				completed.Fields[f] = known
			}
		}
	}
	completed.Thresholds = completed.Thresholds.Bounded() // which were laxer once
	return completed, completed.Validate()
}

// alike reports a field of the same levels.
func alike(a, b linkage.Field) bool {
	return a.Name == b.Name && slices.EqualFunc(a.Levels, b.Levels, func(a, b linkage.Level) bool { return a.Name == b.Name })
}

// The bounds of what is told of a training.
const (
	mostFigures   = 100
	longestFigure = 64 // of a member's name
	trainedBy     = "method"
)

// training reads what is told of a training: figures by their names, and the method in words. It takes no other text, since
// a figure is of nobody.
func training(raw []byte) (json.RawMessage, []fault.Field) {
	var faults []fault.Field
	wrong := func(name, code, message string) {
		field := "training"
		if name != "" {
			field += "." + name
		}
		faults = append(faults, fault.Field{Field: field, Code: code, Message: message})
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(raw, &members); err != nil {
		wrong("", "invalid_type", "must be an object")
		return nil, faults
	}
	if len(members) > mostFigures {
		wrong("", "too_many", fmt.Sprintf("has more than %d members", mostFigures))
		return nil, faults
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		if !figureName(name) {
			wrong("", "invalid_name", fmt.Sprintf("has a member whose name is not 1 to %d letters, digits and underscores", longestFigure))
			continue
		}
		var number float64
		var text string
		switch {
		case name == trainedBy:
			if json.Unmarshal(value, &text) != nil || utf8.RuneCountInString(text) > longestFigure {
				wrong(name, "invalid_type", fmt.Sprintf("must be a text of at most %d characters", longestFigure))
			}
			out[name] = text
		case value.Kind() != '0' || json.Unmarshal(value, &number) != nil || math.IsInf(number, 0):
			wrong(name, "invalid_type", "must be a number")
		default:
			out[name] = number
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	shown, err := json.Marshal(out)
	if err != nil {
		wrong("", "invalid_type", "must be an object of numbers")
	}
	return shown, faults
}

func figureName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return name != "" && len(name) <= longestFigure
}
