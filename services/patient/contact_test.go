package patient_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/patient-mesh/patient-mesh/services/patient"
)

func TestNewContact(t *testing.T) {
	long := strings.Repeat("a", 64) + "@" + strings.Repeat("b", 185) + ".com"
	tests := map[string]struct {
		in     patient.ContactInput
		want   patient.Contact
		faults []string
	}{
		"a phone, when nobody said": {in: patient.ContactInput{Value: some("(650) 253-0000")}, want: patient.Contact{System: "phone", Value: "(650) 253-0000", E164: "+16502530000"}},
		"a phone of elsewhere":      {in: patient.ContactInput{Value: some("+44 20 7031 3000"), Use: some("Work")}, want: patient.Contact{System: "phone", Value: "+44 20 7031 3000", E164: "+442070313000", Use: "work"}},
		"a phone in letters":        {in: patient.ContactInput{System: some("PHONE"), Value: some("1-800-FLOWERS")}, want: patient.Contact{System: "phone", Value: "1-800-FLOWERS", E164: "+18003569377"}},
		"an extension":              {in: patient.ContactInput{Value: some("650-253-0000 ext. 5")}, want: patient.Contact{System: "phone", Value: "650-253-0000 ext. 5", E164: "+16502530000"}},
		"no area code":              {in: patient.ContactInput{Value: some("253-0000")}, want: patient.Contact{System: "phone", Value: "253-0000"}},
		"use not given":             {in: patient.ContactInput{Value: some("650-253-0000"), Use: some("n/a")}, want: patient.Contact{System: "phone", Value: "650-253-0000", E164: "+16502530000"}},
		"an e-mail address":         {in: patient.ContactInput{System: some("Email"), Value: some("Ana@Example.com"), Use: some("home")}, want: patient.Contact{System: "email", Value: "Ana@Example.com", Use: "home"}},
		"the longest address":       {in: patient.ContactInput{System: some("email"), Value: &long}, want: patient.Contact{System: "email", Value: long}},

		"nothing":             {faults: []string{"value required"}},
		"blank":               {in: patient.ContactInput{System: some(""), Value: some("")}, faults: []string{"system blank", "value blank"}},
		"n/a":                 {in: patient.ContactInput{System: some("n/a"), Value: some("N/A")}, faults: []string{"system blank", "value blank"}},
		"unknown sets":        {in: patient.ContactInput{System: some("fax"), Value: some("x"), Use: some("temp")}, faults: []string{"system invalid_value", "use invalid_value"}},
		"no phone":            {in: patient.ContactInput{Value: some("call me")}, faults: []string{"value invalid_phone"}},
		"too short":           {in: patient.ContactInput{Value: some("911")}, faults: []string{"value invalid_phone"}},
		"too long":            {in: patient.ContactInput{Value: some("650253000012")}, faults: []string{"value invalid_phone"}},
		"no such country":     {in: patient.ContactInput{Value: some("+999 123456789")}, faults: []string{"value invalid_phone"}},
		"an address as phone": {in: patient.ContactInput{Value: some("ana@example.com")}, faults: []string{"value invalid_phone"}},
		"a phone as address":  {in: patient.ContactInput{System: some("email"), Value: some("650-253-0000")}, faults: []string{"value invalid_email"}},
		"no domain":           {in: patient.ContactInput{System: some("email"), Value: some("ana@")}, faults: []string{"value invalid_email"}},
		"with a name":         {in: patient.ContactInput{System: some("email"), Value: some("Ana <ana@example.com>")}, faults: []string{"value invalid_email"}},
		"two addresses":       {in: patient.ContactInput{System: some("email"), Value: some("a@example.com, b@example.com")}, faults: []string{"value invalid_email"}},
		"one character more":  {in: patient.ContactInput{System: some("email"), Value: some("a" + long)}, faults: []string{"value invalid_email"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := test.in.New(now)
			if diff := cmp.Diff(test.faults, codes(faults)); len(test.faults)+len(faults) > 0 && diff != "" {
				t.Error(diff)
			}
			test.want.Child = patient.Child{Version: 1, CreatedAt: now, UpdatedAt: now}
			if diff := cmp.Diff(test.want, got); len(faults) == 0 && diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAChangeOfAContactHoldsItsValueAgainstItsSystem(t *testing.T) {
	phone := patient.Contact{System: "phone", Value: "650-253-0000", E164: "+16502530000", Use: "home"}
	email := patient.Contact{System: "email", Value: "ana@example.com"}
	old := patient.Contact{System: "phone", Value: "not one by today's rules", E164: "+1"}
	tests := map[string]struct {
		before patient.Contact
		in     patient.ContactInput
		want   patient.Contact
		faults []string
	}{
		"nothing":                      {before: phone, want: phone},
		"another number":               {before: phone, in: patient.ContactInput{Value: some("212-555-0100")}, want: patient.Contact{System: "phone", Value: "212-555-0100", E164: "+12125550100", Use: "home"}},
		"use cleared":                  {before: phone, in: patient.ContactInput{Use: some("Unknown")}, want: patient.Contact{System: "phone", Value: "650-253-0000", E164: "+16502530000"}},
		"an address instead":           {before: phone, in: patient.ContactInput{System: some("email"), Value: some("ana@example.com"), Use: some("n/a")}, want: email},
		"a number instead":             {before: email, in: patient.ContactInput{System: some("phone"), Value: some("650-253-0000"), Use: some("home")}, want: phone},
		"the system alone":             {before: phone, in: patient.ContactInput{System: some("email")}, faults: []string{"value invalid_email"}},
		"the value alone":              {before: email, in: patient.ContactInput{Value: some("650-253-0000")}, faults: []string{"value invalid_email"}},
		"what cannot be cleared":       {before: phone, in: patient.ContactInput{System: some("n/a"), Value: some("n/a")}, faults: []string{"system blank", "value blank"}},
		"what was taken once is taken": {before: old, in: patient.ContactInput{Use: some("work")}, want: patient.Contact{System: "phone", Value: old.Value, E164: "+1", Use: "work"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, faults := test.in.Apply(test.before, now)
			if diff := cmp.Diff(test.faults, codes(faults)); len(test.faults)+len(faults) > 0 && diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.want, got); len(faults) == 0 && diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Validate refuses only what no contact could take.
func TestValidateAContactThatIsNotKnown(t *testing.T) {
	tests := map[string]struct {
		in   patient.ContactInput
		want []string
	}{
		"nothing":                 {want: []string{}},
		"a system":                {in: patient.ContactInput{System: some("email")}, want: []string{}},
		"a number":                {in: patient.ContactInput{Value: some("650-253-0000")}, want: []string{}},
		"an address":              {in: patient.ContactInput{Value: some("ana@example.com")}, want: []string{}},
		"neither":                 {in: patient.ContactInput{Value: some("ana")}, want: []string{"value invalid_phone"}},
		"a number as an address":  {in: patient.ContactInput{System: some("email"), Value: some("650-253-0000")}, want: []string{"value invalid_email"}},
		"an address as a number":  {in: patient.ContactInput{System: some("phone"), Value: some("ana@example.com")}, want: []string{"value invalid_phone"}},
		"a number, and a bad use": {in: patient.ContactInput{Value: some("650-253-0000"), Use: some("x")}, want: []string{"use invalid_value"}},
		"an address, a bad use":   {in: patient.ContactInput{Value: some("ana@example.com"), Use: some("x")}, want: []string{"use invalid_value"}},
		"blank":                   {in: patient.ContactInput{System: some(""), Value: some("n/a")}, want: []string{"system blank", "value blank"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, codes(test.in.Validate(now))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
