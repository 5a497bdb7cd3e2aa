// Package example is an external application, as small as one can be that does everything that an application has to: the
// portal launches it, it learns who the user is, lists the tenant's patients in their name, and signs them out. It shows
// how to use libs/launch and what an application must see to itself: that a launch never takes another user's place
// unasked (login CSRF). It does not know how a payload is made.
package example

import (
	"crypto/rand"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/patient-mesh/patient-mesh/libs/launch"
)

//go:embed asset
var assets embed.FS

// The cookies: who is signed in, and who is about to be. Served over TLS they would begin with __Host-.
const (
	sessionCookie = "example_session"
	pendingCookie = "example_pending"

	sessionLife = 8 * time.Hour
	pendingLife = 5 * time.Minute
	mostEntries = 1000 // sessions at a time, and as many that are pending
	patients    = 20   // shown
)

// visit is a user who launched the application.
type visit struct {
	user    launch.Myself
	session *launch.Session
	token   string // proof that a form came from a page of ours
}

// App is the application.
type App struct {
	client   *launch.Client
	portal   string // where users sign in and launch
	log      *slog.Logger
	now      func() time.Time
	pages    *template.Template
	sessions *shelf
	pending  *shelf
}

// New makes the application of a client.
func New(client *launch.Client, log *slog.Logger, now func() time.Time) (*App, error) {
	pages, err := template.ParseFS(assets, "asset/*.html")
	if err != nil {
		return nil, err
	}
	return &App{
		client: client, portal: client.Base + "/account", log: log, now: now, pages: pages,
		sessions: newShelf(sessionLife, mostEntries, now), pending: newShelf(pendingLife, mostEntries, now),
	}, nil
}

// Handler serves the application.
func (a *App) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.home)
	mux.HandleFunc("GET /auth", a.auth)
	mux.HandleFunc("GET /continue", a.ask)
	mux.HandleFunc("POST /continue", a.decide)
	mux.HandleFunc("POST /logout", a.logout)
	mux.HandleFunc("GET /style.css", func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, assets, "asset/style.css") })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
		h.Set("Referrer-Policy", "no-referrer") // the address of /auth is worth a session for a minute
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
		r.Body = http.MaxBytesReader(w, r.Body, 1<<16)
		mux.ServeHTTP(w, r)
	})
}

// auth is where the portal sends the browser. The code is spent at once, since it lives for a minute only; whose session
// the browser has from then on is another question when somebody else is signed in already.
func (a *App) auth(w http.ResponseWriter, r *http.Request) {
	opened, err := a.client.Open(r.URL.Query().Get("lpl"), a.now())
	if err != nil {
		a.fail(w, r, http.StatusBadRequest, "This launch cannot be opened, or its time is over. Launch the application again.", nil)
		return
	}
	tokens, err := a.client.Exchange(r.Context(), opened)
	if errors.Is(err, launch.ErrRefused) {
		a.fail(w, r, http.StatusBadRequest, "This launch was used before, or its time is over. Launch the application again.", nil)
		return
	}
	if err != nil {
		a.fail(w, r, http.StatusBadGateway, "The platform cannot be reached just now. Launch the application again in a moment.", err)
		return
	}
	fresh := &visit{session: a.client.Session(tokens), token: rand.Text()}
	if fresh.user, err = a.client.Myself(r.Context(), fresh.session); err != nil {
		a.fail(w, r, http.StatusBadGateway, "The platform cannot be reached just now. Launch the application again in a moment.", err)
		return
	}
	if here := a.here(r); here != nil && here.user.ID != fresh.user.ID {
		if before := a.pending.take(cookie(r, pendingCookie)); before != nil {
			a.end(r, before)
		}
		setCookie(w, pendingCookie, a.pending.put(fresh), pendingLife)
		http.Redirect(w, r, "/continue", http.StatusSeeOther)
		return
	}
	a.enter(w, r, fresh)
}

// enter makes the visit the browser's session, under a new cookie, and ends the one before it.
func (a *App) enter(w http.ResponseWriter, r *http.Request, fresh *visit) {
	if before := a.sessions.take(cookie(r, sessionCookie)); before != nil {
		a.end(r, before)
	}
	setCookie(w, sessionCookie, a.sessions.put(fresh), sessionLife)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// ask asks whether a launch may take another user's place.
func (a *App) ask(w http.ResponseWriter, r *http.Request) {
	here, coming := a.here(r), a.pending.get(cookie(r, pendingCookie))
	if coming == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	question := map[string]any{"Coming": coming.user, "Token": coming.token}
	if here != nil {
		question["Here"] = here.user
	}
	a.show(w, r, http.StatusOK, "continue.html", question)
}

// decide does what was answered. Only a form that we showed this browser counts.
func (a *App) decide(w http.ResponseWriter, r *http.Request) {
	id := cookie(r, pendingCookie)
	coming := a.pending.get(id)
	if coming == nil || !same(r.PostFormValue("token"), coming.token) {
		a.fail(w, r, http.StatusForbidden, "This form is too old. Launch the application again.", nil)
		return
	}
	if a.pending.take(id) == nil { // sent twice
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	setCookie(w, pendingCookie, "", -1)
	if r.PostFormValue("decision") == "continue" {
		a.enter(w, r, coming)
		return
	}
	a.end(r, coming)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

func (a *App) logout(w http.ResponseWriter, r *http.Request) {
	here := a.here(r)
	if here == nil || !same(r.PostFormValue("token"), here.token) {
		a.fail(w, r, http.StatusForbidden, "This form is too old. Go back to the first page.", nil)
		return
	}
	a.sessions.take(cookie(r, sessionCookie))
	setCookie(w, sessionCookie, "", -1)
	a.end(r, here)
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// end signs out at the platform. Where that fails the tokens are forgotten here all the same, and expire there.
func (a *App) end(r *http.Request, v *visit) {
	if err := a.client.Logout(r.Context(), v.session); err != nil {
		a.log.WarnContext(r.Context(), "not signed out at the platform", "error", err.Error())
	}
}

type patient struct {
	ID        int64  `json:"id"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
	DOB       string `json:"dob"`
}

func (a *App) home(w http.ResponseWriter, r *http.Request) {
	here := a.here(r)
	if here == nil {
		a.show(w, r, http.StatusOK, "welcome.html", map[string]any{"Portal": a.portal})
		return
	}
	var list struct {
		Content       []patient `json:"content"`
		TotalElements int64     `json:"totalElements"`
	}
	query := url.Values{"size": {strconv.Itoa(patients)}}
	err := a.client.Get(r.Context(), here.session, "/v3/patient", query, &list)
	var said *launch.StatusError
	switch {
	case errors.Is(err, launch.ErrSignedOut):
		a.sessions.take(cookie(r, sessionCookie))
		setCookie(w, sessionCookie, "", -1)
		a.fail(w, r, http.StatusUnauthorized, "Your session has ended. Launch the application again.", nil)
		return
	case err != nil && (!errors.As(err, &said) || said.Code != http.StatusForbidden):
		a.fail(w, r, http.StatusBadGateway, "The platform cannot be reached just now.", err)
		return
	}
	a.show(w, r, http.StatusOK, "home.html", map[string]any{
		"User": here.user, "Token": here.token, "Patients": list.Content, "Total": list.TotalElements, "Forbidden": said != nil,
	})
}

// here is who the browser is signed in as; nil when nobody is.
func (a *App) here(r *http.Request) *visit { return a.sessions.get(cookie(r, sessionCookie)) }
