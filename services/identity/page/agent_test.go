package page_test

import (
	"net/http"
	"testing"

	"github.com/patient-mesh/patient-mesh/services/identity"
)

func TestBrowsersAreNamedAsPeopleDo(t *testing.T) {
	t.Parallel()
	for agent, want := range map[string]string{
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                     "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0":              "Edge on Windows",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.3 Safari/605.1.15":                      "Safari on Mac",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/140.0.0.0 Mobile/15E148 Safari/604.1": "Chrome on iPhone",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36":           "Samsung Internet on Android",
		"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36":                             "Chrome on ChromeOS",
		"curl/8.14.1": "curl/8.14.1", "": "Unknown browser", "Mozilla/5.0 (unknown)": "Browser",
	} {
		w := newWorld()
		w.sessions = []identity.Session{{ID: "s2", Agent: agent, CreatedAt: w.now, SeenAt: w.now}}
		open(t, w).signIn().get("/account").want(http.StatusOK, `<span class="strong break">`+want+`</span>`)
	}
}
