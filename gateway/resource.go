package gateway

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/patient-mesh/patient-mesh/libs/principal"
)

const resourceMetadataPath = "/.well-known/oauth-protected-resource"

// protectedResource is RFC 9728 §2: what a client needs to know to get itself a credential.
type protectedResource struct {
	Resource             string   `json:"resource"`
	Name                 string   `json:"resource_name"`
	Documentation        string   `json:"resource_documentation"`
	AuthorizationServers []string `json:"authorization_servers"`
	Scopes               []string `json:"scopes_supported"`
	BearerMethods        []string `json:"bearer_methods_supported"`
}

// resourceMetadata serves the document at base, the public address.
func resourceMetadata(base string) (fiber.Handler, error) {
	document, err := json.Marshal(protectedResource{
		Resource: base, Name: "Patient Mesh", Documentation: base + "/docs", AuthorizationServers: []string{base},
		Scopes: principal.All.Names(), BearerMethods: []string{"header"},
	})
	if err != nil {
		return nil, fmt.Errorf("resource metadata: %w", err)
	}
	return func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		c.Set(fiber.HeaderCacheControl, "public, max-age=300")
		return c.Send(document)
	}, nil
}

var errPublicURL = errors.New("PUBLIC_URL must be an http or https address without query and fragment")

func publicURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errPublicURL
	}
	return strings.TrimSuffix(text, "/"), nil
}
