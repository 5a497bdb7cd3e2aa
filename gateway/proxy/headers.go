package proxy

import (
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

// Shield takes out of a request what only the mesh may say to itself, before anything reads it: headers whose names begin
// with Mesh-, and all names with an underscore, which some programs take for the same name with a dash. The forwarding
// headers go too, unless the sender is a proxy of ours.
func Shield(h *fasthttp.RequestHeader, trusted bool) {
	var drop []string
	for name := range h.All() {
		if web.Internal(name) || (!trusted && forwarding(name)) {
			drop = append(drop, string(name))
		}
	}
	for _, name := range drop {
		h.Del(name)
	}
}

func forwarding(name []byte) bool {
	return hasPrefixFold(name, "X-Forwarded-") || hasPrefixFold(name, "Forwarded") || hasPrefixFold(name, "X-Real-Ip")
}

func hasPrefixFold(name []byte, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(string(name[:len(prefix)]), prefix)
}
