package proxy

import (
	"strings"

	"github.com/valyala/fasthttp"
)

// CORS lets pages of the origins listed use the interface from a browser (Fetch standard, §3.2). Origins are compared
// whole. Credentials of the browser's own are never allowed: callers send theirs in a header. Empty is off.
type CORS struct{ origins map[string]bool }

// NewCORS reads a list of origins such as https://app.example, separated by commas.
func NewCORS(list string) CORS {
	c := CORS{origins: map[string]bool{}}
	for origin := range strings.SplitSeq(list, ",") {
		if origin = strings.TrimSpace(origin); origin != "" && origin != "*" {
			c.origins[origin] = true
		}
	}
	return c
}

// Origin gives the request's origin if it is one of those listed.
func (c CORS) Origin(h *fasthttp.RequestHeader) string {
	if len(c.origins) == 0 {
		return ""
	}
	origin := string(h.Peek(fasthttp.HeaderOrigin))
	if !c.origins[origin] {
		return ""
	}
	return origin
}

// Preflight answers the question that a browser asks before a request; false is a request that is none.
func (c CORS) Preflight(origin string, req *fasthttp.Request, resp *fasthttp.Response) bool {
	if origin == "" || !req.Header.IsOptions() || len(req.Header.Peek(fasthttp.HeaderAccessControlRequestMethod)) == 0 {
		return false
	}
	resp.SetStatusCode(fasthttp.StatusNoContent)
	resp.Header.Set(fasthttp.HeaderAccessControlAllowMethods, "GET, HEAD, POST, PUT, PATCH, DELETE")
	resp.Header.Set(fasthttp.HeaderAccessControlAllowHeaders,
		"Authorization, Content-Type, Content-Digest, Idempotency-Key, If-Match, If-None-Match, If-Range, Range, Traceparent, X-API-Key")
	resp.Header.Set(fasthttp.HeaderAccessControlMaxAge, "600")
	return true
}

// Allow lets the origin read an answer.
func (c CORS) Allow(origin string, h *fasthttp.ResponseHeader) {
	if len(c.origins) == 0 {
		return
	}
	h.Add(fasthttp.HeaderVary, fasthttp.HeaderOrigin)
	if origin != "" {
		h.Set(fasthttp.HeaderAccessControlAllowOrigin, origin)
		h.Set(fasthttp.HeaderAccessControlExposeHeaders,
			"Accept-Ranges, Content-Disposition, Content-Range, ETag, Idempotent-Replayed, Link, Location, Repr-Digest, Retry-After, Trace-Id")
	}
}
