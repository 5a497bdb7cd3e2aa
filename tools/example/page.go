package example

import (
	"bytes"
	"crypto/subtle"
	"net/http"
	"time"
)

func cookie(r *http.Request, name string) string {
	c, err := r.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// setCookie sets a cookie for a time, or, with a time below zero, takes it back. Lax, since the portal, another site,
// sends the browser here, and has to find who is signed in.
func setCookie(w http.ResponseWriter, name, value string, life time.Duration) {
	http.SetCookie(w, &http.Cookie{ //nolint:gosec // http on a loopback address; elsewhere it is Secure, see the package launch
		Name: name, Value: value, Path: "/", MaxAge: int(life.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// show writes a page, whole or not at all.
func (a *App) show(w http.ResponseWriter, r *http.Request, status int, name string, data any) {
	var page bytes.Buffer
	if err := a.pages.ExecuteTemplate(&page, name, data); err != nil {
		a.log.ErrorContext(r.Context(), "page not written", "page", name, "error", err.Error())
		http.Error(w, "Something went wrong.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(page.Bytes())
}

// fail shows what people can do about it, and logs the rest.
func (a *App) fail(w http.ResponseWriter, r *http.Request, status int, text string, err error) {
	if err != nil {
		a.log.WarnContext(r.Context(), "request failed", "path", r.URL.Path, "error", err.Error())
	}
	a.show(w, r, status, "fail.html", map[string]any{"Text": text, "Portal": a.portal})
}
