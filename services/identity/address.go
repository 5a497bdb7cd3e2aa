package identity

import (
	"context"
	"net/netip"
)

type addressKey struct{}

// Arriving notes in a context the address that a request came from, as the gateway saw it. It is here for those verbs
// that are bounded by address and are not told of a Caller.
func Arriving(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, addressKey{}, address)
}

// addressOf is what Arriving noted.
func addressOf(ctx context.Context) string {
	address, _ := ctx.Value(addressKey{}).(string)
	return address
}

// subscriber is what is counted of an address. All of an IPv6 network of 64 bits are one, since one subscriber has them
// all.
func subscriber(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "unknown"
	}
	a = a.Unmap().WithZone("")
	if a.Is4() {
		return a.String()
	}
	network, _ := a.Prefix(64)
	return network.String()
}
