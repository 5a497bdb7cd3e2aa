package image

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"os"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

var errNoAuthority = errors.New("there is no certificate in it")

// authorities are whom the images' TLS trusts, in PEM: Mozilla's list of the version that go.mod names, so that every
// machine makes the same image. What this machine trusts stays here: the authority of a proxy that reads along may be
// among it. A file takes the list's place where somebody names one.
func authorities(file string) ([]byte, error) {
	if file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("authorities: %w", err)
		}
		if block, _ := pem.Decode(raw); block == nil || block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("authorities: %s: %w", file, errNoAuthority)
		}
		return raw, nil
	}
	var list bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // Mozilla takes nothing new from these, which a list of certificates cannot say
		}
		if err := pem.Encode(&list, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return list.Bytes(), nil
}
