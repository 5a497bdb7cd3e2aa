package identity

import (
	"net/url"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Application is an external application that the portal launches with a payload encrypted under a shared secret.
type Application struct {
	ID           string
	TenantID     string
	Name         string
	LaunchURL    string
	SecretSealed []byte
	Environment  string
	CreatedAt    time.Time
}

// ApplicationDraft is what a new application is asked to be.
type ApplicationDraft struct {
	TenantID  string
	Name      string
	LaunchURL string
}

func (d ApplicationDraft) faults() []fault.Field {
	var faults []fault.Field
	if !ValidID(d.TenantID) {
		faults = append(faults, wrong("tenantId", "unknown_tenant", "is no tenant"))
	}
	if d.Name == "" {
		faults = append(faults, wrong("name", "required", "is required"))
	}
	u, err := url.Parse(d.LaunchURL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.Fragment != "" || len(d.LaunchURL) > longestURI {
		faults = append(faults, wrong("launchUrl", "invalid_uri", "must be an absolute http or https address"))
	}
	return faults
}
