package proxy

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/mesh"
)

// Shield takes out of a request what only the mesh may say to itself, before anything reads it: headers whose names begin
// with Mesh-, and all names with an underscore, which some programs take for the same name with a dash. The forwarding
// headers go too, unless the sender is a proxy of ours.
func Shield(h *fasthttp.RequestHeader, trusted bool) {
	var drop []string
	for name := range h.All() {
		if internal(name) || (!trusted && forwarding(name)) {
			drop = append(drop, string(name))
		}
	}
	for _, name := range drop {
		h.Del(name)
	}
}

func internal(name []byte) bool {
	return bytes.IndexByte(name, '_') >= 0 || hasPrefixFold(name, mesh.HeaderPrefix)
}

func forwarding(name []byte) bool {
	return hasPrefixFold(name, "X-Forwarded-") || hasPrefixFold(name, "Forwarded") || hasPrefixFold(name, "X-Real-Ip")
}

func hasPrefixFold(name []byte, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(string(name[:len(prefix)]), prefix)
}

// hopByHop are the headers that speak of one connection (RFC 9110 §7.6.1), as fasthttp spells them. What frames the
// message fasthttp writes anew.
var hopByHop = [...]string{ //nolint:gochecknoglobals // a constant, which Go cannot spell for arrays
	fasthttp.HeaderConnection, fasthttp.HeaderKeepAlive, fasthttp.HeaderProxyConnection, fasthttp.HeaderProxyAuthenticate,
	fasthttp.HeaderProxyAuthorization, "Te", fasthttp.HeaderTrailer, fasthttp.HeaderUpgrade, "Http2-Settings",
}

// isHopByHop compares without allocating.
func isHopByHop(name []byte) bool {
	for _, known := range hopByHop {
		if string(name) == known {
			return true
		}
	}
	return false
}

// stripRequest takes the hop-by-hop headers out, and those that Connection names; never the ones that frame or
// describe the message, whose loss would make it another one.
func stripRequest(h *fasthttp.RequestHeader, alsoDrop ...string) {
	var buffer [8]string
	drop := append(buffer[:0], alsoDrop...)
	for name, value := range h.All() {
		if !isHopByHop(name) {
			continue
		}
		drop = append(drop, string(name))
		if string(name) != fasthttp.HeaderConnection {
			continue
		}
		for token := range strings.SplitSeq(string(value), ",") {
			if token = strings.TrimSpace(token); !protected(token) {
				drop = append(drop, token)
			}
		}
	}
	for _, name := range drop {
		h.Del(name)
	}
	h.Del(fasthttp.HeaderExpect)
	h.ResetConnectionClose()
	if !h.IsHTTP11() {
		h.SetProtocol("HTTP/1.1")
	}
}

func protected(name string) bool {
	for _, known := range [...]string{
		fasthttp.HeaderHost, fasthttp.HeaderContentLength, fasthttp.HeaderTransferEncoding, fasthttp.HeaderContentType,
		mesh.IdempotencyKeyHeader, fasthttp.HeaderIfMatch,
	} {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// stripResponse takes out of an answer what is not for callers.
func stripResponse(h *fasthttp.ResponseHeader) {
	var drop []string
	for name := range h.All() {
		if isHopByHop(name) || internal(name) {
			drop = append(drop, string(name))
		}
	}
	for _, name := range drop {
		h.Del(name)
	}
	h.Del("X-Powered-By")
	h.SetServer("")
	h.ResetConnectionClose()
}
