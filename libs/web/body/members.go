package body

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// members are those of an object, in their order. There are mostly few, among whom one is found soonest by looking; where
// there are many they have an index.
type members struct {
	list  []oneMember
	index map[string]int
}

type oneMember struct {
	name  []byte
	value jsontext.Value
}

const fewMembers = 24

func (m *members) find(name string) (jsontext.Value, bool) {
	if n := m.place(name); n >= 0 {
		return m.list[n].value, true
	}
	return nil, false
}

func (m *members) place(name string) int {
	if m.index != nil {
		if n, there := m.index[name]; there {
			return n
		}
		return -1
	}
	for n := range m.list {
		if string(m.list[n].name) == name {
			return n
		}
	}
	return -1
}

// add adds a member; again reports that there was one of its name, in whose place it is now.
func (m *members) add(name []byte, value jsontext.Value) (again bool) {
	if n := m.place(string(name)); n >= 0 {
		m.list[n].value = value
		return true
	}
	if m.list == nil {
		m.list = make([]oneMember, 0, 12)
	}
	m.list = append(m.list, oneMember{name, value})
	switch {
	case m.index != nil:
		m.index[string(name)] = len(m.list) - 1
	case len(m.list) > fewMembers:
		m.index = make(map[string]int, 2*len(m.list))
		for n := range m.list {
			m.index[string(m.list[n].name)] = n
		}
	}
	return false
}

// each calls do with each part of an object or a list: of an object with its name, quoted. What it is given is known to be
// JSON.
func each(composite []byte, do func(name, value []byte)) {
	named := composite[0] == '{'
	at := space(composite, 1)
	for composite[at] != '}' && composite[at] != ']' {
		var name []byte
		if named {
			end := after(composite, at)
			name = composite[at:end]
			at = space(composite, space(composite, end)+1) // past the colon
		}
		end := after(composite, at)
		do(name, composite[at:end])
		if at = space(composite, end); composite[at] == ',' {
			at = space(composite, at+1)
		}
	}
}

// space is where the next text begins that is no space.
func space(json []byte, at int) int {
	for json[at] == ' ' || json[at] == '\t' || json[at] == '\n' || json[at] == '\r' {
		at++
	}
	return at
}

// after is where the value ends that begins at a place.
func after(json []byte, at int) int {
	switch json[at] {
	case '"':
		return afterString(json, at)
	case '{', '[':
		for depth := 0; ; {
			switch json[at] {
			case '"':
				at = afterString(json, at)
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			if at++; depth == 0 {
				return at
			}
		}
	}
	for ; at < len(json); at++ {
		switch json[at] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return at
		}
	}
	return at
}

func afterString(json []byte, at int) int {
	for at++; ; at++ {
		switch json[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
}

// plain is what stands between the quotes of a string that has no escapes; false where it has some.
func plain(quoted []byte) ([]byte, bool) {
	text := quoted[1 : len(quoted)-1]
	return text, bytes.IndexByte(text, '\\') < 0
}
