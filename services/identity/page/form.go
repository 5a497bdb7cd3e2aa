package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// form is a form as it is shown: what was typed before, but for passwords and codes, and what was wrong with it.
type form struct {
	ID     string // tells forms of one page apart
	Values map[string]string
	order  []string // the fields' names, as they stand on the page; those that are not named come last
	Faults []fault.Field
	Notice string // what is wrong with the whole
}

// typed keeps what a form was sent with.
func typed(v *visit, names ...string) form {
	f := form{Values: map[string]string{}, order: names}
	for _, name := range names {
		f.Values[name] = v.text(name)
	}
	return f
}

// refuse takes in why a verb refused the form; anything but a fault of the form is given back.
func (f *form) refuse(err error) error {
	if !fault.Is(err, fault.Invalid) {
		return err
	}
	why := fault.Of(err)
	f.Faults = append(f.Faults, why.Fields...)
	if len(why.Fields) == 0 {
		f.Notice = why.Detail
	}
	return nil
}

func (f *form) fault(field, message string) {
	f.Faults = append(f.Faults, fault.Field{Field: field, Code: "invalid", Message: message})
}

// collect is the "further" of verbs: the page has no faults of its own to add.
func collect(faults ...fault.Field) error {
	if len(faults) == 0 {
		return nil
	}
	return fault.InvalidFields(faults)
}

// Wrong reports whether there is anything to tell.
func (f form) Wrong() bool { return len(f.Faults) > 0 || f.Notice != "" }

// summed is an entry of the error summary.
type summed struct{ ID, Text string }

// Summary is all that is wrong, each with the field to go to, in the order of the fields.
func (f form) Summary() []summed {
	all := make([]summed, 0, len(f.Faults))
	place := func(name string) int {
		if i := slices.Index(f.order, name); i >= 0 {
			return i
		}
		return len(f.order)
	}
	faults := slices.SortedStableFunc(slices.Values(f.Faults), func(a, b fault.Field) int { return cmp.Compare(place(a.Field), place(b.Field)) })
	for _, fault := range faults {
		all = append(all, summed{ID: f.id(fault.Field), Text: label(fault.Field) + " " + fault.Message + "."})
	}
	return all
}

func (f form) id(name string) string {
	if f.ID == "" {
		return name
	}
	return f.ID + "-" + name
}

// input is one field as it is shown.
type input struct {
	ID, Name, Label, Type, Value, Autocomplete, Inputmode, Hint, Error, Pattern string
	MaxLength                                                                   int
	Optional, Focus, Code                                                       bool
}

// Described are the ids of the texts that explain the field.
func (i input) Described() string {
	var ids []string
	if i.Hint != "" {
		ids = append(ids, i.ID+"-hint")
	}
	if i.Error != "" {
		ids = append(ids, i.ID+"-error")
	}
	return strings.Join(ids, " ")
}

// Input makes a field of a kind: text, email, password, new-password, current-password, code, datetime. What follows are a
// hint, and the words "optional" and "focus".
func (f form) Input(name, kind string, more ...string) input {
	i := input{ID: f.id(name), Name: name, Label: label(name), Type: "text", Value: f.Values[name], MaxLength: 500}
	switch kind {
	case "email":
		i.Type, i.Autocomplete, i.Inputmode, i.MaxLength = "email", "username", "email", 254
	case "new-password", "current-password":
		i.Type, i.Autocomplete, i.Value, i.MaxLength = "password", kind, "", 1000
	case "code":
		i.Autocomplete, i.Inputmode, i.Value, i.MaxLength, i.Code = "one-time-code", "numeric", "", 40, true
	case "recovery":
		i.Autocomplete, i.Value, i.MaxLength, i.Code = "off", "", 40, true
	case "date":
		i.Type, i.Autocomplete, i.MaxLength = "date", "off", 0
	case "given-name", "family-name", "organization":
		i.Autocomplete, i.MaxLength = kind, 200
	default:
		i.Autocomplete = "off"
	}
	for _, word := range more {
		switch word {
		case "optional":
			i.Optional = true
		case "focus":
			i.Focus = true
		default:
			i.Hint = word
		}
	}
	for _, fault := range f.Faults {
		if fault.Field == name && i.Error == "" {
			i.Error = i.Label + " " + fault.Message + "."
		}
	}
	return i
}

// label is how people call a field.
func label(name string) string {
	switch name {
	case "email":
		return "E-mail address"
	case "password":
		return "Password"
	case "newPassword":
		return "New password"
	case "currentPassword":
		return "Current password"
	case "firstName":
		return "First name"
	case "lastName":
		return "Last name"
	case "organizationName":
		return "Organization"
	case "code":
		return "Code"
	case "name":
		return "Name"
	case "expiresAt":
		return "Expires on"
	case "acRoleIds":
		return "Roles"
	case "tenantId":
		return "Organization"
	}
	return "The form"
}
