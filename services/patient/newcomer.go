package patient

import (
	"context"
	"errors"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// MostChildren is how many children of a kind may come with a patient.
const MostChildren = 100

// Digest is what tells one line's content from another's.
type Digest [16]byte

// Draft is a line of an import as it was read.
type Draft struct {
	Line        int64 // its number, from 1
	Digest      Digest
	Patient     Input
	Addresses   []AddressInput
	Contacts    []ContactInput
	Aliases     []AliasInput
	Identifiers []IdentifierInput
	// Refusal is why the line cannot be taken, given the rules that it breaks; nil when nothing is wrong with it.
	Refusal func(b Broken) error
}

// Broken is the rules that a draft breaks: the patient's, and those of the children at each place.
type Broken struct {
	Patient                                   []fault.Field
	Addresses, Contacts, Aliases, Identifiers map[int][]fault.Field
}

// Newcomer is a patient with children who are to be stored together.
type Newcomer struct {
	Line   int64
	Digest Digest
	Patient
	Addresses   []Address
	Contacts    []Contact
	Aliases     []Alias
	Identifiers []Identifier
	Entry       audit.Entry
}

// make is what a draft says, by the rules of single creates, or why it is refused. The entry tells of the patient and of the
// children that come with it.
func (i *Imports) make(ctx context.Context, d Draft, now time.Time) (made Newcomer, refusal, err error) {
	one := Newcomer{Line: d.Line, Digest: d.Digest}
	var b Broken
	one.Patient, b.Patient = New(d.Patient, now)
	one.Addresses, b.Addresses = newChildren[Address](d.Addresses, now)
	one.Contacts, b.Contacts = newChildren[Contact](d.Contacts, now)
	one.Aliases, b.Aliases = newChildren[Alias](d.Aliases, now)
	one.Identifiers, b.Identifiers = newChildren[Identifier](d.Identifiers, now)
	if refusal := d.Refusal(b); refusal != nil {
		return one, refusal, nil
	}
	if err := i.complete(ctx, d.Identifiers, &one, now); err != nil {
		return one, nil, err
	}
	one.Entry = i.Service.entry(ctx, auditCreate, 0)
	return one, rivals(one.Identifiers, now), nil
}

// newChildren makes children of inputs, and tells the rules that each breaks.
func newChildren[N any, I ChildInput[N]](inputs []I, now time.Time) (list []N, broken map[int][]fault.Field) {
	if len(inputs) == 0 {
		return nil, nil
	}
	list = make([]N, len(inputs))
	for n, in := range inputs {
		var faults []fault.Field
		if list[n], faults = in.New(now); len(faults) > 0 {
			if broken == nil {
				broken = map[int][]fault.Field{}
			}
			broken[n] = faults
		}
	}
	return list, broken
}

// complete fills in what children take from elsewhere, and gives them their ids.
func (i *Imports) complete(ctx context.Context, identifiers []IdentifierInput, one *Newcomer, now time.Time) error {
	if complete := i.Identifiers.Complete; complete != nil {
		for n, in := range identifiers {
			whole, err := complete(ctx, in)
			if err != nil {
				return err
			}
			if whole != in {
				one.Identifiers[n], _ = whole.New(now) // what is filled in breaks no rule that was kept before
			}
		}
	}
	return errors.Join(number(i.Service, one.Addresses), number(i.Service, one.Contacts), number(i.Service, one.Aliases), number(i.Service, one.Identifiers))
}

func number[N any, P Noun[N]](s *Service, list []N) error {
	for n := range list {
		id, err := s.NewID()
		if err != nil {
			return err
		}
		P(&list[n]).Base().ID = id.String()
	}
	return nil
}

// rivals is the fault of an identifier that another one before it forbids.
func rivals(list []Identifier, now time.Time) error {
	for n := range list {
		for m := range n {
			if list[n].Rivals(list[m], now) {
				return IdentifierExists()
			}
		}
	}
	return nil
}
