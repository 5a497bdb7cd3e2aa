package seed

import (
	"crypto/rand"
	"strings"

	"github.com/google/uuid"
)

// The roles that the seed gives.
const (
	owner         = "Owner"
	administrator = "Multi-tenant Administrator"
)

// Progress is what was chosen and how much of it exists. It is stored after each step; ids are chosen before the first
// call, so that a step that was done but not noted does not make a second one of its kind when it is repeated.
type Progress struct {
	Environment string      `json:"environment"`
	Users       []User      `json:"users"`
	Tenants     []Tenant    `json:"tenants"`
	Operator    Tenant      `json:"operator"` // the tenant of those who run the mesh; nobody's patients are in it
	Application Application `json:"application"`
	Done        bool        `json:"done"`
}

// User is a person to register.
type User struct {
	DemoUser

	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	Made      bool   `json:"made"`
}

// Tenant is an organization to make, with a client and a key in it.
type Tenant struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Plan    string `json:"plan"`
	First   int    `json:"first"`   // index of the user whom its key belongs to
	Members []int  `json:"members"` // indexes of the users to make members; shrinks as they are
	Client  Client `json:"client"`
	APIKey  string `json:"apiKey"`
	Made    bool   `json:"made"`
}

// Plan chooses everything for a new mesh of an environment.
func Plan(environment string) (*Progress, error) {
	ids := make([]string, 5)
	for i := range ids {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, err
		}
		ids[i] = id.String()
	}
	// A server that outlived its state folder may still know the addresses of an earlier seed.
	mark := strings.ToLower(rand.Text()[:6])
	person := func(id, first, last string) User {
		email := strings.ToLower(first) + "." + mark + "@demo.example"
		return User{DemoUser: DemoUser{ID: id, Email: email, Password: rand.Text()}, FirstName: first, LastName: last}
	}
	return &Progress{
		Environment: environment,
		Users:       []User{person(ids[0], "Ada", "Marsh"), person(ids[1], "Ben", "Okafor")},
		Tenants: []Tenant{
			{ID: ids[2], Name: "Harbour Clinic", Plan: "standard", First: 0, Members: []int{0}},
			{ID: ids[3], Name: "Hillside Practice", Plan: "free", First: 1, Members: []int{0, 1}},
		},
		Operator:    Tenant{ID: ids[4], Name: "Mesh Operations", Plan: "standard"},
		Application: Application{Name: "Demo Application", LaunchURL: "http://127.0.0.1:9090"},
	}, nil
}
