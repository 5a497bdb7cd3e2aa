package rest

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

func TestContentDigest(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("hello"))
	good := reprDigest(sum[:])
	if want := "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"; good != want {
		t.Errorf("wrote %s", good)
	}
	sha512 := "sha-512=:WZDPaVn/7XgHaAy8pmojAkGWoRx2UFChF41A2svX+TaPm+AbwAgBWnrIiYllu7BNNyealdVLvRwEmTHWXvJwew==:"
	for name, header := range map[string][]string{
		"none": nil, "another algorithm": {sha512}, "another of any form": {"md5=1"},
	} {
		if got, err := contentDigest(header); err != nil || got != nil {
			t.Errorf("%s: %x, %v", name, got, err)
		}
	}
	for name, header := range map[string][]string{
		"alone": {good}, "after another": {sha512 + ", " + good}, "in two headers": {sha512, good}, "with a parameter": {good + ";a=1"},
		"the last holds": {"sha-256=:AAAA:, " + good},
	} {
		if got, err := contentDigest(header); err != nil || !bytes.Equal(got, sum[:]) {
			t.Errorf("%s: %x, %v", name, got, err)
		}
	}
	for name, header := range map[string]string{
		"empty value": "sha-256", "text": `sha-256="abc"`, "no colons": "sha-256=LPJNul", "too short": "sha-256=:AAAA:", "no base64": "sha-256=:!:",
		"a list": "sha-256=(:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:)", "broken": "sha-256=:LPJN", "old form": "SHA-256=LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=",
		"broken elsewhere": good + ", ;;",
	} {
		if got, err := contentDigest([]string{header}); fault.Of(err).Code != "invalid_digest" {
			t.Errorf("%s: %x, %v", name, got, err)
		}
	}
}
