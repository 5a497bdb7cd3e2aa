// Command identity serves credentials: API keys, OAuth clients and tokens.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/libs/audit"
	"github.com/patient-mesh/patient-mesh/libs/cache"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/outbox"
	"github.com/patient-mesh/patient-mesh/libs/pg"
	"github.com/patient-mesh/patient-mesh/libs/program"
	"github.com/patient-mesh/patient-mesh/libs/run"
	"github.com/patient-mesh/patient-mesh/libs/secret"
	"github.com/patient-mesh/patient-mesh/libs/web"
	"github.com/patient-mesh/patient-mesh/services/identity"
	"github.com/patient-mesh/patient-mesh/services/identity/oauth"
	"github.com/patient-mesh/patient-mesh/services/identity/password"
	"github.com/patient-mesh/patient-mesh/services/identity/peer"
	"github.com/patient-mesh/patient-mesh/services/identity/rest"
	"github.com/patient-mesh/patient-mesh/services/identity/seal"
	"github.com/patient-mesh/patient-mesh/services/identity/store"
)

func main() { run.Main(run.Program{Name: "identity", Serve: serve, Migrate: migrate}) }

func migrate(ctx context.Context) error {
	c, err := config.Read[settings]()
	if err != nil {
		return err
	}
	return c.Migrate(ctx, store.Migrations(), store.Distribution())
}

func serve(ctx context.Context) error {
	c, err := config.Read[settings]()
	if err != nil {
		return err
	}
	p, err := program.Start(ctx, "identity", "127.0.0.1:8081", c.Common)
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // telemetry that cannot be sent any more is no failure of the service
	db, err := pg.Start(ctx, c.Config, store.Migrations(), store.Distribution())
	if err != nil {
		return err
	}
	defer db.Close()
	cache.LogTo(p.Logger)
	shared, err := cache.Open(c.RedisURL, cache.Telemetry{})
	if err != nil {
		return fmt.Errorf("REDIS_URL: %w", err)
	}
	defer shared.Close() //nolint:errcheck // nothing is left to lose

	relay, err := outbox.NewRelay(db, p.Logger, outbox.Options{
		Handlers: map[string]outbox.Handler{session.Effect: session.Handler(shared)},
		Lease:    session.EffectLease, LongestPause: session.EffectPause,
	})
	if err != nil {
		return err
	}
	kept := &store.Store{DB: db, Log: p.Logger}
	caller := p.Peers.Caller("tenant", p.Keyring, p.Name)
	trail, err := audit.NewRelay(db, p.Logger, audit.ToTenant(caller), audit.Options{})
	if err != nil {
		return err
	}
	tenants := peer.NewTenants(caller, time.Now)
	carry := relays{relay}
	service, server, err := assemble(c, p.Logger, tenants, kept, shared, func() { carry.nudge() })
	if err != nil {
		return err
	}
	post, err := c.post(service, p.Logger)
	if err != nil {
		return err
	}
	further, err := peopleRelays(db, p.Logger, kept, post, tenants)
	if err != nil {
		return err
	}
	carry = append(carry, further...)
	people, err := newPeople(c, service, kept, shared, tenants, server)
	if err != nil {
		return err
	}
	federated, err := federate(c, service, kept)
	if err != nil {
		return err
	}
	federated.People = people
	applications := launcher(service, kept, server)
	shown, err := newPages(c, p.Logger, service, people, server, peer.NewAgreements(caller), federated, applications)
	if err != nil {
		return err
	}
	options := p.WebOptions(web.Check{Name: "postgres", Probe: db.Ready})
	options.Public = public
	app, err := web.New(options)
	if err != nil {
		return err
	}
	routes(app, &rest.Server{
		Identity: service, People: people, Launcher: applications, Federation: federated,
	}, server)
	pages(app, shown)
	return p.Serve(ctx, app, carry.run, trail.Run, kept.Sweep, service.Uses.Run)
}

// The labels under which keys are derived from CREDENTIAL_KEY. They must never change.
const (
	sealLabel  = "seal"
	tokenLabel = "access-token"
)

// assemble makes the verbs and the authorization server, which know each other.
func assemble(c settings, log *slog.Logger, tenants identity.Tenants, kept *store.Store, redis redis.UniversalClient, nudge func()) (*identity.Service, *oauth.Server, error) {
	hasher, err := secret.NewHasher(c.CredentialKey)
	if err != nil {
		return nil, nil, fmt.Errorf("CREDENTIAL_KEY: %w", err)
	}
	sealer, err := seal.New(hasher.Key(sealLabel), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	service := &identity.Service{
		Keys: kept, Clients: kept, Tokens: kept, Users: kept,
		Tenants: tenants, Hasher: hasher, Sealer: sealer, Passwords: password.New(password.OWASP(), runtime.GOMAXPROCS(0), rand.Reader),
		Uses:        identity.NewUses(kept, log),
		Environment: c.Environment, Now: time.Now, Random: rand.Reader, NewID: uuid.NewV7, Nudge: nudge,
	}
	server, err := authorizationServer(c, log, service, kept, redis)
	if err != nil {
		return nil, nil, err
	}
	return service, server, nil
}
