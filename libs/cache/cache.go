// Package cache opens Redis in any of the ways it is run (alone, behind sentinels, as a cluster) with bounds that suit
// a cache: short timeouts and few connections, so that a Redis in trouble costs its callers little.
package cache

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/extra/redisotel/v9"
	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// The bounds of a connection. Parameters of the URL override them.
const (
	dialTimeout = 500 * time.Millisecond
	callTimeout = 250 * time.Millisecond
	poolTimeout = 300 * time.Millisecond
	poolSize    = "32" // per node

	// stateAge is how old the picture of a cluster may be that keys are looked for by. The client asks for a new one when a
	// node says that a key has moved; of a node that is gone it learns by this alone, and would by itself after a minute.
	stateAge = time.Second
)

// Telemetry is where traces and metrics go; nil fields take otel's global providers.
type Telemetry struct {
	Tracer trace.TracerProvider
	Meter  metric.MeterProvider
}

// Open makes a client from a URL; it connects when it is first used, and may be opened while Redis is away. Spans and
// metrics name commands and never carry their arguments. Forms:
//
//	redis://[user:password@]host[:port][/db]            one Redis; rediss:// over TLS
//	redis://[user:password@]host:port,host:port         a cluster
//	redis+cluster://[user:password@]host:port           a cluster found through one address
//	redis+sentinel://[user:password@]host,host/master[?db=0]   the master that sentinels name; the user is the sentinels',
//	                                                    ?username=&password= are the master's
//
// Further parameters are go-redis' own, such as pool_size and read_timeout.
func Open(url string, t Telemetry) (redis.UniversalClient, error) {
	client, err := open(url)
	if err != nil {
		return nil, err
	}
	if t.Tracer == nil {
		t.Tracer = otel.GetTracerProvider()
	}
	if t.Meter == nil {
		t.Meter = otel.GetMeterProvider()
	}
	err = errors.Join(
		redisotel.InstrumentTracing(client, redisotel.WithTracerProvider(t.Tracer),
			redisotel.WithDBStatement(false), redisotel.WithCallerEnabled(false)),
		redisotel.InstrumentMetrics(client, redisotel.WithMeterProvider(t.Meter)),
	)
	if err != nil {
		return nil, fmt.Errorf("instrument redis: %w", errors.Join(err, client.Close()))
	}
	return client, nil
}

// Ping is a readiness check: nil when Redis answers, else a fault of kind Unavailable.
func Ping(ctx context.Context, client redis.UniversalClient) error {
	if err := client.Ping(ctx).Err(); err != nil {
		return fault.Away(err, "The cache cannot be reached just now.")
	}
	return nil
}
