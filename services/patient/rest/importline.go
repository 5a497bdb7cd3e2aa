package rest

import (
	"bytes"
	"crypto/sha256"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/web/body"
	"github.com/patient-mesh/patient-mesh/services/patient"
	"github.com/patient-mesh/patient-mesh/services/patient/api"
)

const (
	longestLine = 1 << 20 // bytes, as a single create's body
	mostFaults  = 100     // that are told of a line
)

// importLine is one line on its way: what was read of it and what became of it.
type importLine struct {
	number int64
	text   []byte // nil: it was too long to be kept, or has been read
	ref    []byte // as it was given, in JSON; nil: not given
}

// lineReader reads lines, with the children of v3.
type lineReader struct {
	keyed       bool // lines are told apart by what they hash to
	addresses   addresses[api.AddressResponseDTO]
	contacts    contacts[api.ContactResponseDTO]
	aliases     aliases[api.AliasResponseDTO]
	identifiers identifiers[api.IdentifierResponseDTO]
}

func (s *Server) lineReader(keyed bool) *lineReader {
	return &lineReader{keyed, s.addressesV3(), s.contactsV3(), s.aliasesV3(), s.identifiersV3()}
}

// draft reads a line. The rules of single creates are the verb's to hold against it.
func (r *lineReader) draft(l *importLine) patient.Draft {
	d := patient.Draft{Line: l.number}
	if l.text == nil {
		d.Refusal = func(patient.Broken) error {
			return fault.New(fault.TooLarge, "body_too_large", "The line is over the limit of 1 MiB.")
		}
		return d
	}
	if r.keyed {
		sum := sha256.Sum256(l.text)
		copy(d.Digest[:], sum[:])
	}
	o := &body.Object{}
	o.Take(l.text)
	l.text, l.ref = nil, bytes.Clone(o.Verbatim("ref", body.TextLength).Value)
	d.Patient = input(o, nil)
	const most = patient.MostChildren
	addresses, contacts := o.Objects("addresses", most), o.Objects("contacts", most)
	aliases, identifiers := o.Objects("aliases", most), o.Objects("identifiers", most)
	d.Addresses, d.Contacts = inputs(addresses, r.addresses.input), inputs(contacts, r.contacts.input)
	d.Aliases, d.Identifiers = inputs(aliases, r.aliases.input), inputs(identifiers, r.identifiers.input)
	d.Refusal = func(b patient.Broken) error {
		for _, f := range b.Patient {
			o.Fault(f.Field, f.Code, f.Message)
		}
		within(o, "addresses", addresses, b.Addresses, r.addresses.broken)
		within(o, "contacts", contacts, b.Contacts, r.contacts.broken)
		within(o, "aliases", aliases, b.Aliases, r.aliases.broken)
		within(o, "identifiers", identifiers, b.Identifiers, r.identifiers.broken)
		return few(o.Err())
	}
	return d
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
		if one == nil {
			continue // which is a fault already
		}
		if found := rules[n]; len(found) > 0 || one.Err() != nil {
			o.Within(name, n, one, broken(one, found))
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
