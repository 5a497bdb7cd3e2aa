package linkage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// alias adds the names that an alias gives: the one in its fields, and those that its full name and its alias can be read as.
func (f filler) alias(person *Person, a *Alias) {
	add := func(first, last string) {
		name := AliasName{First: f.some(Given, first), Last: f.some(Family, last), From: a.From, Until: a.Until}
		if name.First != nil && name.First.Missing {
			name.First = nil
		}
		if name.Last != nil && name.Last.Missing {
			name.Last = nil
		}
		if name.First == nil && name.Last == nil || blank(name.First, name.Last) {
			return
		}
		person.Aliases = append(person.Aliases, name)
	}
	add(a.FirstName, a.LastName)
	for _, full := range [...]string{a.FullName, a.Alias} {
		first, last := splitName(full)
		if first != "" && last == "" { // one word, which can be either
			add("", first)
		}
		add(first, last)
	}
}

// splitName takes a full name apart: Last, First or First Last, of which the particles before the last word are part. One
// word is the first. Both are pieces of the whole.
func splitName(full string) (first, last string) {
	full = strings.TrimSpace(full)
	if before, after, found := strings.Cut(full, ","); found {
		after = strings.TrimSpace(after)
		if _, suffix := generation(Fold(after)); !suffix && after != "" { // "John Smith, Jr" is no "Last, First"
			return after, strings.TrimSpace(before)
		}
	}
	fields := 0
	at := len(full) // where the last name begins
	for rest := full; ; fields++ {
		rest = strings.TrimRightFunc(rest, unicode.IsSpace)
		space := strings.LastIndexFunc(rest, unicode.IsSpace)
		if space < 0 {
			break
		}
		_, size := utf8.DecodeRuneInString(rest[space:])
		word := Fold(rest[space+size:])
		_, suffix := generation(word)
		if !suffix && at < len(full) && !particle(word, false) && !joins(word) && !suffixed(full[at:]) {
			break
		}
		at, rest = space+size, rest[:space]
	}
	if at == len(full) {
		return full, ""
	}
	return strings.TrimSpace(full[:at]), full[at:]
}

// suffixed tells that a text is suffixes only.
func suffixed(s string) bool {
	for word := range strings.FieldsSeq(s) {
		if _, suffix := generation(Fold(word)); !suffix {
			return false
		}
	}
	return true
}
