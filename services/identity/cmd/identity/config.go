package main

import (
	"errors"
	"net/url"
	"strings"

	"github.com/patient-mesh/patient-mesh/libs/config"
	"github.com/patient-mesh/patient-mesh/libs/pg"
)

// settings is the service's configuration.
type settings struct {
	config.Common
	pg.Config
	peopleSettings

	CredentialKey string `env:"CREDENTIAL_KEY,required,notEmpty"` // base64 of 32 bytes; what is kept of credentials depends on it
	PublicURL     string `env:"PUBLIC_URL" envDefault:"http://127.0.0.1:8080"`
}

// issuer is how the authorization server names itself: the public address without a slash at its end.
func (s settings) issuer() (string, error) {
	u, err := url.Parse(s.PublicURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("PUBLIC_URL must be an http or https address without query and fragment")
	}
	return strings.TrimSuffix(s.PublicURL, "/"), nil
}
