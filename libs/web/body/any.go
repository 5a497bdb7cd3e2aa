package body

import (
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Any reads a value of any type but null, as it came: its numbers, its names and their order, and the spaces within.
func (o *Object) Any(name string) Member[[]byte] {
	raw, ok := o.members.find(name)
	if !ok {
		return Member[[]byte]{}
	}
	if raw.Kind() == 'n' {
		return Member[[]byte]{Present: true, Null: true}
	}
	return Member[[]byte]{Present: true, Value: raw}
}

// Verbatim reads a string of at most limit code points, as it came, quotes and escapes and all: what is only handed back needs
// no tidying.
func (o *Object) Verbatim(name string, limit int) Member[[]byte] {
	m, raw := member[[]byte](o, name, '"', "must be a string")
	if !m.Given() {
		return m
	}
	if text, err := jsontext.AppendUnquote(nil, raw); err != nil || utf8.RuneCount(text) > limit {
		o.Fault(name, "too_long", "is too long")
		return Member[[]byte]{}
	}
	m.Value = raw
	return m
}
