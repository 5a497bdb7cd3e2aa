// Package body reads a JSON object member by member and collects every fault on the way, so that a caller learns all
// of them at once. It knows types and text, and no member's meaning.
package body

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// The longest texts, in code points after normalisation.
const (
	NameLength = 200
	TextLength = 500
)

// Object is the JSON object of a request. Read fills it; the readers then take members out of it, and Err tells what
// was wrong. It is used by one goroutine.
type Object struct {
	raw     []byte
	members members
	faults  []fault.Field
	broken  *fault.Error // the body as a whole is no object
}

// Member is one member as read: absent, null, or a value. A member of a wrong type counts as absent and is a fault.
type Member[T any] struct {
	Present bool // given, even if as null
	Null    bool
	Value   T
}

// Given reports a value that is not null.
func (m Member[T]) Given() bool { return m.Present && !m.Null }

// Pointer is nil where nothing or null was given.
func (m Member[T]) Pointer() *T {
	if !m.Given() {
		return nil
	}
	return &m.Value
}

// Read takes a whole body in. It keeps no reference to data. What it finds wrong, Err tells later. A repeated member
// and text that is not UTF-8 are refused, since two readers could understand them differently (RFC 8259 §4, §8.1).
func (o *Object) Read(data []byte) { o.Take(bytes.Clone(data)) }

// Take is Read of data that nobody changes any more.
func (o *Object) Take(data []byte) {
	o.raw, o.members = data, members{}
	data = bytes.Trim(data, " \t\r\n")
	// Names repeated at the top are found below, where they can be named; further down they are nobody's business.
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		o.broken = whole("body_required", "A JSON body is required.")
	case data[0] == '[' || data[0] != '{' && jsontext.Value(data).IsValid():
		o.broken = whole("not_an_object", "The body must be a JSON object.")
	case !jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)):
		o.broken = whole("malformed_json", "The body is not valid JSON.")
	default:
		o.split(data)
	}
}

// split finds the members of what is known to be an object.
func (o *Object) split(data []byte) {
	each(data, func(quoted, value []byte) {
		name, ok := plain(quoted)
		if !ok {
			name, _ = jsontext.AppendUnquote(nil, quoted) // it is known to be a string
		}
		if o.members.add(name, value) {
			o.Fault(string(name), "duplicate_member", "is given twice")
		}
	})
}

// AllowEmpty takes a body that is not there for an object without members.
func (o *Object) AllowEmpty() {
	if o.broken != nil && o.broken.Code == "body_required" {
		o.broken = nil
	}
}

// whole is the fault of a body that cannot be read member by member.
func whole(code, detail string) *fault.Error {
	f := fault.New(fault.Invalid, code, detail)
	f.Fields = []fault.Field{{Field: "body", Code: code, Message: detail}}
	return f
}

// Raw is the body as it came.
func (o *Object) Raw() []byte { return o.raw }

