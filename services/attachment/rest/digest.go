package rest

import (
	"crypto/sha256"
	"encoding/base64"

	"github.com/dunglas/httpsfv"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

const sha256Name = "sha-256" // RFC 9530 §5

// contentDigest reads the SHA-256 of a Content-Digest header; nil when none was sent. Other algorithms say nothing here.
func contentDigest(header []string) ([]byte, error) {
	if len(header) == 0 {
		return nil, nil
	}
	digests, err := httpsfv.UnmarshalDictionary(header)
	if err != nil {
		return nil, invalidDigest()
	}
	member, given := digests.Get(sha256Name)
	if !given {
		return nil, nil
	}
	item, _ := member.(httpsfv.Item)
	sum, _ := item.Value.([]byte)
	if len(sum) != sha256.Size {
		return nil, invalidDigest()
	}
	return sum, nil
}

func invalidDigest() error {
	return fault.New(fault.Invalid, "invalid_digest", "Content-Digest must be written as sha-256=:base64: (RFC 9530).")
}

// reprDigest tells the SHA-256 of a whole, of which a part may be answered.
func reprDigest(sum []byte) string {
	return sha256Name + "=:" + base64.StdEncoding.EncodeToString(sum) + ":"
}
