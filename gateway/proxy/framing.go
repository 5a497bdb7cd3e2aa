package proxy

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Framing refuses a request whose end two programs could see in two places (RFC 9112 §6.3): Transfer-Encoding together
// with Content-Length, or in HTTP/1.0. fasthttp itself refuses repeated lengths and hosts and unknown codings.
func Framing(h *fasthttp.RequestHeader) error {
	if h.ContentLength() != -1 && h.IsHTTP11() {
		return nil // no Transfer-Encoding, of which fasthttp makes -1
	}
	raw := h.RawHeaders()
	length, coding := hasLine(raw, "content-length"), hasLine(raw, "transfer-encoding")
	if coding && (length || !h.IsHTTP11()) {
		return fault.New(fault.Invalid, "ambiguous_length", "The request states the length of its body in two ways.")
	}
	return nil
}

// hasLine finds a header among raw ones, whatever came of it.
func hasLine(raw []byte, name string) bool {
	for line := range bytes.SplitSeq(raw, []byte("\n")) {
		key, _, ok := bytes.Cut(line, []byte(":"))
		if ok && bytes.EqualFold(bytes.TrimSpace(key), []byte(name)) {
			return true
		}
	}
	return false
}
