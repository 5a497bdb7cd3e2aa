package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/patient-mesh/patient-mesh/libs/launch"
	"github.com/patient-mesh/patient-mesh/libs/principal"
)

// launchesAtOnce bounds how many launches are under way at a time.
const launchesAtOnce = 8

// refreshTokens launches the demo application so often, and gives the refresh tokens of what it exchanges.
func (b *Bench) refreshTokens(ctx context.Context, number int) ([]string, error) {
	keys, err := principal.ParseKeyring(b.mesh.MeshKey())
	if err != nil {
		return nil, err
	}
	tokens := make([]string, number)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(launchesAtOnce)
	for i := range tokens {
		group.Go(func() error {
			got, err := b.launched(ctx, keys)
			tokens[i] = got.RefreshToken
			return err
		})
	}
	return tokens, group.Wait()
}

// launched has a demo user launch the demo application, and plays the application.
func (b *Bench) launched(ctx context.Context, keys *principal.Keyring) (launch.Tokens, error) {
	d := b.mesh.Demo()
	application := launch.Client{
		Base: b.mesh.URL(), ApplicationID: d.ExternalApplication.ID, Secret: d.ExternalApplication.SharedSecret,
		Environment: d.Environment, PublicClient: d.PublicClientID,
	}
	payload, err := b.payload(ctx, keys)
	if err != nil {
		return launch.Tokens{}, err
	}
	l, err := application.Open(payload, time.Now())
	if err != nil {
		return launch.Tokens{}, err
	}
	return application.Exchange(ctx, l)
}

// payload is what the browser of the first demo user would carry to the application.
func (b *Bench) payload(ctx context.Context, keys *principal.Keyring) (string, error) {
	d := b.mesh.Demo()
	user := b.principal()
	user.Kind, user.UserID, user.ClientID = principal.Session, d.Tenants[0].User.ID, d.PublicClientID
	target := "/v2/external-application/" + d.ExternalApplication.ID + "/launch"
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+b.mesh.Address("identity")+target, http.NoBody)
	if err != nil {
		return "", err
	}
	request.Header.Set(principal.AssertionHeader, keys.Sign(principal.Encode(user), http.MethodPost, target, time.Now()))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close() //nolint:errcheck // it was only read
	var answer struct{ LaunchURL string }
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		return "", fmt.Errorf("a launch was answered %s: %w", response.Status, err)
	}
	address, err := url.Parse(answer.LaunchURL)
	if err != nil {
		return "", err
	}
	return address.Query().Get("lpl"), nil
}
