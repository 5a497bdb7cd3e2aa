package page

import "strings"

// The words by which browsers tell what they are. Most name others too, for the sake of old servers, so the order counts.
var (
	browsers = [...][2]string{
		{"Edg", "Edge"},
		{"OPR/", "Opera"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = [...][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"}, {"Macintosh", "Mac"}, {"Linux", "Linux"},
	}
)

// agentName says a User-Agent as its owner would: "Firefox on Linux". What is no browser's is shown as it is.
func agentName(agent string) string {
	if agent == "" {
		return "Unknown browser"
	}
	if !strings.HasPrefix(agent, "Mozilla/") {
		return agent
	}
	name := "Browser"
	for _, b := range browsers {
		if strings.Contains(agent, b[0]) {
			name = b[1]
			break
		}
	}
	for _, s := range systems {
		if strings.Contains(agent, s[0]) {
			return name + " on " + s[1]
		}
	}
	return name
}
