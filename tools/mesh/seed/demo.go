// Package seed fills a new mesh with two tenants, their people, clients and keys, all made at random, so that a
// stranger can send a first request. It talks to the services as a program of the mesh does and keeps count of what is
// done, so that it can go on where it was broken off.
package seed

// Demo is what demo.json says.
type Demo struct {
	Gateway             string       `json:"gateway"`
	Environment         string       `json:"environment"`
	PublicClientID      string       `json:"publicClientId"`
	Tenants             []DemoTenant `json:"tenants"`
	Admin               Client       `json:"admin"`
	ExternalApplication Application  `json:"externalApplication"`
}

// DemoTenant is one tenant with everything that signs in to it as Owner.
type DemoTenant struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Plan         string   `json:"plan"`
	APIKey       string   `json:"apiKey"`
	ClientID     string   `json:"clientId"`
	ClientSecret string   `json:"clientSecret"`
	User         DemoUser `json:"user"`
}

// DemoUser is a person who can sign in.
type DemoUser struct {
	ID       string `json:"id"`
	Email    string `json:"email"`
	Password string `json:"password"`
}

// Client is an OAuth client and its secret.
type Client struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
}

// Application is an external application that the portal can launch.
type Application struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	LaunchURL    string `json:"launchUrl"`
	SharedSecret string `json:"sharedSecret"`
}

// Demo gathers what demo.json says from finished progress.
func (p *Progress) Demo(gateway, environment, publicClientID string) Demo {
	d := Demo{
		Gateway: gateway, Environment: environment, PublicClientID: publicClientID,
		Admin: p.Operator.Client, ExternalApplication: p.Application,
	}
	for _, t := range p.Tenants {
		u := p.Users[t.First]
		d.Tenants = append(d.Tenants, DemoTenant{
			ID: t.ID, Name: t.Name, Plan: t.Plan, APIKey: t.APIKey,
			ClientID: t.Client.ClientID, ClientSecret: t.Client.ClientSecret,
			User: DemoUser{ID: u.ID, Email: u.Email, Password: u.Password},
		})
	}
	return d
}
