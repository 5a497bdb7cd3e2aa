package proxy

import (
	"net/netip"
	"testing"

	"github.com/valyala/fasthttp"
)

func TestClient(t *testing.T) {
	trusted, err := ParseTrusted("10.0.0.0/8, fd00::/8")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ sender, forwarded, want string }{
		{"1.2.3.4", "6.6.6.6", "1.2.3.4"},
		{"10.0.0.1", "6.6.6.6", "6.6.6.6"},
		{"10.0.0.1", "7.7.7.7, 6.6.6.6", "6.6.6.6"}, // the left one is what the caller says
		{"10.0.0.1", "6.6.6.6, 10.0.0.2", "6.6.6.6"},
		{"10.0.0.1", "10.0.0.2", "10.0.0.1"},
		{"10.0.0.1", "nonsense", "10.0.0.1"},
		{"10.0.0.1", "", "10.0.0.1"},
		{"fd00::1", "2001:db8::1", "2001:db8::1"},
	}
	for _, test := range tests {
		var h fasthttp.RequestHeader
		h.Set("X-Forwarded-For", test.forwarded)
		if got := trusted.Client(netip.MustParseAddr(test.sender), &h); got.String() != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
	if _, err := ParseTrusted("10.0.0.1"); err == nil {
		t.Error("an address without its network was taken")
	}
}
