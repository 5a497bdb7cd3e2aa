package proxy

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/valyala/fasthttp"
)

// Trusted are the proxies in front of us, whose word about the client's address is taken. None by default.
type Trusted []netip.Prefix

// ParseTrusted reads networks such as 10.0.0.0/8, separated by commas.
func ParseTrusted(list string) (Trusted, error) {
	var t Trusted
	for text := range strings.SplitSeq(list, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("TRUSTED_PROXIES: %w", err)
		}
		t = append(t, prefix)
	}
	return t, nil
}

// Contains reports whether an address is one of ours.
func (t Trusted) Contains(a netip.Addr) bool {
	for _, prefix := range t {
		if prefix.Contains(a) {
			return true
		}
	}
	return false
}

// Sender is the address that the connection comes from.
func Sender(remote net.Addr) netip.Addr {
	if tcp, ok := remote.(*net.TCPAddr); ok {
		a, _ := netip.AddrFromSlice(tcp.IP)
		return a.Unmap()
	}
	return netip.Addr{}
}

// Client is the address that asks: the sender, or what the nearest of our proxies says of who sent to it. The list
// grows to the right, so only what stands right of every address of ours was written by one of ours.
func (t Trusted) Client(sender netip.Addr, h *fasthttp.RequestHeader) netip.Addr {
	if !t.Contains(sender) {
		return sender
	}
	var list []string
	for _, value := range h.PeekAll(fasthttp.HeaderXForwardedFor) {
		list = append(list, strings.Split(string(value), ",")...)
	}
	for i := len(list) - 1; i >= 0; i-- {
		a, err := netip.ParseAddr(strings.TrimSpace(list[i]))
		if err != nil {
			return sender
		}
		if a = a.Unmap(); !t.Contains(a) {
			return a
		}
	}
	return sender
}
