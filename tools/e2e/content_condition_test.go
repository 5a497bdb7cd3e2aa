package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestRangesOfContent(t *testing.T) {
	c := owner(t)
	d := c.blank()
	raw := noise(9, 200_007)
	c.put(d.at+"/content", raw).is(ok)
	ranges(c, d, raw)
}

// ranges asks for parts of a document's bytes, over the bounds of what is encrypted at a time too.
func ranges(c *client, d document, raw []byte) {
	c.t.Helper()
	n := len(raw)
	last := strconv.Itoa(n - 1)
	for header, want := range map[string][2]int{ // from, to
		"bytes=0-0": {0, 0}, "bytes=0-65535": {0, 65535}, "bytes=65535-65536": {65535, 65536}, "bytes=65536-65536": {65536, 65536}, "bytes=65536-131071": {65536, 131071},
		"bytes=131071-131073": {131071, 131073}, "bytes=100-": {100, n - 1}, "bytes=0-": {0, n - 1}, "bytes=-1": {n - 1, n - 1}, "bytes=-70000": {n - 70000, n - 1},
		"bytes=" + last + "-" + last: {n - 1, n - 1}, "bytes=" + last + "-": {n - 1, n - 1}, "bytes=5-99999999999": {5, n - 1}, "bytes=-99999999999": {0, n - 1},
		"bytes=196607-196609": {196607, 196609},
	} {
		for _, path := range []string{d.at, of2(d.at)} {
			a := c.with("Range", header).get(path + "/content").is(http.StatusPartialContent)
			said := fmt.Sprintf("bytes %d-%d/%d", want[0], want[1], n)
			part := raw[want[0] : want[1]+1]
			if !bytes.Equal(a.raw, part) || a.header.Get("Content-Range") != said || a.header.Get("Content-Length") != strconv.Itoa(len(part)) {
				c.t.Errorf("%s: %d bytes, %s", header, len(a.raw), a.header.Get("Content-Range"))
			}
			if a.etag() != tagOf(raw) || a.header.Get("Repr-Digest") != digestOf(raw) || a.header.Get("X-Content-Type-Options") != "nosniff" ||
				a.header.Get("Cache-Control") != "no-store" {
				c.t.Errorf("%s: %v", header, a.header)
			}
		}
	}
	for _, header := range []string{"bytes=" + strconv.Itoa(n) + "-", "bytes=99999999999-", "bytes=-0", "bytes=9999999-99999999"} {
		a := c.with("Range", header).get(d.at + "/content")
		if a.refused(http.StatusRequestedRangeNotSatisfiable, "range_not_satisfiable"); a.header.Get("Content-Range") != fmt.Sprintf("bytes */%d", n) {
			c.t.Errorf("%s: %q", header, a.header.Get("Content-Range"))
		}
	}
	// Several ranges, units that nobody knows, and what is no range at all get the whole (RFC 9110 §14.2).
	for _, header := range []string{"bytes=0-1,5-6", "bytes=0-1, 5-6", "bytes=0-0,0-0,0-0," + strings.Repeat("0-,", 300) + "0-", "items=0-1", "0-1", "nonsense"} {
		if a := c.with("Range", header).get(d.at + "/content").is(ok); !bytes.Equal(a.raw, raw) || a.header.Get("Content-Range") != "" {
			c.t.Errorf("%.40s: %d bytes", header, len(a.raw))
		}
	}
	for _, header := range []string{"bytes=5-2", "bytes=a-b", "bytes=--5", "bytes=", "bytes=99999999999999999999999-"} { // either is right
		if a := c.with("Range", header).get(d.at + "/content"); a.status != http.StatusRequestedRangeNotSatisfiable && (a.status != ok || !bytes.Equal(a.raw, raw)) {
			c.t.Errorf("%s answers %d with %d bytes", header, a.status, len(a.raw))
		}
	}
	if a := c.with("Range", "bytes=0-1").with("Range", "bytes=5-6").get(d.at + "/content").is(ok); !bytes.Equal(a.raw, raw) {
		c.t.Errorf("two headers: %d bytes", len(a.raw))
	}
	conditions(c, d, raw)
	for header, want := range map[string]int{"": n, "bytes=10-19": 10} {
		for _, path := range []string{d.at, of2(d.at)} {
			asking, status := c, ok
			if header != "" {
				asking, status = c.with("Range", header), http.StatusPartialContent
			}
			a := asking.do(http.MethodHead, path+"/content", nil).is(status)
			if len(a.raw) != 0 || a.header.Get("Content-Length") != strconv.Itoa(want) || a.etag() != tagOf(raw) || a.header.Get("Accept-Ranges") != "bytes" {
				c.t.Errorf("HEAD %s: %v, %d bytes", header, a.header, len(a.raw))
			}
		}
	}
}

