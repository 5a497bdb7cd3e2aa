package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/outward"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
	"github.com/patient-mesh/patient-mesh/services/identity/once"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

// keysWait is how long the server of a client's keys may take for its answer.
const keysWait = 2 * time.Second

// authorizationServer makes the server around the verbs, and tells them what only it knows. Both go by the verbs' clock.
func authorizationServer(c settings, log *slog.Logger, service *identity.Service, kept *store.Store, redis redis.UniversalClient) (*oauth.Server, error) {
	issuer, err := c.issuer()
	if err != nil {
		return nil, err
	}
	if service.Public, err = identity.NewPublicClient(c.PublicClientID, c.Environment, c.PublicRedirectURIs); err != nil {
		return nil, fmt.Errorf("PUBLIC_CLIENT_ID, PUBLIC_REDIRECT_URIS: %w", err)
	}
	now := func() time.Time { return service.Now() }
	fetch := outward.Client(outward.Options{
		AllowLoopback: c.Environment == config.Demo && outward.Loopback(issuer), Timeout: keysWait, MaxBytes: identity.LongestKeySet,
	})
	fetch.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // keys are where they are said to be
	server, err := oauth.New(oauth.Options{
		Issuer: issuer, Environment: c.Environment, TokenKey: service.Hasher.Key(tokenLabel),
		Clients: service, Tenants: service.Tenants, Tokens: kept, Grants: kept, Consents: kept, Pushed: kept,
		Once: once.Memory{Redis: redis}, Sealer: service.Sealer,
		Keys:       &oauth.Keys{Store: kept, Sealer: service.Sealer, Random: rand.Reader, Now: now, Rotation: c.SigningKeyRotation},
		ClientKeys: &oauth.ClientKeys{HTTP: fetch, Now: now, Logger: log},
		Logger:     log, Now: now, NewID: uuid.NewV7, Nudge: service.Nudge,
	})
	if err != nil {
		return nil, err
	}
	service.Genuine = server.Genuine
	return server, nil
}
