package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/patient-mesh/patient-mesh/tools/bench/traffic"
	"github.com/patient-mesh/patient-mesh/tools/mesh"
)

// tenant is one that nothing else is measured in, asked by a client of its own.
type tenant struct {
	id      string
	gateway string // host:port
	client  *http.Client
	tokens  oauth2.TokenSource
}

// newTenant makes one on the standard plan.
func (b *Bench) newTenant(ctx context.Context, name string) (tenant, error) {
	admin := b.tenantOf(ctx, "", b.mesh.Demo().Admin.ClientID, b.mesh.Demo().Admin.ClientSecret)
	var made struct{ ID string }
	if err := admin.call(ctx, http.MethodPost, "/v2/tenant", fmt.Sprintf(`{"name":"bench %s","plan":"standard"}`, name), &made); err != nil {
		return tenant{}, err
	}
	var c struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
	}
	err := admin.call(ctx, http.MethodPost, "/v2/oauth2/client", fmt.Sprintf(
		`{"client_name":"bench","grant_types":["client_credentials"],"scope":"patient:read patient:write match:read","tenantId":%q}`, made.ID), &c)
	return b.tenantOf(ctx, made.ID, c.ClientID, c.ClientSecret), err
}

func (b *Bench) tenantOf(ctx context.Context, id, clientID, secret string) tenant {
	config := clientcredentials.Config{ClientID: clientID, ClientSecret: secret, TokenURL: b.mesh.URL() + "/oauth2/token"}
	tokens := config.TokenSource(ctx)
	return tenant{id: id, gateway: b.mesh.Address(mesh.Gateway), client: oauth2.NewClient(ctx, tokens), tokens: tokens}
}

// asks makes plans of the tenant's reads through the gateway. A token does not live as long as a run may take.
func (t tenant) asks(targets ...string) planning {
	return func(context.Context) (traffic.Plan, error) {
		token, err := t.tokens.Token()
		if err != nil {
			return traffic.Plan{}, err
		}
		return traffic.Plan{
			Address: t.gateway, Method: http.MethodGet, Targets: targets, Connections: findConnections,
			Header: map[string]string{"Authorization": "Bearer " + token.AccessToken},
		}, nil
	}
}

func (t tenant) call(ctx context.Context, method, target, body string, into any) error {
	return t.send(ctx, method, target, "application/json", strings.NewReader(body), func(answers *json.Decoder) error { return answers.Decode(into) })
}

// imports sends lines and reads the answer to the end.
func (t tenant) imports(ctx context.Context, lines io.Reader, number int) error {
	return t.send(ctx, http.MethodPost, "/v3/patient/import", "application/x-ndjson", lines, func(answers *json.Decoder) error {
		var last struct{ Created, Failed int }
		for answers.More() {
			if err := answers.Decode(&last); err != nil {
				return err
			}
		}
		if last.Failed > 0 || last.Created != number {
			return fmt.Errorf("import: %d created of %d, %d failed", last.Created, number, last.Failed)
		}
		return nil
	})
}

func (t tenant) send(ctx context.Context, method, target, contentType string, body io.Reader, read func(*json.Decoder) error) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+t.gateway+target, body)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", contentType)
	response, err := t.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("%s %s: %s", method, target, response.Status)
	}
	return read(json.NewDecoder(response.Body))
}