// conditions asks for bytes on conditions (RFC 9110 §13).
func conditions(c *client, d document, raw []byte) {
	c.t.Helper()
	tag := tagOf(raw)
	whole := c.get(d.at + "/content").is(ok)
	modified := whole.header.Get("Last-Modified")
	future := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for _, test := range []struct {
		header string // name: value, separated by |
		status int
	}{
		{"If-None-Match: " + tag, http.StatusNotModified},
		{"If-None-Match: W/" + tag, http.StatusNotModified},
		{`If-None-Match: "x", ` + tag, http.StatusNotModified},
		{"If-None-Match: *", http.StatusNotModified},
		{`If-None-Match: "x"`, ok},
		{"If-None-Match: " + tag + "|Range: bytes=0-1", http.StatusNotModified},
		{`If-None-Match: "x"|Range: bytes=0-1`, http.StatusPartialContent},
		{"If-Match: " + tag, ok},
		{"If-Match: *", ok},
		{`If-Match: "x"`, http.StatusPreconditionFailed},
		{"If-Match: W/" + tag, http.StatusPreconditionFailed},
		{`If-Match: "x", ` + tag + "|Range: bytes=1-2", http.StatusPartialContent},
		{`If-Match: "x"|Range: bytes=1-2`, http.StatusPreconditionFailed},
		{"If-Range: " + tag + "|Range: bytes=1-2", http.StatusPartialContent},
		{`If-Range: "x"|Range: bytes=1-2`, ok},
		{"If-Range: W/" + tag + "|Range: bytes=1-2", ok},
		{"If-Range: nonsense|Range: bytes=1-2", ok},
		{"If-Range: " + tag, ok},
		{`If-Range: "x"|Range: bytes=99999999-`, ok},
		{"If-Modified-Since: " + future, http.StatusNotModified},
		{"If-Modified-Since: " + future + `|If-None-Match: "x"`, ok},
		{"If-Modified-Since: " + modified, http.StatusNotModified},
		{"If-Unmodified-Since: Mon, 02 Jan 2006 15:04:05 GMT", http.StatusPreconditionFailed},
		{"If-Modified-Since: Mon, 02 Jan 2006 15:04:05 GMT", ok},
		{"If-Modified-Since: nonsense", ok},
	} {
		asking := c
		for header := range strings.SplitSeq(test.header, "|") {
			name, value, _ := strings.Cut(header, ": ")
			asking = asking.with(name, value)
		}
		for _, path := range []string{d.at, of2(d.at)} {
			a := asking.get(path + "/content")
			want := map[int][]byte{ok: raw, http.StatusPartialContent: raw[1:3]}[test.status]
			if strings.Contains(test.header, "bytes=0-1") && test.status == http.StatusPartialContent {
				want = raw[0:2]
			}
			if a.status != test.status || want != nil && !bytes.Equal(a.raw, want) || a.status == http.StatusNotModified && len(a.raw) != 0 {
				c.t.Errorf("%s answers %d with %d bytes, want %d", test.header, a.status, len(a.raw), test.status)
			}
			if a.status == http.StatusNotModified && (a.etag() != tag || a.header.Get("Cache-Control") != "no-store") {
				c.t.Errorf("%s: %v", test.header, a.header)
			}
			if a.status == http.StatusPreconditionFailed {
				a.refused(a.status, "version_mismatch")
			}
		}
	}
	if _, err := http.ParseTime(modified); err != nil {
		c.t.Error(err)
	}
}

func TestRangesOfNothing(t *testing.T) {
	c := owner(t)
	d := c.blank()
	c.with("Range", "bytes=0-1").get(d.at+"/content").refused(missing, "no_content")
	c.with("If-None-Match", "*").get(d.at+"/content").refused(missing, "no_content")
	c.put(d.at+"/content", "").is(ok)
	for _, header := range []string{"bytes=0-0", "bytes=0-", "bytes=-1", "bytes=5-9"} {
		if a := c.with("Range", header).get(d.at + "/content"); a.status != http.StatusRequestedRangeNotSatisfiable && (a.status != ok || len(a.raw) != 0) {
			t.Errorf("%s answers %d: %s", header, a.status, a.raw)
		}
	}
	c.with("If-None-Match", tagOf("")).get(d.at + "/content").is(http.StatusNotModified)
}
