package door

import (
	"bytes"
	"strings"

	"github.com/valyala/fasthttp"

	"github.com/patient-mesh/patient-mesh/libs/fault"
	"github.com/patient-mesh/patient-mesh/libs/secret"
)

// KeyHeader takes an API key, on v3 paths.
const KeyHeader = "X-Api-Key" // as fasthttp spells X-API-Key

const maxToken = 4096 // bytes

// Token finds the one credential of a request; "" is none. Two are a fault whatever they are, since it would be a guess
// which of them is meant. keys says whether the path takes X-API-Key.
func Token(h *fasthttp.RequestHeader, keys bool) (string, error) {
	var found [2][]byte
	n := 0
	for _, name := range [2]string{fasthttp.HeaderAuthorization, KeyHeader} {
		for _, value := range h.PeekAll(name) {
			if n++; n > 1 {
				return "", fault.New(fault.Invalid, "two_credentials", "The request carries more than one credential.")
			}
			found[0], found[1] = value, []byte(name)
		}
	}
	switch {
	case n == 0:
		return "", missing()
	case string(found[1]) == KeyHeader:
		key := string(bytes.TrimSpace(found[0]))
		if !keys {
			return "", missing()
		}
		if !secret.LooksLikeAPIKey(key) {
			return "", invalidToken()
		}
		return key, nil
	default:
		return bearer(string(found[0]))
	}
}

// bearer reads "Bearer X" (RFC 6750 §2.1), the scheme in any case (RFC 9110 §11.1).
func bearer(value string) (string, error) {
	scheme, token, ok := strings.Cut(value, " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return "", missing()
	}
	token = strings.TrimSpace(token)
	if token == "" || strings.ContainsAny(token, " \t,") {
		return "", invalidToken()
	}
	return token, nil
}

func missing() error {
	return fault.New(fault.Unauthenticated, "unauthenticated", "A valid credential is required.")
}

// plausible sorts out what needs no look-up: API keys that were mistyped or are of another environment.
func plausible(token, environment string) bool {
	if !secret.LooksLikeAPIKey(token) {
		return true
	}
	key, ok := secret.ParseAPIKey(token)
	return ok && key.Environment == secret.KeyEnvironment(environment)
}
