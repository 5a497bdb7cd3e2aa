package page

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
)

const (
	formKeySize = 32
	tokenField  = "csrf"
	tokenHeader = "X-Csrf-Token" //nolint:gosec // a header's name
)

// tokenOf binds a form to a browser: only who reads the browser's pages learns it, and nobody who sees it learns the
// cookie.
func tokenOf(key []byte, browser string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("form\x00" + browser))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
