package main

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/outward"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// settings is the service's configuration.
type settings struct {
	config.Common
	pg.Config
	PeopleSettings

	CredentialKey string `env:"CREDENTIAL_KEY,required,notEmpty"` // base64 of 32 bytes; what is kept of credentials depends on it
	PublicURL     string `env:"PUBLIC_URL" envDefault:"http://127.0.0.1:8080"`

	// The client that everybody shares, and where it may be answered; a loopback address has any port.
	PublicClientID     string   `env:"PUBLIC_CLIENT_ID" envDefault:"prs-public"`
	PublicRedirectURIs []string `env:"PUBLIC_REDIRECT_URIS" envDefault:"http://127.0.0.1/callback,http://[::1]/callback"`
	// SigningKeyRotation is how long a key signs before the next one does.
	SigningKeyRotation time.Duration `env:"SIGNING_KEY_ROTATION" envDefault:"2160h"`
}

// issuer is how the authorization server names itself: the public address without a slash at its end.
func (s settings) issuer() (string, error) {
	u, err := url.Parse(s.PublicURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("PUBLIC_URL must be an http or https address without query and fragment")
	}
	if s.Environment == config.Production && u.Scheme != "https" && !outward.Loopback(s.PublicURL) {
		return "", errors.New("PUBLIC_URL must be an https address in production") // cookies and links would go in clear
	}
	return strings.TrimSuffix(s.PublicURL, "/"), nil
}
