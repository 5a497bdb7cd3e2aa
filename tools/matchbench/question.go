package matchbench

import (
	"context"
	"encoding/json"
	"math"
	"net/http"

	"github.com/patient-mesh/patient-mesh/libs/linkage"
)

// question is what POST /v3/patient/find takes. What is not known is left out.
type question struct {
	FirstName  string  `json:"firstName,omitempty"`
	MiddleName string  `json:"middleName,omitempty"`
	LastName   string  `json:"lastName,omitempty"`
	Suffix     string  `json:"suffix,omitempty"`
	DOB        string  `json:"dob,omitempty"`
	SexAtBirth string  `json:"sexAtBirth,omitempty"`
	Line1      string  `json:"line1,omitempty"`
	City       string  `json:"city,omitempty"`
	State      string  `json:"state,omitempty"`
	PostalCode string  `json:"postalCode,omitempty"`
	Phone      string  `json:"phone,omitempty"`
	Email      string  `json:"email,omitempty"`
	Last4SSN   string  `json:"last4Ssn,omitempty"`
	Identifier string  `json:"identifier,omitempty"`
	Limit      int     `json:"limit"`
	MinScore   float64 `json:"minScore"`
}

// questionOf asks all that is known of somebody.
func questionOf(p *linkage.Demographics) question {
	q := question{
		FirstName: p.FirstName, MiddleName: p.MiddleName, LastName: p.LastName, Suffix: p.Suffix, DOB: p.DOB, SexAtBirth: p.SexAtBirth,
		Last4SSN: p.SSNLast4, Limit: 100,
	}
	if len(p.Addresses) > 0 {
		a := p.Addresses[0]
		q.Line1, q.City, q.State, q.PostalCode = a.Line1, a.City, a.State, a.PostalCode
	}
	for _, c := range p.Contacts {
		if c.System == "phone" && q.Phone == "" {
			q.Phone = c.Value
		}
		if c.System == "email" && q.Email == "" {
			q.Email = c.Value
		}
	}
	if len(p.Identifiers) > 0 {
		q.Identifier = p.Identifiers[0].Value
	}
	return q
}

// found is what find answers.
type found struct {
	Content []struct {
		PatientID int64
		Score     float64
		Grade     string
		Evidence  []struct{ Weight float64 }
	}
	Truncated bool
}

func (c *caller) find(ctx context.Context, q question) (found, error) {
	var out found
	err := c.call(ctx, http.MethodPost, "/v3/patient/find", q, &out)
	return out, err
}

// bits of an answer, which its evidence sums to.
func (f found) bits(i int) float64 {
	sum := 0.0
	for _, e := range f.Content[i].Evidence {
		sum += e.Weight
	}
	if sum == 0 {
		sum = math.Log2(f.Content[i].Score / (1 - f.Content[i].Score))
	}
	return sum
}

func mustJSON(q question) []byte {
	raw, err := json.Marshal(q)
	if err != nil {
		panic(err) // texts and numbers
	}
	return raw
}
