package limit

import "net/netip"

// OfAddress is the key of an address. All of an IPv6 network of 64 bits share one, since one subscriber has them all.
func OfAddress(kind byte, a netip.Addr) Key {
	k := Key{Kind: kind}
	a = a.Unmap()
	if a.Is4() {
		raw := a.As4()
		copy(k.ID[:], raw[:])
		k.ID[0], k.ID[3] = k.ID[3], k.ID[0] // the last byte varies most, and the first chooses the shard
		return k
	}
	raw := a.As16()
	copy(k.ID[:], raw[:8])
	k.ID[0], k.ID[7] = k.ID[7], k.ID[0]
	k.ID[16] = 6
	return k
}
