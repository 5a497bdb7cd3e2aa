package identity

import (
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/fault"
)

// Application is an external application that the portal launches with a payload encrypted under a shared secret.
type Application struct {
	ID           string
	TenantID     *string // whose users may launch it; nil: users of every tenant
	Name         string
	LaunchURL    string
	SecretSealed []byte
	Environment  string
	CreatedAt    time.Time
}

// For reports whether the users of a tenant may launch the application.
func (a Application) For(tenant string) bool { return a.TenantID == nil || *a.TenantID == tenant }

// ApplicationDraft is what a new application is asked to be.
type ApplicationDraft struct {
	TenantID  *string
	Name      string
	LaunchURL string
}

// application makes an application of the draft, without id and secret, or tells every rule that the draft breaks.
func (d ApplicationDraft) application() (Application, []fault.Field) {
	var faults []fault.Field
	if d.TenantID != nil && !ValidID(*d.TenantID) {
		faults = append(faults, wrong("tenantId", "unknown_tenant", "is no tenant"))
	}
	if d.Name == "" {
		faults = append(faults, wrong("name", "required", "is required"))
	}
	address, ok := launchable(d.LaunchURL)
	switch {
	case d.LaunchURL == "":
		faults = append(faults, wrong("launchUrl", "required", "is required"))
	case !ok:
		faults = append(faults, wrong("launchUrl", "invalid_uri",
			"must be an absolute https address, or http on a loopback address, without user, query and fragment"))
	}
	return Application{TenantID: d.TenantID, Name: d.Name, LaunchURL: address}, faults
}

// launchable gives the form in which an address is kept, that /auth?lpl= can be put after. A payload is worth a user's
// session, so it goes over TLS, or stays on the machine.
func launchable(text string) (address string, ok bool) {
	u, err := url.Parse(text)
	if err != nil || len(text) > longestURI || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, `?#\@`) {
		return "", false
	}
	ip := net.ParseIP(u.Hostname())
	loopback := u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
	if u.Scheme != "https" && (u.Scheme != "http" || !loopback) {
		return "", false
	}
	return strings.TrimRight(u.String(), "/"), true
}
