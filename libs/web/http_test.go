package web_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patient-mesh/patient-mesh/libs/web"
)

func TestHandlerOfNetHTTP(t *testing.T) {
	a, _ := app(t, web.Options{}, web.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		_, bounded := r.Context().Deadline()
		if r.Method != http.MethodPost || r.URL.Path != "/x/a b" || r.URL.RawQuery != "c=%20d" || string(sent) != "body" || !bounded || len(r.Header.Values("X-Twice")) != 2 {
			t.Errorf("%s %s %q %v %v", r.Method, r.URL, sent, bounded, r.Header)
		}
		if cookie, err := r.Cookie("a"); err != nil || cookie.Value != "1" {
			t.Errorf("%v %v", cookie, err)
		}
		http.SetCookie(w, &http.Cookie{Name: "b", Value: "2"})
		http.SetCookie(w, &http.Cookie{Name: "c", Value: "3"})
		w.Header().Set("X-Content-Type-Options", "mine")
		w.WriteHeader(http.StatusTeapot)
		io.WriteString(w, "{}")
	})))
	req := httptest.NewRequest(http.MethodPost, "/x/a%20b?c=%20d", strings.NewReader("body"))
	req.Header.Add("X-Twice", "1")
	req.Header.Add("X-Twice", "2")
	req.Header.Set("Cookie", "a=1")
	resp, _ := call(t, a, req)
	if resp.StatusCode != http.StatusTeapot || len(resp.Cookies()) != 2 || len(resp.Header.Values("X-Content-Type-Options")) != 1 || resp.Header.Get("X-Content-Type-Options") != "mine" {
		t.Errorf("%d %v", resp.StatusCode, resp.Header)
	}
}
