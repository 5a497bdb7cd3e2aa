package rest

import (
	"crypto/sha256"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
)

const (
	longestLine = 1 << 20 // bytes, as a single create's body
	mostFaults  = 100     // that are told of a line
)

// importLine is one line on its way: what was read of it and what became of it.
type importLine struct {
	number int64
	text   []byte // nil: it was too long to be kept
	ref    []byte // as it was given, in JSON; nil: not given
}

// draft reads a line. The rules of single creates are the verb's to hold against it.
func (s *Server) draft(l *importLine, keyed bool) patient.Draft {
	d := patient.Draft{Line: l.number}
	if l.text == nil {
		d.Refusal = func(patient.Broken) error {
			return fault.New(fault.TooLarge, "body_too_large", "The line is over the limit of 1 MiB.")
		}
		return d
	}
	if keyed {
		sum := sha256.Sum256(l.text)
		copy(d.Digest[:], sum[:])
	}
	o := &body.Object{}
	o.Read(l.text)
	l.ref = ref(o)
	d.Patient = input(o, nil)
	a, c, n, i := s.addressesV3(), s.contactsV3(), s.aliasesV3(), s.identifiersV3()
	addresses, contacts := o.Objects("addresses", patient.MostChildren), o.Objects("contacts", patient.MostChildren)
	aliases, identifiers := o.Objects("aliases", patient.MostChildren), o.Objects("identifiers", patient.MostChildren)
	d.Addresses, d.Contacts = inputs(addresses, a.input), inputs(contacts, c.input)
	d.Aliases, d.Identifiers = inputs(aliases, n.input), inputs(identifiers, i.input)
	d.Refusal = func(b patient.Broken) error {
		within(o, "addresses", addresses, b.Addresses, a.broken)
		within(o, "contacts", contacts, b.Contacts, c.broken)
		within(o, "aliases", aliases, b.Aliases, n.broken)
		within(o, "identifiers", identifiers, b.Identifiers, i.broken)
		return few(o.Err(b.Patient...))
	}
	return d
}

// ref is what a line is called by who sends it: any text of at most 500 code points, and none of a record's.
func ref(o *body.Object) []byte {
	const name = "ref"
	m := o.Any(name)
	switch {
	case !m.Given():
		return nil
	case jsontext.Value(m.Value).Kind() != '"':
		o.Fault(name, "invalid_type", "must be a string")
		return nil
	}
	text, err := jsontext.AppendUnquote(nil, m.Value)
	if err != nil || utf8.RuneCount(text) > body.TextLength {
		o.Fault(name, "too_long", "is too long")
		return nil
	}
	return m.Value
}

func inputs[I any](list []*body.Object, read func(o *body.Object, s spelling) I) []I {
	if len(list) == 0 {
		return nil
	}
	out := make([]I, len(list))
	for n, o := range list {
		if o != nil {
			out[n] = read(o, nil)
		}
	}
	return out
}

// within notes what is wrong with the children of one kind.
func within(
	o *body.Object, name string, list []*body.Object, rules map[int][]fault.Field, broken func(o *body.Object, rules []fault.Field) []fault.Field,
) {
	for n, one := range list {
		if one != nil {
			o.Within(name, n, one, broken(one, rules[n]))
		}
	}
}

// few is a refusal with no more faults than an answer should have.
func few(err error) error {
	if err == nil {
		return nil
	}
	if refusal := fault.Of(err); len(refusal.Fields) > mostFaults {
		refusal.Fields = refusal.Fields[:mostFaults]
	}
	return err
}
