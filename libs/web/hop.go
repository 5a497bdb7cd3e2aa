package web

import (
	"bytes"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"
)

// InternalPrefix is what the names of headers begin with that programs of the mesh say only to each other.
const InternalPrefix = "Mesh-"

// hopByHop are the headers that speak of one connection (RFC 9110 §7.6.1), as fasthttp spells them. What frames the
// message is written anew.
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

// Internal reports a header that comes from no caller and goes to none: the mesh's own, and all names with an underscore,
// which some programs take for the same name with a dash.
func Internal(name []byte) bool {
	return bytes.IndexByte(name, '_') >= 0 || len(name) >= len(InternalPrefix) && strings.EqualFold(string(name[:len(InternalPrefix)]), InternalPrefix)
}

// StripRequest takes the hop-by-hop headers out of a request, those that Connection names, and those of the mesh itself,
// which a trailer may have brought with the body; never the ones that frame or describe the message, whose loss would make
// it another one.
func StripRequest(h *fasthttp.RequestHeader, alsoDrop ...string) {
	var buffer [8]string
	drop := append(buffer[:0], alsoDrop...)
	for name, value := range h.All() {
		if !isHopByHop(name) && !Internal(name) {
			continue
		}
		drop = append(drop, string(name))
		if string(name) == fasthttp.HeaderConnection {
			drop = appendNamed(drop, string(value))
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

// appendNamed adds the headers that a Connection names.
func appendNamed(drop []string, value string) []string {
	for token := range strings.SplitSeq(value, ",") {
		if token = strings.TrimSpace(token); !protected(token) {
			drop = append(drop, token)
		}
	}
	return drop
}

func protected(name string) bool {
	for _, known := range [...]string{
		fasthttp.HeaderHost, fasthttp.HeaderContentLength, fasthttp.HeaderTransferEncoding, fasthttp.HeaderContentType,
		"Idempotency-Key", fasthttp.HeaderIfMatch, fasthttp.HeaderETag,
	} {
		if strings.EqualFold(name, known) {
			return true
		}
	}
	return false
}

// StripResponse takes out of an answer what is not for callers, by the same rules.
func StripResponse(h *fasthttp.ResponseHeader) {
	var drop []string
	for name, value := range h.All() {
		if !isHopByHop(name) && !Internal(name) {
			continue
		}
		drop = append(drop, string(name))
		if string(name) == fasthttp.HeaderConnection {
			drop = appendNamed(drop, string(value))
		}
	}
	for _, name := range drop {
		h.Del(name)
	}
	h.Del(fasthttp.HeaderXPoweredBy)
	h.SetServer("")
	h.ResetConnectionClose()
}

// stripAnswer is StripResponse for an answer of net/http.
func stripAnswer(h http.Header) {
	for _, value := range h[fasthttp.HeaderConnection] {
		for _, name := range appendNamed(nil, value) {
			h.Del(name)
		}
	}
	for name := range h {
		if isHopByHop([]byte(name)) || Internal([]byte(name)) || framing(name) {
			delete(h, name)
		}
	}
	delete(h, fasthttp.HeaderXPoweredBy)
	delete(h, fasthttp.HeaderServer)
}

// framing are the headers that whoever sends a message writes himself.
func framing(name string) bool {
	switch name {
	case fasthttp.HeaderHost, fasthttp.HeaderContentLength, fasthttp.HeaderTransferEncoding:
		return true
	}
	return false
}
