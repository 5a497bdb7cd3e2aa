package web

import (
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// ETag writes a version as a strong entity tag.
func ETag(version int64) string { return `"` + strconv.FormatInt(version, 10) + `"` }

// IfMatch reports whether a version satisfies an If-Match header; nil asks for nothing, and an empty one, which some
// client forgot to fill, is satisfied by nothing. The comparison is
// strong, so a weak tag never matches (RFC 9110 §13.1.1).
func IfMatch(header *string, version int64) error {
	if header == nil || strings.TrimSpace(*header) == "*" {
		return nil
	}
	for tag := range strings.SplitSeq(*header, ",") {
		if strings.TrimSpace(tag) == ETag(version) {
			return nil
		}
	}
	return fault.New(fault.PreconditionFailed, "version_mismatch", "The record has changed since the version in If-Match.")
}

// NoneMatch reports whether an If-None-Match header names an entity tag, so that who asks has what they would get; nil
// names none. The comparison is weak (RFC 9110 §13.1.2).
func NoneMatch(header *string, etag string) bool {
	if header == nil {
		return false
	}
	if strings.TrimSpace(*header) == "*" {
		return true
	}
	for tag := range strings.SplitSeq(*header, ",") {
		if strings.TrimPrefix(strings.TrimSpace(tag), "W/") == strings.TrimPrefix(etag, "W/") {
			return true
		}
	}
	return false
}

// WeakETag is a tag of what is shown: another one when anything of it differs.
func WeakETag(shown []byte) string {
	sum := sha256.Sum256(shown)
	return `W/"` + base64.RawURLEncoding.EncodeToString(sum[:18]) + `"`
}
