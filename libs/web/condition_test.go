package web_test

import (
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

func TestNoneMatch(t *testing.T) {
	tag := web.WeakETag([]byte("shown"))
	if !strings.HasPrefix(tag, `W/"`) || tag == web.WeakETag([]byte("shown ")) || tag != web.WeakETag([]byte("shown")) {
		t.Fatal(tag)
	}
	strong := strings.TrimPrefix(tag, "W/")
	for header, want := range map[string]bool{
		tag: true, strong: true, "*": true, `"a", ` + tag: true, tag + `,"a"`: true,
		"": false, `"a"`: false, `W/"a"`: false, strings.Trim(strong, `"`): false, `"a*"`: false,
	} {
		if got := web.NoneMatch(&header, tag); got != want {
			t.Errorf("%q: %v", header, got)
		}
	}
	if web.NoneMatch(nil, tag) {
		t.Error("a request without the header")
	}
}
