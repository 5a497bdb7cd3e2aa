package proxy

import (
	"bytes"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Framing refuses a request whose end two programs could see in two places (RFC 9112 §6.3): Transfer-Encoding together
// with Content-Length, in HTTP/1.0, or other than chunked; and headers on more than one line (RFC 9112 §5.2). fasthttp
// itself refuses repeated lengths and hosts and unknown codings.
func Framing(h *fasthttp.RequestHeader) error {
	raw := h.RawHeaders()
	if bytes.Contains(raw, []byte("\n ")) || bytes.Contains(raw, []byte("\n\t")) {
		return fault.New(fault.Invalid, "folded_header", "Headers stand on one line each.")
	}
	coding := hasLine(raw, "transfer-encoding")
	if !coding {
		return nil
	}
	// fasthttp tells a chunked body by the length -1; any other coding it reads past.
	if hasLine(raw, "content-length") || !h.IsHTTP11() || h.ContentLength() != -1 {
		return fault.New(fault.Invalid, "ambiguous_length", "The request states the length of its body in two ways.")
	}
	return nil
}

// Coded refuses a body in a coding, before a byte of it is read.
func Coded(h *fasthttp.RequestHeader) error {
	if len(h.ContentEncoding()) > 0 && !bytes.EqualFold(h.ContentEncoding(), []byte("identity")) {
		return fault.New(fault.UnsupportedMedia, "unsupported_encoding", "Bodies are taken without Content-Encoding.")
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
