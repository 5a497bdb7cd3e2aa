package session

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

// Listener is told of revocations, one call at a time.
type Listener interface {
	// Subscribed: from now on nothing is missed. What was said before may have been.
	Subscribed()
	// Lost: what is revoked now is not heard of. Also said before the first Subscribed.
	Lost()
	// Revoked: this has ended.
	Revoked(r Revocation)
}

// A subscription that has been silent is asked for a sign of life, and given up when none comes: together well within
// the second in which a revocation has to be everywhere.
const (
	silence  = 200 * time.Millisecond
	patience = 600 * time.Millisecond
)

// Watch tells the listener of revocations until ctx is done, and subscribes again whenever the connection is lost.
func Watch(ctx context.Context, client redis.UniversalClient, listener Listener, log *slog.Logger) {
	for ctx.Err() == nil {
		listener.Lost()
		err := listen(ctx, client, listener)
		if ctx.Err() == nil {
			log.Warn("revocations: subscription lost; sessions are not kept in memory until it is back", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(silence):
			}
		}
	}
	listener.Lost()
}

var errSilent = errors.New("no sign of life")

// listen serves one connection until it fails.
func listen(ctx context.Context, client redis.UniversalClient, listener Listener) error {
	sub := client.Subscribe(ctx, channel)
	defer sub.Close() //nolint:errcheck // nothing is left to lose
	heard := time.Now()
	subscribed := false
	for ctx.Err() == nil {
		message, err := sub.ReceiveTimeout(ctx, silence)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			if time.Since(heard) > patience {
				return errSilent
			}
			if err := sub.Ping(ctx); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		heard = time.Now()
		switch m := message.(type) {
		case *redis.Subscription:
			if subscribed {
				return errors.New("the client reconnected by itself") //nolint:err113 // only logged
			}
			subscribed = true
			listener.Subscribed()
		case *redis.Message:
			var r Revocation
			if err := json.Unmarshal([]byte(m.Payload), &r); err != nil {
				return err // a message that cannot be read may have ended anything: start over with nothing kept
			}
			listener.Revoked(r)
		}
	}
	return ctx.Err()
}
