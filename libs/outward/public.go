package outward

import "net/netip"

// Public reports whether an address is on the public internet: not in the special-purpose registries of IANA (RFC
// 6890), and no cloud's own service. An address that carries an IPv4 address is judged by that one.
func Public(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if nat64.Contains(ip) {
		raw := ip.As16()
		ip = netip.AddrFrom4([4]byte(raw[12:]))
	}
	if ip.Is6() && !global.Contains(ip) {
		return false // unspecified, loopback, link-local, unique local, multicast, IPv4-compatible, local NAT64, …
	}
	for _, p := range special {
		if p.Contains(ip) {
			return false
		}
	}
	return ip.IsValid()
}

//nolint:gochecknoglobals // constants, which Go has none of
var (
	// global is all of IPv6 that was ever given out as unicast (RFC 4291 §2.4).
	global = netip.MustParsePrefix("2000::/3")
	// nat64 is how an IPv6-only network reaches IPv4 (RFC 6052 §2.1).
	nat64 = netip.MustParsePrefix("64:ff9b::/96")

	special = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),        // this network
		netip.MustParsePrefix("10.0.0.0/8"),       // private
		netip.MustParsePrefix("100.64.0.0/10"),    // carrier-grade NAT; Alibaba's metadata
		netip.MustParsePrefix("127.0.0.0/8"),      // loopback
		netip.MustParsePrefix("168.63.129.16/32"), // Azure's host, at a public address
		netip.MustParsePrefix("169.254.0.0/16"),   // link-local; most clouds' metadata
		netip.MustParsePrefix("172.16.0.0/12"),    // private
		netip.MustParsePrefix("192.0.0.0/24"),     // protocol assignments; Oracle's metadata
		netip.MustParsePrefix("192.0.2.0/24"),     // documentation
		netip.MustParsePrefix("192.88.99.0/24"),   // 6to4 relays
		netip.MustParsePrefix("192.168.0.0/16"),   // private
		netip.MustParsePrefix("198.18.0.0/15"),    // benchmarks
		netip.MustParsePrefix("198.51.100.0/24"),  // documentation
		netip.MustParsePrefix("203.0.113.0/24"),   // documentation
		netip.MustParsePrefix("224.0.0.0/4"),      // multicast
		netip.MustParsePrefix("240.0.0.0/4"),      // reserved, broadcast
		netip.MustParsePrefix("2001::/23"),        // protocol assignments, Teredo among them
		netip.MustParsePrefix("2001:db8::/32"),    // documentation
		netip.MustParsePrefix("2002::/16"),        // 6to4: an IPv4 address in disguise
		netip.MustParsePrefix("3fff::/20"),        // documentation
	}
)