// Err is nil when nothing was wrong with the object, nor with what further rules found; else the fault that lists it
// all. Of several faults of one member the first is kept, and the members' own types come first.
func (o *Object) Err(further ...fault.Field) error {
	if o.broken != nil {
		return o.broken
	}
	all := make([]fault.Field, 0, len(o.faults)+len(further))
	seen := map[string]bool{}
	for _, list := range [2][]fault.Field{o.faults, further} {
		for _, f := range list {
			if !seen[f.Field] {
				seen[f.Field] = true
				all = append(all, f)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fault.InvalidFields(all)
}

// Fault notes that a member breaks a rule.
func (o *Object) Fault(name, code, message string) {
	o.faults = append(o.faults, fault.Field{Field: name, Code: code, Message: message})
}

// Text reads a string: trimmed, in NFC, without control characters, of at most limit code points.
func (o *Object) Text(name string, limit int) Member[string] {
	m, raw := member[string](o, name, '"', "must be a string")
	if !m.Given() {
		return m
	}
	text, ok := plain(raw)
	if !ok {
		text, _ = jsontext.AppendUnquote(nil, raw) // it is known to be a string
	}
	value, code, message := CleanText(string(text), limit)
	if code != "" {
		o.Fault(name, code, message)
		return Member[string]{}
	}
	m.Value = value
	return m
}

// Secret reads a string as it is, of at most limit bytes: passwords and tokens are not trimmed or normalised.
func (o *Object) Secret(name string, limit int) Member[string] {
	m, raw := member[string](o, name, '"', "must be a string")
	if !m.Given() {
		return m
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil || len(text) > limit {
		o.Fault(name, "too_long", "is too long")
		return Member[string]{}
	}
	m.Value = string(text)
	return m
}

// CleanText trims a text and brings it to NFC. A code other than "" says what is wrong with it.
func CleanText(text string, limit int) (clean, code, message string) {
	if clean = strings.TrimSpace(text); len(clean) <= limit && printable(clean) {
		return clean, "", ""
	}
	clean = norm.NFC.String(strings.TrimSpace(text))
	if strings.TrimFunc(clean, invisible) == "" {
		clean = "" // zero-width spaces and the like make no text
	}
	switch {
	case !utf8.ValidString(clean):
		return "", "invalid_text", "must be UTF-8 text"
	case strings.ContainsFunc(clean, forbidden):
		return "", "control_character", "must not contain control characters"
	case utf8.RuneCountInString(clean) > limit:
		return "", "too_long", "is too long"
	}
	return clean, "", ""
}

// printable reports text of ASCII alone, without control characters: nothing further can be wrong with it.
func printable(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

// forbidden reports control characters and code points that are no characters.
func forbidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Noncharacter_Code_Point, r)
}

// invisible reports a rune that shows nothing by itself.
func invisible(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) }

// Bool reads true or false.
func (o *Object) Bool(name string) Member[bool] {
	const message = "must be true or false"
	m := Member[bool]{}
	raw, ok := o.members.find(name)
	if !ok {
		return m
	}
	switch raw.Kind() {
	case 't', 'f':
		return Member[bool]{Present: true, Value: raw.Kind() == 't'}
	case 'n':
		return Member[bool]{Present: true, Null: true}
	default:
		o.Fault(name, "invalid_type", message)
		return m
	}
}

// Texts reads a list of strings, each as Text does, of at most count entries.
func (o *Object) Texts(name string, count, limit int) Member[[]string] {
	m, raw := member[[]string](o, name, '[', "must be a list of strings")
	if !m.Given() {
		return m
	}
	var list []string
	decoder := jsontext.NewDecoder(bytes.NewReader(raw))
	_, _ = decoder.ReadToken() // the bracket, which is known to be there
	for decoder.PeekKind() == '"' {
		token, err := decoder.ReadToken()
		if err != nil {
			break
		}
		text, code, message := CleanText(token.String(), limit)
		if code != "" {
			o.Fault(name, code, message)
			return Member[[]string]{}
		}
		list = append(list, text)
	}
	if decoder.PeekKind() != ']' {
		o.Fault(name, "invalid_type", "must be a list of strings")
		return Member[[]string]{}
	}
	if len(list) > count {
		o.Fault(name, "too_many", "has too many entries")
		return Member[[]string]{}
	}
	m.Value = list
	return m
}

// member finds a member of a JSON kind, notes a wrong type, and gives the raw value.
func member[T any](o *Object, name string, kind jsontext.Kind, message string) (Member[T], jsontext.Value) {
	raw, ok := o.members.find(name)
	switch {
	case !ok:
		return Member[T]{}, nil
	case raw.Kind() == 'n':
		return Member[T]{Present: true, Null: true}, nil
	case raw.Kind() != kind:
		o.Fault(name, "invalid_type", message)
		return Member[T]{}, nil
	}
	return Member[T]{Present: true}, raw
}
