package page

import (
	"strings"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

// agentName says a session's User-Agent as its owner would: "Firefox on Linux". What is no browser's is shown as it is.
func agentName(in identity.Session) string {
	agent := in.Agent
	if agent == "" && in.Application == "" {
		return "Unknown browser"
	}
	if !strings.HasPrefix(agent, "Mozilla/") {
		return agent
	}
	return named(agent)
}

// named finds the words by which browsers tell what they are. Most name others too, for the sake of old servers, so the
// order counts.
func named(agent string) string {
	name := "Browser"
	for _, b := range [][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	} {
		if strings.Contains(agent, b[0]) {
			name = b[1]
			break
		}
	}
	for _, system := range [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Macintosh", "Mac"}, {"Linux", "Linux"},
	} {
		if strings.Contains(agent, system[0]) {
			return name + " on " + system[1]
		}
	}
	return name
}
