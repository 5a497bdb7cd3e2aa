package door

import (
	"context"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// source is where an answer came from, as metrics tell it.
type source int

const (
	inMemory source = iota
	inRedis
	asked
	notFound
	knownUnknown
	ended
	redisAway
	identityAway
	sources
)

// meters count checks by source: the hit rate of each cache.
type meters struct {
	checks  metric.Int64Counter
	options [sources][]metric.AddOption
}

func newMeters() (*meters, error) {
	checks, err := otel.Meter("mesh/door").Int64Counter("door.checks", metric.WithDescription("Checks of credentials by where the answer came from."))
	m := &meters{checks: checks}
	for s, name := range [sources]string{"memory", "redis", "identity", "identity_unknown", "memory_unknown", "redis_revoked", "redis_away", "identity_away"} {
		m.options[s] = []metric.AddOption{metric.WithAttributeSet(attribute.NewSet(attribute.String("source", name)))}
	}
	return m, err
}

func (m *meters) count(ctx context.Context, s source) { m.checks.Add(ctx, 1, m.options[s]...) }
