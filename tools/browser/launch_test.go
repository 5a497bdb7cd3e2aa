package browser

import (
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2/clientcredentials"

	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/tools/example"
)

// newExample starts the example application, registered with the mesh by its administrator, and gives its address.
func newExample(t *testing.T, name string) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	base, demo := "http://"+listener.Addr().String(), world.Demo()
	admin := clientcredentials.Config{ClientID: demo.Admin.ClientID, ClientSecret: demo.Admin.ClientSecret, TokenURL: world.URL() + "/auth/oauth2/token"}
	token, err := admin.Token(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var registered struct{ ID, SharedSecret string }
	raw := call(t, http.MethodPost, "/v2/external-application", token.AccessToken, map[string]string{"name": name, "launchUrl": base}, http.StatusCreated)
	if err := json.Unmarshal(raw, &registered); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		call(t, http.MethodDelete, "/v2/external-application/"+registered.ID, token.AccessToken, nil, http.StatusOK)
	})
	app, err := example.New(&launch.Client{
		Base: world.URL(), ApplicationID: registered.ID, Secret: registered.SharedSecret, Environment: demo.Environment, PublicClient: demo.PublicClientID,
	}, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(app.Handler())
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return base
}

func TestApplicationIsLaunched(t *testing.T) {
	ward := newExample(t, "Ward Dashboard")
	tenant := world.Demo().Tenants[1]
	call(t, http.MethodPost, "/v3/patient", tenant.APIKey, ana, http.StatusOK)
	owner := account{tenant.User.Email, tenant.User.Password}
	p := newPerson(t)
	p.visit(ward)
	p.look("example-welcome")
	p.inside(owner)
	p.look("account-applications")
	p.press("Launch Ward Dashboard")
	p.sees("Patients")
	if got := p.at().String(); got != ward+"/" {
		t.Errorf("led to %s", got)
	}
	p.sees(owner.email)
	p.sees("Ana Lima")
	p.look("example-home")

	// Somebody else launches in the same browser.
	p.signOut()
	guest := newAccount(t, "Guest", "Visitor", "Visiting Practice")
	p.inside(guest)
	p.press("Launch Ward Dashboard")
	p.sees("Continue as somebody else?")
	p.look("example-continue")
	p.press("Stay as I am")
	p.sees("Ana Lima") // which the page that asks does not show
	p.sees(owner.email)
	p.visit("/account")
	p.press("Launch Ward Dashboard")
	p.press("Continue as Guest Visitor")
	p.sees("There are no patients yet.")
	p.sees(guest.email)
	p.look("example-empty")

	p.visit("/account")
	p.sees("Ward Dashboard")
	if _, sessions, _ := strings.Cut(p.text(), "Browsers and applications in which"); !strings.Contains(sessions, "Ward Dashboard") {
		t.Errorf("the application's session is not named: %s", sessions)
	}
	p.look("account-launched")
	p.visit(ward)
	p.press("Sign out")
	p.look("example-signed-out")
	p.visit(ward)
	if got := p.text(); strings.Contains(got, guest.email) || strings.Contains(got, owner.email) {
		t.Errorf("signed out, the application says %s", got)
	}
}
