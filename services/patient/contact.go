package patient

import (
	"net/mail"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/phone"
)

// Contact is a telephone number or an e-mail address.
type Contact struct {
	Child
	System string `db:"system"` // phone or email
	Value  string `db:"value"`  // as it was given
	E164   string `db:"e164"`   // a phone's normal form (ITU-T E.164); empty where there is none
	Use    string `db:"use"`    // mobile, home or work; empty when not given
}

// Contacts is the verbs on contacts.
type Contacts = Children[Contact, *Contact, ContactInput]

// ContactInput is what a caller gives of a contact. Nil is what was not given.
type ContactInput struct {
	System, Value, Use *string
}

// The systems of a contact.
const (
	Phone = "phone"
	Email = "email"
)

const longestEmail = 254 // RFC 5321 §4.5.3.1.3, less the brackets

// ContactSystems is the value set of a contact's system.
func ContactSystems() []string { return []string{Phone, Email} }

// ContactUses is the value set of a contact's use.
func ContactUses() []string { return []string{"mobile", "home", "work"} }

// Active says whether it holds now.
func (c *Contact) Active(time.Time) bool { return c.DeactivatedAt == nil }

// New makes a contact, or tells every rule that the input breaks.
func (in ContactInput) New(now time.Time) (Contact, []fault.Field) {
	return in.edit(Contact{Child: born(now), System: Phone}, editor{now: now, creating: true})
}

// Apply is the contact with the input applied.
func (in ContactInput) Apply(to Contact, now time.Time) (Contact, []fault.Field) {
	return in.edit(to, editor{now: now})
}

// Validate tells the rules that the input breaks whatever contact it is meant for: a value without a system is held
// against what it fits best.
func (in ContactInput) Validate(now time.Time) []fault.Field {
	_, faults := in.Apply(Contact{System: Phone}, now)
	if in.System != nil {
		return faults
	}
	if _, asEmail := in.Apply(Contact{System: Email}, now); len(asEmail) < len(faults) {
		return asEmail
	}
	return faults
}

func (in ContactInput) edit(c Contact, e editor) (Contact, []fault.Field) {
	e.choice("system", in.System, ContactSystems(), &c.System)
	e.name("value", in.Value, &c.Value)
	if len(e.faults) == 0 && c.Value != "" && (in.System != nil || in.Value != nil) {
		e.reach(&c)
	}
	e.option("use", in.Use, ContactUses(), &c.Use)
	return c, e.faults
}

// reach holds a value against its system and brings it to its normal form.
func (e *editor) reach(c *Contact) {
	c.E164 = ""
	if c.System == Email {
		address, err := mail.ParseAddress(c.Value)
		if err != nil || address.Address != c.Value || len(c.Value) > longestEmail {
			e.fault("value", "invalid_email", "must be an e-mail address")
		}
		return
	}
	normal, possible := phone.E164(c.Value)
	if !possible {
		e.fault("value", "invalid_phone", "must be a telephone number, with its country code unless it is a US one")
	}
	c.E164 = normal
}
