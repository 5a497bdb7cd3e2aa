package gateway

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/patient-mesh/patient-mesh/gateway/docs"
	"github.com/patient-mesh/patient-mesh/gateway/door"
	"github.com/patient-mesh/patient-mesh/gateway/limit"
	"github.com/patient-mesh/patient-mesh/gateway/proxy"
	"github.com/patient-mesh/patient-mesh/gateway/route"
	"github.com/patient-mesh/patient-mesh/libs/cache/session"
	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/mesh"
	"github.com/patient-mesh/patient-mesh/libs/principal"
	"github.com/patient-mesh/patient-mesh/libs/web"
)

// Settings are what an operator can choose about the gateway.
type Settings struct {
	OpsAddr         string `env:"OPS_ADDR"`                                 // where /metrics is served; nowhere when empty
	CredentialRate  int    `env:"LIMIT_CREDENTIAL_RATE" envDefault:"1000"`  // requests a second; 0: no limit
	CredentialBurst int    `env:"LIMIT_CREDENTIAL_BURST" envDefault:"2000"` // at once, after a pause
	AddressRate     int    `env:"LIMIT_ADDRESS_RATE" envDefault:"2000"`
	AddressBurst    int    `env:"LIMIT_ADDRESS_BURST" envDefault:"4000"`
	TenantStreams   int    `env:"LIMIT_TENANT_STREAMS" envDefault:"256"` // contents sent and fetched at a time; 0: no limit
	Streams         int    `env:"LIMIT_STREAMS" envDefault:"512"`        // of all tenants: the rest of MAX_IN_FLIGHT is for short requests
	CORSOrigins     string `env:"CORS_ORIGINS"`                          // exact origins, separated by commas; none: off
	TrustedProxies  string `env:"TRUSTED_PROXIES"`                       // networks whose X-Forwarded-For is believed
	HSTS            string `env:"HSTS"`                                  // the header's value; none: not sent
	MaxSessions     int    `env:"MAX_SESSIONS" envDefault:"100000"`      // in memory
	ContentLimit    int64  `env:"CONTENT_LIMIT" envDefault:"104857600"`  // bytes of a document's content
	ImportLimit     int64  `env:"IMPORT_LIMIT" envDefault:"17179869184"` // bytes of an import: what comes in the longest time of a stream
	PublicURL       string `env:"PUBLIC_URL" envDefault:"http://127.0.0.1:8080"`
}

// Parts are what the gateway is made with.
type Parts struct {
	Environment string
	Redis       redis.UniversalClient
	Peers       *mesh.Client
	Keys        *principal.Keyring
	Logger      *slog.Logger
	Table       []route.Route
	Now         func() time.Time
}

// services are all that must be ready for the mesh to be.
func services() []string { return []string{"identity", "tenant", "patient", "attachment", "matching"} }

// Assemble makes the gateway's app from an app's options, and the loop that has to run beside it.
func Assemble(o web.Options, s Settings, p Parts) (app *web.App, loop func(context.Context) error, err error) {
	routes, err := route.NewTrie(p.Table)
	if err != nil {
		return nil, nil, err
	}
	trusted, err := proxy.ParseTrusted(s.TrustedProxies)
	if err != nil {
		return nil, nil, err
	}
	remote := door.Remote{Caller: p.Peers.Caller("identity", p.Keys, "gateway")}
	d, err := door.New(session.Store{Redis: p.Redis}, remote, door.Options{Environment: p.Environment, MaxSessions: s.MaxSessions, Now: p.Now})
	if err != nil {
		return nil, nil, fmt.Errorf("door: %w", err)
	}
	peers, watched := map[string]*mesh.Peer{}, []*mesh.Peer{}
	for _, name := range services() {
		peers[name] = p.Peers.Peer(name)
		watched = append(watched, peers[name])
	}
	for _, r := range p.Table {
		if peers[r.Service] == nil {
			return nil, nil, fmt.Errorf("%s %s: no such service: %w", r.Method, r.Pattern, errTable)
		}
	}
	g := &Gateway{
		Routes: routes, Door: d, Trusted: trusted, CORS: proxy.NewCORS(s.CORSOrigins), HSTS: s.HSTS,
		Limits: route.Limits{Content: s.ContentLimit, Import: s.ImportLimit},
		Limiter: limit.New(p.Redis, map[byte]limit.Rate{
			PerCredential: {PerSecond: s.CredentialRate, Burst: s.CredentialBurst},
			PerAddress:    {PerSecond: s.AddressRate, Burst: s.AddressBurst},
		}, s.MaxSessions, p.Now),
		Streams:   &limit.Share{All: s.Streams, Each: s.TenantStreams},
		Proxy:     &proxy.Proxy{Peers: peers, Keys: p.Keys, Now: p.Now},
		Anonymous: principal.Encode(principal.Principal{Environment: p.Environment}),
		Agreement: p.Environment == config.Production,
	}
	o.Stream, o.AccessLog = true, true
	base, err := publicURL(s.PublicURL)
	if err != nil {
		return nil, nil, err
	}
	o.ResourceMetadata = base + resourceMetadataPath
	own, all := Checks(p.Redis, d, watched, p.Now)
	o.Checks, o.Start = append(o.Checks, all...), append(o.Start, own...)
	if app, err = web.New(o); err != nil {
		return nil, nil, err
	}
	if err := docs.Mount(app); err != nil {
		return nil, nil, fmt.Errorf("reference: %w", err)
	}
	resource, err := resourceMetadata(base)
	if err != nil {
		return nil, nil, err
	}
	app.Get(resourceMetadataPath, resource)
	g.Mount(app)
	return app, func(ctx context.Context) error {
		session.Watch(ctx, p.Redis, d.Listener(), p.Logger)
		return nil
	}, nil
}

var errTable = errors.New("the table of routes is wrong")
